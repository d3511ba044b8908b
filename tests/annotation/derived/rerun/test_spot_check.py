"""Pairs that the screener found clear, read and tested all the same: what comes of it and what is told."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.builds.launch.launcher import launch_build
from annotation.builds.launch.order import LaunchRefused, Order
from annotation.derived.derivation import Decision
from annotation.derived.rerun import launch
from annotation.derived.rerun.launch import Again
from annotation.models import Build, Case, Rerun, Step, Tally
from annotation.pins import reply_check
from annotation.stages import Event, Stage
from annotation.web.builds.spot_checks import spot_checks_of
from tests import factories
from tests.annotation.builds.pipeline.test_advance import NO, WRITTEN, YES
from tests.annotation.builds.pipeline.test_verdicts import MATCH as ALL_OF_IT
from tests.annotation.builds.pipeline.test_verdicts import NO_MATCH as LITTLE
from tests.annotation.derived.rerun.test_doing import Agents, again
from tests.annotation.jobs.test_worker import in_process  # noqa: F401  (a fixture)

MATCH = {"verdict": 1, "explanation": "plainly so"}

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("in_process")]


def clear_build(**changes: object) -> Build:
    """Six pairs that the screener called matches."""
    design = {**factories.PLAIN, "reader": True, "neighbour": False, **changes}
    build = launch_build(Order("old", factories.queries(), factories.snippets(), ("bow",), k=2, **design))  # type: ignore[arg-type]
    Agents(screener=MATCH).work()
    build.refresh_from_db()
    assert (build.state, build.tally.cleared) == (Build.State.DONE, 6)
    return build


def checked(build: Build, agents: Agents, **changes: object) -> Build:
    made = again(build, Stage.READING, spot_check=True, **changes)
    agents.work()
    made.refresh_from_db()
    return made


def denying() -> Agents:
    return Agents(single_llm=LITTLE, test_writer=WRITTEN, arbiter=NO)


def test_clear_pairs_are_read_and_tested_and_the_screener_is_not_asked_again() -> None:
    old, agents = clear_build(), denying()
    made = checked(old, agents)
    assert made.state == Build.State.DONE
    assert agents.asked() == {"single_llm": 6, "test_writer": 6, "arbiter": 6}
    assert set(old.cases.values_list("label", flat=True)) == {1}
    assert set(made.cases.values_list("label", "basis")) == {(0, "agreed")}
    first = Step.objects.filter(case__build=made, number=1)
    assert set(first.values_list("event", "before", "after")) == {
        (Event.SPOT_CHECK, Stage.SCREENING, Stage.READING)
    }
    theirs = Step.objects.filter(case__build=old, number=1)
    assert set(first.values_list("call", "note")) == set(theirs.values_list("call", "note"))


def test_the_totals_count_them_as_tested_and_a_pin_reads_their_replies_again() -> None:
    made = checked(clear_build(), denying())
    tally = Tally.objects.get(build=made)
    assert (tally.cleared, tally.unclear, tally.read, tally.settled) == (0, 6, 6, 6)
    assert not reply_check.read_again([made], reply_check.labels_of_build).differ


def test_a_sample_is_drawn_by_its_seed() -> None:
    old = clear_build()
    wish = Again("new", Stage.READING, spot_check=True, sample=2, seed=5)
    assert launch.select_rerun_cases(old, old.cases.all(), wish) == launch.select_rerun_cases(
        old, old.cases.all(), wish
    )
    found = launch.plan_rerun(old, old.cases.all(), wish)
    assert (found.chosen, found.pool, found.able, found.order.fresh) == (6, 6, 2, False)
    made = checked(old, denying(), sample=2)
    assert made.cases.count() == 2


def test_without_a_reader_or_without_clear_pairs_there_is_none() -> None:
    wish = Again("new", Stage.READING, spot_check=True)
    old = clear_build()
    tested = checked(old, denying())
    with pytest.raises(LaunchRefused, match="decided none of these cases"):
        launch.plan_rerun(tested, tested.cases.all(), wish)
    with pytest.raises(LaunchRefused, match="begins at reading"):
        launch.plan_rerun(old, old.cases.all(), Again("new", Stage.WRITING_TEST, spot_check=True))
    Build.objects.filter(pk=old.pk).update(name="before")
    plain = clear_build(reader=False)
    with pytest.raises(LaunchRefused, match="agents of this build have none"):
        launch.plan_rerun(plain, plain.cases.all(), wish)


def test_the_page_says_how_often_the_screener_erred(ada: Client) -> None:
    old = clear_build()
    before = spot_checks_of(old)
    assert before is not None
    assert (before["clear"], before["verdicts"], before["builds"]) == (6, [], ())
    checked(old, denying(), sample=2)
    found = spot_checks_of(old)
    assert found is not None
    (verdict,) = found["verdicts"]
    assert (verdict.said, verdict.tested, verdict.changed) == ("match", 2, 2)
    assert verdict.interval == pytest.approx((0.158, 1), abs=0.001)  # 0.025 ** (1 / 2)
    page = ada.get(reverse("build", args=[old.pk])).content.decode()
    assert "2 came out differently" in page
    assert "15.8 % to 100.0 %" in page
    form = ada.get(
        reverse("build-again", args=[old.pk]), {"from": "reading", "spot_check": "on", "sample": "3"}
    )
    assert "drawn at random from 6" in form.content.decode()


def test_verdicts_that_hold_are_told_as_such(ada: Client) -> None:
    old = clear_build()
    checked(old, Agents(single_llm=ALL_OF_IT, test_writer=WRITTEN, arbiter=YES))
    assert "none came out differently" in ada.get(reverse("build", args=[old.pk])).content.decode()


def test_the_command_makes_a_spot_check(capsys: pytest.CaptureFixture[str]) -> None:
    clear_build()
    call_command("again", "old", "--spot-check", "--sample", "2", "--reason", "how often does it err?")
    assert "2 of 6 cases from reading on" in capsys.readouterr().out
    rerun = Rerun.objects.get()
    assert (rerun.spot_check, rerun.cases.count()) == (True, 2)
    with pytest.raises(CommandError, match="--from says"):
        call_command("again", "old", "--reason", "no stage")
    with pytest.raises(CommandError, match="a whole number from 1 on"):
        call_command("again", "old", "--spot-check", "--sample", "0", "--reason", "nothing")


def test_disputed_pairs_run_again_from_reader_or_tie_breaker() -> None:
    old = clear_build()
    disputed = checked(old, Agents(single_llm=ALL_OF_IT, test_writer=WRITTEN, arbiter=NO, tie_breaker=NO))
    assert set(disputed.cases.values_list("basis", flat=True)) == {"disputed"}
    ties = Agents(tie_breaker=YES)
    plan = launch.plan_rerun(disputed, disputed.cases.all(), Again("ties", Stage.TIE_BREAKING))
    made = plan.launch(Decision(factories.ada(), "to see"))
    ties.work()
    assert set(ties.asked()) <= {"tie_breaker"}
    assert Case.objects.filter(build=made, stage=Stage.SETTLED).count() == 6
    with pytest.raises(LaunchRefused, match="None of these cases got as far as reading"):
        launch.plan_rerun(old, old.cases.all(), Again("new", Stage.READING))
