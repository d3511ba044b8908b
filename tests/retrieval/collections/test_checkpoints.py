"""SQLite copies its log more rarely while much is stored, and as before when that is over."""

from __future__ import annotations

import pytest
from django.db import connection

from retrieval.collections.checkpoints import PAGES, checkpoint_rarely
from retrieval.collections.import_report import ImportCounts, Options
from retrieval.collections.importer import import_items
from retrieval.sources import Query

pytestmark = pytest.mark.django_db


def pages() -> int:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_autocheckpoint")
        return int(cursor.fetchone()[0])


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite's own setting")
def test_an_import_checkpoints_rarely_and_others_as_before() -> None:
    before, seen = pages(), list[int]()

    def tick(counts: ImportCounts) -> None:
        seen.append(pages())

    import_items([Query("sort a list", "q1")], "here", "asked", Options(tick=tick))
    assert seen == [PAGES]
    assert pages() == before != PAGES


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite's own setting")
def test_what_fails_leaves_checkpoints_as_they_were() -> None:
    before = pages()
    with pytest.raises(ValueError, match="no"), checkpoint_rarely():
        raise ValueError("no")
    assert pages() == before
