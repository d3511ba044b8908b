"""Each text that the workbench abandons with has its kind: the raise sites themselves are asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from annotation import abandonment
from annotation.abandonment import Cause, cause_of
from annotation.agents import screener
from annotation.builds.control.pause_resume import retry_abandoned
from annotation.builds.pipeline import advance
from annotation.llm.errors import NoReply
from annotation.llm.profiles import ANTHROPIC
from annotation.llm.reply import Reply, Usage
from annotation.llm.responses import flag_unusable_reply
from annotation.llm.sampling import LONGER
from annotation.models import Case
from annotation.stages import Stage
from tests import factories

REQUEST = screener.build_screener_request(
    screener.ScreenerInputs("reverse a list", "def f(x):\n    return x\n"), "m"
)


def refused(stop_reason: str, text: str = "") -> str:
    return flag_unusable_reply(Reply(text, "m", Usage(1, 1), 0.1, "", stop_reason), REQUEST, ANTHROPIC).defect


@pytest.mark.parametrize(
    ("stop_reason", "cause"),
    [
        ("max_tokens", Cause.CUT_OFF),
        ("refusal", Cause.DECLINED),
        ("model_context_window_exceeded", Cause.TOO_LONG),
        ("end_turn", Cause.EMPTY),
    ],
)
def test_a_reply_that_can_not_be_used_has_its_kind(stop_reason: str, cause: Cause) -> None:
    assert cause_of(refused(stop_reason)) == cause


def test_a_missing_recording_is_one_cause_whatever_was_asked() -> None:
    told = {cause_of(NoReply(f"{n:064x}", "screener", f"/home/{n}.jsonl").message) for n in range(3)}
    assert told == {Cause.NOT_RECORDED}


def test_every_known_cause_is_said_with_what_helps() -> None:
    for cause in Cause:
        words, help_ = abandonment.describe_abandonment_cause(cause)
        assert words
        assert help_.endswith(".")


def test_an_unknown_text_is_a_cause_of_its_own_without_what_varies() -> None:
    told = {
        cause_of(f"the moon 'phase {n}' is {n}.{n} at /dev/moon{n}, id {n:032x}\n again") for n in range(9)
    }
    assert told == {"other: the moon … is # at … id … again"}
    assert abandonment.describe_abandonment_cause(told.pop()) == (
        "the moon … is # at … id … again",
        abandonment.UNKNOWN_HELP,
    )


def test_a_cause_fits_its_column_however_long_the_text() -> None:
    assert len(cause_of("word " * 1000)) <= 130
    assert abandonment.describe_abandonment_cause("")[0] == "no cause was recorded"


@pytest.mark.django_db
def test_a_reply_that_is_cut_off_is_repaired_once_then_given_up_with_what_allows_more(
    tools_with: Callable[..., Any], fresh: Callable[[Case], Case]
) -> None:
    case = factories.cases(factories.opened(annotator=factories.annotator(sampling={"max_tokens": 9000})))[0]
    tools, llm = tools_with("{")
    ask = llm.ask
    llm.ask = lambda request: flag_unusable_reply(
        replace(ask(request), stop_reason="max_tokens"), request, ANTHROPIC
    )
    advance.advance_case(fresh(case), tools)
    assert [call.max_tokens for call in llm.calls] == [9000, 9000]
    case.refresh_from_db()
    assert (case.stage, case.cause) == (Stage.ABANDONED, Cause.CUT_OFF)
    assert "cut off at max_tokens = 9000" in case.reason
    assert case.reason.endswith(f"; the sampling {LONGER} allows more")
    assert LONGER in abandonment.describe_abandonment_cause(case.cause)[1]


@pytest.mark.django_db
def test_what_the_pipeline_abandons_is_kept_by_kind_and_forgotten_on_retry(
    tools_with: Callable[..., Any], fresh: Callable[[Case], Case]
) -> None:
    build = factories.opened()
    first, second, third = (fresh(case) for case in factories.cases(build)[:3])
    tools, _ = tools_with("no verdict", "no verdict either")
    advance.advance_case(first, tools)
    Case.objects.filter(pk=second.pk).update(attempts=advance.TRIES)
    advance.after_fault(second, second.lease, f"a fault of the workbench: {KeyError('x')!r}")
    third.attempts = advance.TRIES
    advance.sandbox_failed(third, tools, "no bubblewrap")
    kinds = list(Case.objects.filter(stage=Stage.ABANDONED).order_by("pk").values_list("cause", flat=True))
    assert kinds == [Cause.UNUSABLE, Cause.FAULT, Cause.SANDBOX]
    retry_abandoned(build)
    assert set(Case.objects.values_list("cause", flat=True)) == {""}
