"""Notes of progress do not end what they tell of."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from retrieval.collections import filter_steps
from retrieval.management.progress import record_job_progress
from retrieval.models import Collection, Job
from tests import factories


def written_by_another() -> None:
    """As another process does: over a connection of its own."""

    def write() -> None:
        Collection.objects.update(source="elsewhere")
        connection.close()

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()


@pytest.fixture
def job(transactional_db: None) -> Job:
    return factories.import_job()


def test_a_note_beside_an_open_statement_is_left_out_where_it_can_not_be(job: Job) -> None:
    """On SQLite it raised `database is locked`, and the export had failed."""
    rows = factories.snippets().members.iterator(chunk_size=1)
    next(rows)
    written_by_another()
    record_job_progress(job, message="too late")
    assert len(list(rows)) == factories.snippets().size - 1


def test_members_are_read_so_that_all_can_be_written(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting all of a large collection failed as soon as the server renewed its lease."""
    monkeypatch.setattr(filter_steps, "READ_AT_ONCE", 2)
    found = []
    for member in filter_steps.iterate_members(factories.snippets()):
        written_by_another()
        Job.objects.filter(pk=job.pk).update(message="going on")
        found.append(member.position)
    assert found == list(range(factories.snippets().size))
