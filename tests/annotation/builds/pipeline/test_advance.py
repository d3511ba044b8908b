"""One stage at a time: what each agent's answer and each report do to a case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from annotation.builds.pipeline.advance import TRIES, Tools, advance_case
from annotation.llm import LLMError, NoReply
from annotation.models import Build, Case, LLMCall, Step, Tally
from annotation.stages import Stage
from retrieval.models import Annotator, Label
from sandbox.reports.report import Frame, Outcome, Raised, Report, TraceStep
from sandbox.runner import SandboxUnavailable
from tests import factories
from tests.factories import a_report
from tests.fakes import FakeLLM, FakeSandbox

pytestmark = pytest.mark.django_db

Make = Callable[..., tuple[Tools, FakeLLM]]
Fresh = Callable[[Case], Case]
UNCLEAR = {"verdict": 0.5, "explanation": "depends on what is meant"}
WRITTEN = {
    "program": "def main():\n    assert reverse([1, 2]) == [2, 1]\n",
    "reading": "reverses the list",
    "helpers": [],
}
REDEFINING = WRITTEN | {"program": "def reverse(x):\n    return x[::-1]\n\nassert reverse([1]) == [1]\n"}
YES = {"verdict": 1, "explanation": "the assertion holds"}
NO = {"verdict": 0, "explanation": "the assertion fails"}


def one_case() -> Case:
    return factories.cases(factories.opened())[0]


def go(case: Case, fresh: Fresh, tools: Tools, times: int = 1) -> Case:
    for _ in range(times):
        advance_case(fresh(case), tools)
    return fresh(case)


@pytest.mark.parametrize(("verdict", "label"), [(1, 1), (0, 0)])
def test_a_clear_case_is_settled_by_the_screener_and_published(
    verdict: int, label: int, tools_with: Make, fresh: Fresh
) -> None:
    tools, llm = tools_with({"verdict": verdict, "explanation": "plain to see"})
    case = go(one_case(), fresh, tools)
    assert (case.stage, case.label) == (Stage.SETTLED, label)
    assert Label.objects.get(pair=case.pair).value == label
    assert [r.agent for r in llm.calls] == ["screener"]
    assert case.steps.get().note == "plain to see"


def test_an_unclear_case_is_decided_by_its_test(tools_with: Make, fresh: Fresh, sandbox: FakeSandbox) -> None:
    tools, llm = tools_with(UNCLEAR, WRITTEN, YES)
    case = go(one_case(), fresh, tools, 4)
    assert (case.stage, case.label) == (Stage.SETTLED, 1)
    assert [r.agent for r in llm.calls] == ["screener", "test_writer", "arbiter"]
    assert sandbox.runs[0].candidate == case.pair.snippet.text
    tally = Tally.objects.get(build=case.build)
    assert (tally.programs, tally.ran, tally.matches, tally.calls) == (1, 1, 1, 3)
    assert list(case.steps.values_list("before", "after")) == [
        ("screening", "writing_test"),
        ("writing_test", "executing"),
        ("executing", "arbitrating"),
        ("arbitrating", "settled"),
    ]


def test_the_arbiter_sees_no_screener_verdict(tools_with: Make, fresh: Fresh) -> None:
    tools, llm = tools_with(UNCLEAR | {"explanation": "a telling remark"}, WRITTEN, NO)
    go(one_case(), fresh, tools, 4)
    assert "a telling remark" not in llm.calls[-1].canonical()


def test_the_arbiter_sees_which_way_the_run_took_and_what_was_never_tested(
    tools_with: Make, fresh: Fresh
) -> None:
    step = TraceStep(2, "reverse", 0, count=7)
    box = FakeSandbox(Report(Outcome.FAILED, reached=True, trace=(step,), lines_reached=(1, 2)))
    tools, llm = tools_with(UNCLEAR, WRITTEN, NO, box=box)
    go(one_case(), fresh, tools, 4)
    asked = llm.calls[-1].messages[-1].text
    assert "candidate lines that ran, and how often:\n  1\n  2 (7)\n" in asked
    assert "never evaluated: 1\n  line 2: assert reverse([1, 2]) == [2, 1]" in asked


def test_a_program_that_redefines_the_candidate_goes_back_once_and_is_then_recorded(
    tools_with: Make, fresh: Fresh
) -> None:
    tools, llm = tools_with(UNCLEAR, REDEFINING, REDEFINING, NO)
    case = go(one_case(), fresh, tools, 2)
    assert (case.stage, case.rewrites) == (Stage.WRITING_TEST, 1)
    case = go(case, fresh, tools)
    assert case.stage == Stage.EXECUTING
    assert case.program is not None
    assert case.program.redefines
    assert llm.calls[1].digest() != llm.calls[2].digest()


NOTHING = {
    "untested": a_report(Outcome.UNTESTED, assertions=(), detail="it ended without evaluating an assertion"),
    "errored before": a_report(
        Outcome.ERRORED, assertions=(), raised=Raised("NameError", "name 'sample' is not defined", ())
    ),
}

CRASHED = a_report(
    Outcome.ERRORED,
    assertions=(),
    raised=Raised("KeyError", "'a'", (Frame("program", 2, "main", ""), Frame("candidate", 1, "reverse", ""))),
)


def one_case_with(**config: Any) -> Case:
    return factories.cases(factories.opened(annotator=factories.annotator(**config)))[0]


@pytest.mark.parametrize("what", NOTHING)
def test_a_test_that_tested_nothing_is_followed_by_an_independent_one(
    what: str, tools_with: Make, fresh: Fresh
) -> None:
    second = WRITTEN | {"program": "def main():\n    assert reverse([3]) == [3]\n"}
    tools, llm = tools_with(UNCLEAR, WRITTEN, second, YES, box=FakeSandbox(NOTHING[what], a_report()))
    case = go(one_case_with(second_test=True), fresh, tools, 3)
    assert (case.stage, case.tested_again) == (Stage.WRITING_TEST, True)

    case = go(case, fresh, tools, 3)

    assert (case.stage, case.label) == (Stage.SETTLED, 1)
    asked = llm.calls[2].canonical()
    assert "[1, 2]" not in asked
    assert ("NameError" in asked) == (what == "errored before")
    assert case.program is not None and case.program.source.text == second["program"]
    tally = Tally.objects.get(build=case.build)
    assert (tally.programs, tally.second_tests, tally.second_touched) == (2, 1, 1)


def test_there_is_no_third_test(tools_with: Make, fresh: Fresh) -> None:
    box = FakeSandbox(NOTHING["untested"], NOTHING["untested"])
    tools, _ = tools_with(UNCLEAR, WRITTEN, WRITTEN | {"reading": "again"}, NO, box=box)
    case = go(one_case_with(second_test=True), fresh, tools, 5)
    assert case.stage == Stage.ARBITRATING
    tally = Tally.objects.get(build=case.build)
    assert (tally.second_tests, tally.second_touched) == (1, 0)


@pytest.mark.parametrize(
    ("config", "report"),
    [
        ({}, NOTHING["untested"]),
        ({"second_test": True}, a_report(Outcome.FAILED)),
        ({"second_test": True}, a_report(Outcome.TIMED_OUT, assertions=())),
        ({"second_test": True}, a_report(Outcome.ERRORED)),
        ({"second_test": True}, CRASHED),
        ({"second_test": True}, a_report(Outcome.ERRORED, assertions=(), missing_module="urllib2")),
    ],
)
def test_what_another_test_would_not_mend_goes_to_the_arbiter(
    config: dict[str, Any], report: Report, tools_with: Make, fresh: Fresh
) -> None:
    tools, _ = tools_with(UNCLEAR, WRITTEN, box=FakeSandbox(report))
    case = go(one_case_with(**config), fresh, tools, 3)
    assert (case.stage, case.tested_again) == (Stage.ARBITRATING, False)


def test_as_in_the_paper_a_program_that_redefines_goes_on(tools_with: Make, fresh: Fresh) -> None:
    tools, _ = tools_with(UNCLEAR, REDEFINING)
    case = go(one_case_with(rewrites=0), fresh, tools, 2)
    assert case.stage == Stage.EXECUTING
    assert case.program is not None and case.program.redefines


@pytest.mark.parametrize("criterion", ["exact", "half"])
@pytest.mark.parametrize(("share", "labels"), [("all", (1, 1)), ("most", (0, 1)), ("little", (0, 0))])
def test_one_model_alone_decides_by_its_criterion(
    share: str, labels: tuple[int, int], criterion: str, tools_with: Make, fresh: Fresh
) -> None:
    tools, llm = tools_with({"demands": ["reverse", "in place"], "evidence": "it does so", "share": share})
    case = go(factories.cases(alone(criterion))[0], fresh, tools)

    assert case.stage == Stage.SETTLED
    assert case.label == labels[criterion == "half"]
    assert [request.agent for request in llm.calls] == ["single_llm"]
    assert "reverse; in place" in case.steps.get().note
    published = Label.objects.get(pair=case.pair)
    assert (published.value, published.scale) == (case.label, "half" if criterion == "half" else "binary")


def test_the_other_criterion_costs_nothing_more(tools_with: Make, fresh: Fresh) -> None:
    tools, llm = tools_with({"demands": ["reverse"], "evidence": "almost", "share": "most"})
    one, other = alone("exact"), alone("half")
    assert go(factories.cases(one)[0], fresh, tools).label == 0
    assert go(factories.cases(other)[0], fresh, tools).label == 1
    assert len(llm.calls) == 1
    assert Tally.objects.get(build=other).reused == 1


@pytest.mark.parametrize("broken", [{"share": "half"}, {"demands": []}, {"demands": [" "]}, {"evidence": ""}])
def test_an_answer_of_one_model_that_is_none_gives_no_label(
    broken: dict[str, Any], tools_with: Make, fresh: Fresh
) -> None:
    reply = {"demands": ["reverse"], "evidence": "it does", "share": "all", **broken}
    tools, _ = tools_with(reply, reply)
    case = go(factories.cases(alone("exact"))[0], fresh, tools)
    assert (case.stage, case.label) == (Stage.ABANDONED, None)


def alone(criterion: str) -> Build:
    annotator = Annotator.objects.version(
        Annotator.Kind.SINGLE_LLM, "single LLM", {"model": "small-model", "criterion": criterion}
    )
    return factories.opened(f"alone, {criterion}", annotator=annotator)


def test_a_reply_is_counted_as_reused_with_the_move_that_rests_on_it_and_not_before(
    tools_with: Make, fresh: Fresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, _ = tools_with(YES)
    go(one_case(), fresh, tools)
    other = factories.opened("other")
    case = factories.cases(other)[0]

    def killed(*_: object, **__: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(Case, "move", killed)
        with pytest.raises(SystemExit):
            advance_case(fresh(case), tools)
    assert Tally.objects.get(build=other).reused == 0
    go(case, fresh, tools)
    assert Tally.objects.get(build=other).reused == 1


def test_a_salt_keeps_earlier_replies_from_being_used(tools_with: Make, fresh: Fresh) -> None:
    tools, llm = tools_with(YES, NO)
    go(one_case(), fresh, tools)
    salted = factories.opened("second", annotator=factories.annotator(salt="second"))
    case = go(factories.cases(salted)[0], fresh, tools)
    assert (case.label, len(llm.calls)) == (0, 2)
    assert Tally.objects.get(build=salted).reused == 0


def test_a_bad_reply_is_repaired_once(tools_with: Make, fresh: Fresh) -> None:
    tools, llm = tools_with({"verdict": 0.7, "explanation": "nearly"}, {"verdict": 1, "explanation": "yes"})
    case = go(one_case(), fresh, tools)
    assert case.label == 1
    assert len(llm.calls) == 2


def test_a_reply_that_stays_bad_abandons_and_is_never_a_label(tools_with: Make, fresh: Fresh) -> None:
    tools, llm = tools_with({"verdict": "yes", "explanation": "sure"})
    case = go(one_case(), fresh, tools)
    assert (case.stage, case.label, case.left_stage) == (Stage.ABANDONED, None, Stage.SCREENING)
    assert "screener" in case.reason
    assert len(llm.calls) == 2
    assert not Label.objects.exists()


def test_an_outage_costs_no_attempt_and_no_money(tools_with: Make, fresh: Fresh) -> None:
    tools, _ = tools_with(LLMError("overloaded", retryable=True, retry_after=7.0))
    case = go(one_case(), fresh, tools)
    tally = Tally.objects.get(build=case.build)
    assert case.stage == Stage.SCREENING
    assert case.next_attempt_at is not None
    assert (tally.spent, tally.reserved) == (0, 0)


def test_a_wrong_key_stops_the_build_and_blames_no_case(tools_with: Make, fresh: Fresh) -> None:
    tools, _ = tools_with(LLMError("the key was refused", retryable=False, provider=True))
    case = go(one_case(), fresh, tools)
    build = Build.objects.get(pk=case.build_id)
    assert case.stage == Stage.SCREENING
    assert (build.state, build.reason) == (Build.State.WAITING, "the key was refused")


def test_a_missing_recorded_reply_abandons_and_names_the_request(tools_with: Make, fresh: Fresh) -> None:
    tools, _ = tools_with(NoReply("f" * 64, "screener", "replies.jsonl"))
    case = go(one_case(), fresh, tools)
    assert case.stage == Stage.ABANDONED
    assert "f" * 64 in case.reason


def test_without_a_sandbox_a_case_waits_and_is_neither_abandoned_nor_labelled(
    tools_with: Make, fresh: Fresh
) -> None:
    tools, _ = tools_with(UNCLEAR, WRITTEN, box=FakeSandbox(SandboxUnavailable("install bubblewrap")))
    case = go(one_case(), fresh, tools, 2 + 2 * TRIES)
    assert (case.stage, case.label, case.attempts) == (Stage.EXECUTING, None, 0)


def test_an_unavailable_report_is_never_evidence(tools_with: Make, fresh: Fresh) -> None:
    tools, _ = tools_with(
        UNCLEAR, WRITTEN, box=FakeSandbox(a_report(Outcome.UNAVAILABLE, detail="engine gone"))
    )
    case = go(one_case(), fresh, tools, 3)
    assert case.stage == Stage.EXECUTING
    assert case.execution is None


def test_the_same_question_is_paid_once(tools_with: Make, fresh: Fresh) -> None:
    tools, llm = tools_with({"verdict": 1, "explanation": "yes"})
    first = go(one_case(), fresh, tools)
    other = factories.opened(name="second", annotator=first.annotator)
    twin = Case.objects.get(build=other, pair=first.pair)
    twin = go(twin, fresh, tools)
    assert twin.label == 1
    assert len(llm.calls) == 1
    assert Tally.objects.get(build=other).reused == 1


def test_the_same_execution_is_run_once(tools_with: Make, fresh: Fresh, sandbox: FakeSandbox) -> None:
    tools, _ = tools_with(UNCLEAR, WRITTEN, YES)
    first = go(one_case(), fresh, tools, 4)
    other = factories.opened(name="second", annotator=first.annotator)
    go(Case.objects.get(build=other, pair=first.pair), fresh, tools, 4)
    assert len(sandbox.runs) == 1


def test_a_budget_that_is_used_up_pauses_the_build(tools_with: Make, fresh: Fresh) -> None:
    from decimal import Decimal

    from annotation.models import Price

    Price.objects.create(
        model="small-model", effective_from="2020-01-01T00:00:00Z", input=Decimal(1), output=Decimal(5)
    )
    tools, llm = tools_with({"verdict": 1, "explanation": "yes"})
    case = factories.cases(factories.opened(cap=1000))[0]
    case = go(case, fresh, tools)
    assert Build.objects.get(pk=case.build_id).state == Build.State.PAUSED
    assert (case.stage, len(llm.calls)) == (Stage.SCREENING, 0)


def test_whoever_loses_the_race_does_nothing(tools_with: Make, fresh: Fresh) -> None:
    tools, _ = tools_with({"verdict": 1, "explanation": "yes"})
    case = one_case()
    stale = fresh(case)
    go(case, fresh, tools)
    advance_case(stale, tools)
    assert Step.objects.filter(case=case).count() == 1
    assert Tally.objects.get(build=case.build).settled == 1


def test_what_was_asked_can_be_read_again_word_for_word(tools_with: Make, fresh: Fresh) -> None:
    tools, llm = tools_with({"verdict": 1, "explanation": "yes"})
    go(one_case(), fresh, tools)
    call = LLMCall.objects.get()
    assert call.whole_request() == llm.calls[0]
    assert call.whole_request().digest() == call.digest


def test_a_fault_of_our_own_abandons_after_some_tries_and_is_never_a_label(
    tools_with: Make, fresh: Fresh, caplog: pytest.LogCaptureFixture
) -> None:
    tools, _ = tools_with(RuntimeError("a bug"))
    case = go(one_case(), fresh, tools, TRIES)
    assert (case.stage, case.label) == (Stage.ABANDONED, None)
    assert "a fault of the workbench" in case.reason
    assert "a bug" in caplog.text
