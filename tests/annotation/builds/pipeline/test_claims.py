"""Claims: a handful each, never the same case twice, and nothing lost with a dead worker."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from annotation.builds.pipeline import claims
from annotation.models import Build, Case
from tests import factories


@pytest.mark.django_db
def test_a_claimed_case_is_nobody_elses() -> None:
    factories.opened()
    first, second = claims.claim_cases("llm", 4), claims.claim_cases("llm", 100)
    assert len(first) == 4
    assert not {c.pk for c in first} & {c.pk for c in second}
    assert len(first) + len(second) == Case.objects.count()


@pytest.mark.django_db
@pytest.mark.parametrize("state", [s for s in Build.State if s != Build.State.RUNNING])
def test_only_running_builds_give_work(state: Build.State) -> None:
    factories.opened(state=state)
    assert claims.claim_cases("llm", 4) == []


@pytest.mark.django_db
def test_a_case_that_is_not_due_waits() -> None:
    build = factories.opened()
    Case.objects.filter(build=build).update(next_attempt_at=timezone.now() + timedelta(minutes=1))
    assert claims.claim_cases("llm", 4) == []


@pytest.mark.django_db
def test_the_lease_of_a_dead_worker_runs_out_and_fences_it() -> None:
    from annotation.models import LostRace
    from annotation.stages import Event

    factories.opened()
    dead = claims.claim_cases("llm", 1)[0]
    assert claims.expire_leases(timezone.now() + claims.LEASE + timedelta(seconds=1)) == 1
    alive = claims.claim_cases("llm", 1)[0]
    assert alive.pk == dead.pk
    with pytest.raises(LostRace):
        dead.move(Event.UNCLEAR)
    alive.move(Event.UNCLEAR)


@pytest.mark.django_db(transaction=True)
def test_many_threads_share_the_cases_without_overlap() -> None:
    build = factories.opened()
    taken: list[int] = []

    def work() -> None:
        while cases := claims.claim_cases("llm", 2):
            taken.extend(case.pk for case in cases)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == sorted(Case.objects.filter(build=build).values_list("pk", flat=True))
