"""Minings and imports in child processes: taken up, also after a death, and left where nobody wants them."""

from __future__ import annotations

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from annotation.builds.control.pause_resume import Action, control_build
from annotation.jobs import subprocesses
from retrieval.jobs import LEASE
from retrieval.models import Collection, Job, Mining, MiningPart
from tests import factories
from tests.annotation.jobs.test_worker import in_process, small_build  # noqa: F401  (a fixture)


@pytest.mark.django_db
def test_a_mining_that_a_dead_worker_left_is_taken_up_again(in_process: None) -> None:  # noqa: F811
    build = small_build()
    Mining.objects.filter(pk=build.own_mining.pk).update(
        state=Mining.State.RUNNING, lease_until=timezone.now() - LEASE
    )
    assert subprocesses.mine_one() == 1
    assert Mining.objects.get(pk=build.own_mining.pk).state == Mining.State.DONE


@pytest.mark.django_db
def test_a_mining_at_which_another_works_is_joined_while_it_has_parts_left(in_process: None) -> None:  # noqa: F811
    build, later = small_build(), timezone.now() + LEASE
    Mining.objects.filter(pk=build.own_mining.pk).update(state=Mining.State.RUNNING, lease_until=later)
    assert subprocesses.mine_one() == 0
    part = MiningPart.objects.create(
        mining=build.own_mining, number=1, start=0, stop=3, worker="other", lease_until=later
    )
    assert subprocesses.mine_one() == 0
    MiningPart.objects.filter(pk=part.pk).update(lease_until=timezone.now() - LEASE)
    assert subprocesses.mine_one() == 1
    assert Mining.objects.get(pk=build.own_mining.pk).state == Mining.State.DONE


@pytest.mark.django_db
def test_a_stopped_worker_leaves_its_part_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    build = small_build()
    taken: list[str] = []

    def stopped(command: list[str], still_wanted: object) -> int:
        taken.append(command[-1].removeprefix("--worker="))
        MiningPart.objects.create(mining=build.own_mining, number=1, start=0, stop=3, worker=taken[-1])
        return -15

    monkeypatch.setattr(subprocesses, "run_child_command", stopped)
    assert subprocesses.mine_one() == 1
    assert MiningPart.objects.get().worker == ""
    assert Mining.objects.get(pk=build.own_mining.pk).state == Mining.State.WAITING


@pytest.mark.django_db
def test_a_cancelled_builds_mining_is_left_alone() -> None:
    build = small_build()
    control_build(build, Action.CANCEL)
    assert subprocesses.mine_one() == 0


@pytest.mark.django_db
def test_an_upload_is_imported_and_its_problems_are_kept(in_process: None, settings: object) -> None:  # noqa: F811
    file = ContentFile(b'[{"doc": "sort a list"}, {"wrong": 1}]', name="up.json")
    job = factories.import_job(name="up", file=file)
    assert subprocesses.perform_one_job(Job.Kind.IMPORT) == 1
    job.refresh_from_db()
    assert job.state == "partial" and "record 2" in job.result.pop("problems")[0]
    told = {"read": 2, "stored": 1, "unreadable": 1, "ids": ["queries: ids read from row numbers"]}
    assert job.result == told
    assert Collection.objects.get(name="up").size == 1
