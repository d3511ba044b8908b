"""Steering a build: who may stop it and let it go on, and what a retry sends back."""

from __future__ import annotations

import pytest

from annotation.launching import Order, launch
from annotation.models import Build, BuildEvent, Tally
from annotation.stages import Stage
from annotation.steering import Action, ControlRefused, abandoned_reasons, control
from tests import factories

pytestmark = pytest.mark.django_db


def order() -> Order:
    return Order(
        name="new", queries=factories.queries(), snippets=factories.snippets(), encoders=("bm25", "bow"), k=3
    )


def test_pause_resume_and_cancel() -> None:
    build = launch(order())
    for action, state in [
        (Action.PAUSE, Build.State.PAUSED),
        (Action.RESUME, Build.State.RUNNING),
        (Action.CANCEL, Build.State.CANCELLED),
    ]:
        control(build, action, factories.ada(), "because")
        build.refresh_from_db()
        assert build.state == state
    with pytest.raises(ControlRefused, match="be resumed now"):
        control(build, Action.RESUME)
    assert BuildEvent.objects.filter(build=build, note="because").count() == 3


def test_retry_sends_abandoned_cases_back_to_the_stage_that_they_left() -> None:
    build = factories.opened()
    case = factories.abandoned(factories.cases(build)[0], "no sandbox")
    Build.objects.filter(pk=build.pk).update(state=Build.State.DONE)
    assert abandoned_reasons(build) == [("no sandbox", 1)]
    assert control(build, Action.RETRY) == 1
    case.refresh_from_db()
    build.refresh_from_db()
    assert (case.stage, case.reason, build.state) == (Stage.SCREENING, "", Build.State.RUNNING)
    assert Tally.objects.get(build=build).abandoned == 0
