"""Cases that are run again from a stage: everything before it is taken over, nothing of it is asked again."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from annotation.builds.control.spending_caps import CapRefused
from annotation.builds.launch.launcher import launch_build
from annotation.builds.launch.order import LaunchRefused, Order
from annotation.builds.pipeline.advance import Tools
from annotation.builds.pipeline.execution import SandboxProvider
from annotation.builds.results.build_comparison import compare_two_builds
from annotation.derived.derivation import Decision
from annotation.derived.rerun import case_takeover, launch
from annotation.derived.rerun.launch import Again
from annotation.jobs import worker
from annotation.llm import Request
from annotation.models import Build, BuildEvent, Canary, Case, Execution, LLMCall, Price, Step, Tally
from annotation.stages import Stage
from retrieval.models import Label
from tests import factories
from tests.annotation.builds.pipeline.test_advance import NO, UNCLEAR, WRITTEN, YES
from tests.annotation.jobs.test_worker import ALL, in_process  # noqa: F401  (a fixture)
from tests.fakes import FakeLLM, FakeSandbox

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("in_process")]


class Agents:
    """A model that answers each agent in its own way, and a sandbox; both with a log."""

    def __init__(self, **replies: dict[str, Any]) -> None:
        usual: dict[str, dict[str, Any]] = {"screener": UNCLEAR, "test_writer": WRITTEN, "arbiter": YES}
        self.replies = usual | replies
        self.llm = FakeLLM(self.answer)
        self.sandbox = FakeSandbox()
        self.tools = Tools(llm_of=lambda build: self.llm, sandbox=SandboxProvider(lambda: self.sandbox))

    def answer(self, request: Request) -> dict[str, Any]:
        return self.replies[request.agent]

    def asked(self) -> Counter[str]:
        return Counter(call.agent for call in self.llm.calls)

    def work(self) -> None:
        worker.until_idle(ALL, self.tools)


def finished(work: Agents | None = None, **changes: Any) -> Build:
    """Six pairs, all of them tested and found to match; `work` otherwise, if need be."""
    if not Price.objects.exists():
        Price.objects.create(model="any", effective_from=timezone.now(), input=1, output=1)
    plain: dict[str, Any] = {**factories.PLAIN, "reader": False, "neighbour": False}
    order = Order("old", factories.queries(), factories.snippets(), ("bow",), k=2, **plain)
    build = launch_build(replace(order, **changes))
    (work or Agents()).work()
    build.refresh_from_db()
    assert build.state == Build.State.DONE
    return build


def everything(build: Build) -> list[Any]:
    """All that is stored of a build, to see whether it has changed."""
    tables = Build.objects.filter(pk=build.pk), Tally.objects.filter(pk=build.pk)
    steps = Step.objects.filter(case__build=build).order_by("pk")
    rows = [*tables, Case.objects.filter(build=build).order_by("pk"), steps, build.events.all()]
    return [list(some.values()) for some in rows]


def again(build: Build, stage: Stage, **changes: Any) -> Build:
    plan = launch.plan_rerun(build, build.cases.all(), Again(f"again {stage}", stage, **changes))
    return plan.launch(Decision(factories.ada(), "to see"))


def recounted(build: Build) -> None:
    """The totals are what the rows say, also of what was taken over."""
    tally, cases = Tally.objects.get(build=build), list(Case.objects.filter(build=build))
    events = Counter(Step.objects.filter(case__build=build).values_list("event", flat=True))
    assert tally.settled == sum(case.stage == Stage.SETTLED for case in cases) == tally.total
    assert tally.matches == sum(case.label == 1 for case in cases)
    assert (tally.unclear, tally.written) == (events["unclear"], events["written"])
    assert tally.programs == tally.ran == events["executed"]
    assert tally.test_cases == 6
    assert tally.spent == sum(LLMCall.objects.filter(build=build).values_list("cost", flat=True))
    for case in cases:
        numbers = list(case.steps.order_by("number").values_list("number", flat=True))
        assert numbers == list(range(1, case.step_count + 1))


def test_from_arbitrating_neither_screener_nor_writer_nor_sandbox_is_called() -> None:
    old = finished()
    before = everything(old)
    build = again(old, Stage.ARBITRATING)
    agents = Agents(arbiter=NO)
    agents.work()
    build.refresh_from_db()
    assert build.state == Build.State.DONE
    assert agents.asked() == {"arbiter": 6}
    assert not agents.sandbox.runs
    assert everything(old) == before
    assert build.mining == old.mining
    assert Label.objects.filter(annotator=old.annotator, value=1).count() == 6
    assert Label.objects.filter(annotator=build.annotator, value=0).count() == 6
    recounted(build)
    assert Tally.objects.get(build=build).reused == 12
    found = compare_two_builds(Build.objects.get(pk=old.pk), Build.objects.get(pk=build.pk))
    assert (found.pairs, found.flips) == (6, 6)


def test_the_evidence_is_complete_and_says_when_each_step_was_made() -> None:
    old = finished()
    build = again(old, Stage.ARBITRATING)
    Agents(arbiter=NO).work()
    new = Case.objects.filter(build=build).first()
    assert new is not None
    source = case_takeover.origin_of_case(new)
    assert source is not None
    assert source.build == old
    columns = "number", "before", "event", "after", "note", "call", "program", "execution", "at"
    steps = [list(case.steps.order_by("number").values_list(*columns)) for case in (source, new)]
    assert steps[0][:3] == steps[1][:3]
    assert [step[2] for step in steps[1]] == ["unclear", "written", "executed", "denied"]
    assert (new.program_id, new.execution_id) == (source.program_id, source.execution_id)
    assert set(new.steps.filter(number__lt=4).values_list("seconds", flat=True)) == {None}


def test_the_annotator_is_another_version_that_says_whose_work_it_takes_over() -> None:
    old = finished()
    build = again(old, Stage.ARBITRATING)
    config = build.annotator.config
    assert config["again_from"] == "arbitrating"
    assert config["again_of"] == old.annotator.version
    assert config["salt"] == "again arbitrating"  # nothing differs, so the old replies would come back
    event = BuildEvent.objects.get(build=build, event="runs again")
    assert event.user == factories.ada()
    assert "6 cases of “old” from arbitrating on" in event.note
    assert event.note.endswith(": to see")


@pytest.mark.parametrize(
    ("changes", "calls"),
    [({"fresh": False}, 0), ({"fresh": True}, 6), ({"model": "another"}, 6), ({}, 6)],
)
def test_what_was_answered_is_asked_anew_where_nothing_else_is_new(
    changes: dict[str, Any], calls: int
) -> None:
    build = again(finished(), Stage.ARBITRATING, **changes)
    assert bool(build.annotator.config["salt"]) is (changes in ({}, {"fresh": True}))
    agents = Agents(arbiter=NO)
    agents.work()
    assert agents.asked()["arbiter"] == calls
    assert Tally.objects.get(build=build).matches == (0 if calls else 6)


@pytest.mark.parametrize(
    ("stage", "asked", "runs"),
    [
        (Stage.SCREENING, {"screener": 6, "test_writer": 6, "arbiter": 6}, 0),
        (Stage.WRITING_TEST, {"test_writer": 6, "arbiter": 6}, 0),
        (Stage.EXECUTING, {"arbiter": 6}, 3),
    ],
)
def test_what_comes_after_the_stage_is_done_anew(stage: Stage, asked: dict[str, int], runs: int) -> None:
    build = again(finished(), stage)
    agents = Agents(arbiter=NO)
    agents.work()
    assert agents.asked() == asked
    # Three snippets: one execution each. A program that is written again to the letter has its report.
    assert len(agents.sandbox.runs) == runs
    assert Execution.objects.count() == 3 + runs
    recounted(build)


def test_only_cases_that_came_so_far_begin_there() -> None:
    old = factories.opened()
    cases = factories.cases(old)
    factories.settled(cases[0], 1)
    factories.examined(cases[1], 0)
    factories.abandoned(cases[2])
    counts = {}
    for stage in case_takeover.ENTERED_BY:
        counts[stage] = case_takeover.filter_rerunnable_cases(old.cases.all(), stage).count()
    assert counts == {
        Stage.SCREENING: 9,
        Stage.READING: 0,
        Stage.WRITING_TEST: 1,
        Stage.EXECUTING: 1,
        Stage.ARBITRATING: 1,
        Stage.TIE_BREAKING: 0,
    }
    assert (
        case_takeover.filter_rerunnable_cases(old.cases.all(), Stage.READING, spot_check=True).count() == 0
    )  # it has no reader
    plan = launch.plan_rerun(old, old.cases.all(), Again("new", Stage.ARBITRATING))
    assert (plan.chosen, plan.able) == (9, 1)
    with pytest.raises(LaunchRefused, match="got as far as arbitrating"):
        launch.plan_rerun(old, old.cases.filter(pk=cases[0].pk), Again("new", Stage.ARBITRATING))
    with pytest.raises(LaunchRefused, match="begin at"):
        launch.plan_rerun(old, old.cases.all(), Again("new", Stage.FIXING))


def test_an_abandoned_case_can_be_taken_up_where_it_was_left() -> None:
    old = factories.opened()
    case = factories.cases(old)[0]
    factories.examined(case, 1)
    second = factories.cases(old)[1]
    factories.examined(second, 1)
    given_up = Case.objects.get(pk=second.pk)
    Case.objects.filter(pk=given_up.pk).update(
        stage=Stage.ABANDONED, left_stage=Stage.ARBITRATING, label=None
    )
    build = again(old, Stage.ARBITRATING)
    assert build.rerun.cases.count() == 2


def test_the_price_is_of_the_stages_that_are_asked_alone() -> None:
    old = finished()
    costs = {}
    for stage in (Stage.SCREENING, Stage.WRITING_TEST, Stage.ARBITRATING):
        found = launch.plan_rerun(old, old.cases.all(), Again("new", stage)).estimate()
        costs[stage] = {one.stage: one.calls.expected for one in found.stages}
        assert found.cost is not None
        assert found.cost.low <= found.cost.expected <= found.cost.high
    assert costs[Stage.ARBITRATING]["screening"] == costs[Stage.ARBITRATING]["writing_test"] == 0
    assert costs[Stage.ARBITRATING]["arbitrating"] >= 6
    assert costs[Stage.WRITING_TEST]["writing_test"] >= 6
    assert costs[Stage.SCREENING]["screening"] >= 6


def test_a_bad_order_is_refused_before_anything_is_made() -> None:
    old, because = finished(), Decision(reason="because")
    with pytest.raises(LaunchRefused, match="called 'old' already"):
        launch.plan_rerun(old, old.cases.all(), Again("old", Stage.SCREENING)).launch(because)
    with pytest.raises(CapRefused, match="Say why"):
        launch.plan_rerun(old, old.cases.all(), Again("new", Stage.SCREENING)).launch()
    with pytest.raises(LaunchRefused, match="holds no more"):
        launch.plan_rerun(old, old.cases.all(), Again("new", Stage.SCREENING)).launch(
            replace(because, word="made up")
        )
    assert Build.objects.count() == 1


def test_a_confirmed_price_holds_for_these_cases_alone() -> None:
    old, wish = finished(), Again("new", Stage.ARBITRATING)
    found = launch.plan_rerun(old, old.cases.all(), wish)
    seen = Decision(reason="so", word=found.quote().word)
    with pytest.raises(LaunchRefused, match="changed"):
        launch.plan_rerun(old, old.cases.filter(rank=1), wish).launch(seen)
    build = found.launch(seen)
    assert "confirmed by nobody" not in build.events.get(event="runs again").note


def test_a_large_live_build_begins_with_its_canary_also_where_it_runs_again(settings: Any) -> None:
    settings.CANARY_ABOVE, settings.CANARY_CASES = 2, 2
    build = again(finished(), Stage.ARBITRATING)
    Canary.objects.create(build=build, seed=1)
    assert worker.open_cases(Build.objects.get(pk=build.pk)) == 2
    assert Tally.objects.get(build=build).arbitrating == 2
    Canary.objects.update(decided_at=timezone.now())
    assert worker.open_rest(Build.objects.get(pk=build.pk)) == 4
    assert Tally.objects.get(build=build).arbitrating == 6
