"""Steering a build: who may stop it and let it go on, and what a retry sends back."""

from __future__ import annotations

import pytest

from annotation.builds.control import pause_resume
from annotation.builds.control.pause_resume import Action, ControlRefused, abandoned_reasons, control_build
from annotation.builds.launch.launcher import launch_build
from annotation.builds.launch.order import Order
from annotation.derived.missing_functions import launch
from annotation.models import Build, BuildEvent, Case, Proposal, Tally
from annotation.stages import Stage
from tests import factories, filling

pytestmark = pytest.mark.django_db


def order() -> Order:
    return Order(
        name="new", queries=factories.queries(), snippets=factories.snippets(), encoders=("bm25", "bow"), k=3
    )


def test_pause_resume_and_cancel() -> None:
    build = launch_build(order())
    for action, state in [
        (Action.PAUSE, Build.State.PAUSED),
        (Action.RESUME, Build.State.RUNNING),
        (Action.CANCEL, Build.State.CANCELLED),
    ]:
        control_build(build, action, factories.ada(), "because")
        build.refresh_from_db()
        assert build.state == state
    with pytest.raises(ControlRefused, match="be resumed now"):
        control_build(build, Action.RESUME)
    assert BuildEvent.objects.filter(build=build, note="because").count() == 3


def test_retry_sends_abandoned_cases_back_to_the_stage_that_they_left() -> None:
    build = factories.opened()
    case = factories.abandoned(factories.cases(build)[0], "no sandbox")
    Build.objects.filter(pk=build.pk).update(state=Build.State.DONE)
    assert abandoned_reasons(build) == [("no sandbox", 1)]
    assert control_build(build, Action.RETRY) == 1
    case.refresh_from_db()
    build.refresh_from_db()
    assert (case.stage, case.reason, build.state) == (Stage.SCREENING, "", Build.State.RUNNING)
    assert Tally.objects.get(build=build).abandoned == 0


class Killed(BaseException):
    """What a dying process sees."""


def killed(*_: object) -> None:
    raise Killed


def ended_with_abandoned(count: int) -> Build:
    build = factories.opened()
    for case in factories.cases(build)[:count]:
        factories.abandoned(case)
    for case in factories.cases(build)[count:]:
        factories.settled(case, 0)
    Build.objects.filter(pk=build.pk).update(state=Build.State.DONE)
    return build


def how_it_stands(build: Build) -> tuple[str, int, int]:
    """The state of the build, its open cases and its abandoned ones."""
    tally = Tally.objects.get(build=build)
    assert tally.abandoned == Case.objects.filter(build=build, stage=Stage.ABANDONED).count()
    return Build.objects.get(pk=build.pk).state, tally.open, tally.abandoned


def test_a_kill_before_the_build_is_open_again_sends_nothing_back(monkeypatch: pytest.MonkeyPatch) -> None:
    build = ended_with_abandoned(5)
    monkeypatch.setattr(pause_resume, "reopen_build", killed)
    with pytest.raises(Killed):
        control_build(build, Action.RETRY)
    assert how_it_stands(build) == (Build.State.DONE, 0, 5)
    monkeypatch.undo()
    assert control_build(build, Action.RETRY) == 5
    assert how_it_stands(build) == (Build.State.RUNNING, 5, 0)


def test_a_kill_between_two_portions_leaves_an_open_build_with_work_and_the_others_abandoned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    build = ended_with_abandoned(5)
    monkeypatch.setattr(pause_resume, "AT_ONCE", 2)
    whole, portions = pause_resume.retry_some, list[int]()

    def retry_some(build: Build, cases: list[Case]) -> int:
        if portions:
            raise Killed
        portions.append(len(cases))
        return whole(build, cases)

    monkeypatch.setattr(pause_resume, "retry_some", retry_some)
    with pytest.raises(Killed):
        control_build(build, Action.RETRY)
    assert portions == [2] and how_it_stands(build) == (Build.State.RUNNING, 2, 3)
    monkeypatch.setattr(pause_resume, "retry_some", whole)
    assert control_build(build, Action.RETRY) == 3


def test_a_build_that_ends_between_two_portions_is_opened_again(monkeypatch: pytest.MonkeyPatch) -> None:
    build = ended_with_abandoned(5)
    monkeypatch.setattr(pause_resume, "AT_ONCE", 2)
    whole = pause_resume.retry_some

    def retry_some(build: Build, cases: list[Case]) -> int:
        Build.objects.filter(pk=build.pk).update(state=Build.State.DONE)  # workers were faster than we
        return whole(build, cases)

    monkeypatch.setattr(pause_resume, "retry_some", retry_some)
    assert control_build(build, Action.RETRY) == 5
    assert how_it_stands(build) == (Build.State.RUNNING, 5, 0)


def test_functions_are_written_again_in_an_open_build_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    job = filling.job()
    Proposal.objects.update(state="failed", failure="no function")
    Build.objects.filter(pk=job.build_id).update(state=Build.State.DONE)
    monkeypatch.setattr(launch, "reopen_build", killed)
    with pytest.raises(Killed):
        launch.write_again(job.build)
    assert Proposal.objects.writing().count() == 0
    monkeypatch.undo()
    monkeypatch.setattr(launch, "BATCH", 2)
    assert launch.write_again(job.build) == 3
    assert Build.objects.get(pk=job.build_id).state == Build.State.RUNNING
