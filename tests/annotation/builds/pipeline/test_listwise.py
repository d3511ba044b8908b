"""Candidates that are screened together: each gets its own verdict, one request is paid, places are fair."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.agents import InvalidReply, query_screener
from annotation.agents.query_screener import MOST_AT_ONCE, shuffle_for_query
from annotation.builds.control.pause_resume import retry_abandoned
from annotation.builds.pipeline import listwise
from annotation.builds.pipeline.advance import Tools, advance_case
from annotation.builds.pipeline.execution import SandboxProvider
from annotation.builds.results import position_bias
from annotation.builds.results.position_bias import measure_position_bias
from annotation.llm import LLMError, Reply, Request
from annotation.models import Build, Case, LLMCall, Tally
from annotation.stages import Stage
from tests import factories
from tests.fakes import FakeLLM, FakeSandbox

Make = Callable[..., tuple[Tools, FakeLLM]]
Fresh = Callable[[Case], Case]


@pytest.fixture
def build(db: None) -> Build:
    """Three queries with three candidates each, screened by query."""
    return factories.opened(annotator=factories.annotator(screener="query", seed=7))


def verdicts(*values: float) -> dict[str, Any]:
    return {
        "verdicts": [
            {"candidate": number, "explanation": f"so says {number}", "verdict": value}
            for number, value in enumerate(values, 1)
        ]
    }


def by_code(request: Request) -> dict[str, Any]:
    """A match for the snippet that reverses, wherever it stands; the others are unclear or none."""
    text = request.messages[0].text
    codes = text.split("<candidate-")[1:]
    return verdicts(*(1 if "reverse" in code else 0.5 if "parse" in code else 0 for code in codes))


def test_one_request_settles_all_candidates_of_a_query(build: Build, tools_with: Make, fresh: Fresh) -> None:
    tools, llm = tools_with(by_code)
    cases = factories.cases(build)[:3]
    for case in cases:
        advance_case(fresh(case), tools)

    assert len(llm.calls) == 1
    found = {fresh(case).pair.snippet.text.strip(): fresh(case) for case in cases}
    assert [(found[code.strip()].stage, found[code.strip()].label) for code in factories.SNIPPETS[:3]] == [
        (Stage.SETTLED, 1),
        (Stage.WRITING_TEST, None),
        (Stage.SETTLED, 0),
    ]
    notes = [fresh(case).steps.get().note for case in cases]
    assert sorted(notes) == ["so says 1", "so says 2", "so says 3"]
    assert Tally.objects.get(build=build).reused == 2


def test_all_texts_and_the_query_are_in_the_request_once(
    build: Build, tools_with: Make, fresh: Fresh
) -> None:
    tools, llm = tools_with(by_code)
    advance_case(fresh(factories.cases(build)[0]), tools)

    text = llm.calls[0].messages[0].text
    assert [text.count(code.strip()) for code in factories.SNIPPETS[:3]] == [1, 1, 1]
    assert text.count(factories.QUERIES[0]) == 1


class Declining(FakeLLM):
    """Declines whatever it is asked."""

    def ask(self, request: Request) -> Reply:
        return replace(super().ask(request), stop_reason="refusal", defect="it declined to answer")


def test_an_answer_that_leaves_one_out_is_asked_for_once_more_for_all_and_then_gives_no_label(
    build: Build, tools_with: Make, fresh: Fresh
) -> None:
    tools, llm = tools_with(verdicts(1, 1), verdicts(1, 1, 1, 1))
    cases = factories.cases(build)[:3]
    for case in cases:
        advance_case(fresh(case), tools)

    assert len(llm.calls) == 2
    assert [(fresh(case).stage, fresh(case).label) for case in cases] == [(Stage.ABANDONED, None)] * 3
    assert len({fresh(case).reason for case in cases}) == 1
    assert "even when asked again" in fresh(cases[2]).reason
    last = LLMCall.objects.order_by("-pk")[0]
    assert {fresh(case).steps.get().call_id for case in cases} == {last.pk}
    assert Tally.objects.get(build=build).spent == sum(call.cost for call in LLMCall.objects.all())


def tools_of(llm: FakeLLM) -> Tools:
    return Tools(llm_of=lambda build: llm, sandbox=SandboxProvider(FakeSandbox))


def test_a_company_that_is_declined_or_refused_is_asked_about_once(build: Build, fresh: Fresh) -> None:
    declining = Declining(verdicts(1, 1, 1))
    refusing = FakeLLM(LLMError("the request is too large (HTTP 413)", retryable=False))
    for llm, cases in ((declining, factories.cases(build)[:3]), (refusing, factories.cases(build)[3:6])):
        tools = tools_of(llm)
        for case in cases:
            advance_case(fresh(case), tools)

        assert len(llm.calls) == 1
        assert {fresh(case).stage for case in cases} == {Stage.ABANDONED}
        assert all(fresh(case).reason for case in cases)


def test_an_outage_in_between_is_no_answer_that_counts(build: Build, tools_with: Make, fresh: Fresh) -> None:
    tools, llm = tools_with(LLMError("overloaded", retryable=True), by_code)
    for case in factories.cases(build)[:3]:
        advance_case(fresh(case), tools)
    assert len(llm.calls) == 2
    assert Case.objects.filter(build=build, stage=Stage.ABANDONED).count() == 0


def test_a_retry_of_the_group_asks_anew_once(build: Build, tools_with: Make, fresh: Fresh) -> None:
    tools, llm = tools_with(verdicts(1), verdicts(2), verdicts(3), verdicts(1, 0, 0))
    cases = factories.cases(build)[:3]
    for asked in (2, 3):
        for case in cases:
            advance_case(fresh(case), tools)
        assert len(llm.calls) == asked
        assert retry_abandoned(build) == 3
    for case in cases:
        advance_case(fresh(case), tools)
    assert len(llm.calls) == 4
    assert {fresh(case).stage for case in cases} == {Stage.SETTLED}


def test_another_build_may_ask_again_what_this_one_asked_in_vain(
    build: Build, tools_with: Make, fresh: Fresh
) -> None:
    tools, llm = tools_with(verdicts(1), verdicts(2), verdicts(1, 0, 0))
    other = factories.opened("other", annotator=build.annotator)
    advance_case(fresh(factories.cases(build)[0]), tools)
    for case in factories.cases(other)[:3]:
        advance_case(fresh(case), tools)
    assert len(llm.calls) == 3
    assert Case.objects.filter(build=other, stage=Stage.SETTLED).count() == 3


@pytest.mark.parametrize("wrong", [[1, 1, 2], [1, 2], [1, 2, 4], [0, 1, 2], []])
def test_every_candidate_has_exactly_one_verdict(wrong: list[int]) -> None:
    reply = {"verdicts": [{"candidate": n, "explanation": "x", "verdict": 1} for n in wrong]}
    with pytest.raises(InvalidReply):
        query_screener.parse_listwise_verdict(json.dumps(reply), count=3)


def test_a_query_with_many_candidates_is_asked_about_in_several_requests(db: None) -> None:
    codes = [f"def f{n}():\n    return {n}\n" for n in range(MOST_AT_ONCE + 5)]
    of = factories.mining(factories.queries(("a",), "one"), factories.snippets(codes, "many"), k=len(codes))
    build = factories.launched(mining=of, opened=True, annotator=factories.annotator(screener="query"))
    query = of.queries.members.get().text
    pool = [member.text for member in of.snippets.members.select_related("text")]
    for rank, text in enumerate(pool, 1):
        factories.open_case(build, factories.candidate(of, query, text, rank))

    groups = {tuple(one.pk for one in listwise.find_request_cases(case)) for case in factories.cases(build)}
    assert sorted(map(len, groups)) == [5, MOST_AT_ONCE]
    assert len({pk for group in groups for pk in group}) == len(codes)


def test_places_are_counted_as_they_were_shown(build: Build, tools_with: Make, fresh: Fresh) -> None:
    tools, _ = tools_with(lambda request: verdicts(1, 0.5, 0))
    for case in factories.cases(build)[:6]:
        advance_case(fresh(case), tools)

    assert LLMCall.objects.count() == 2
    assert measure_position_bias(build).places == (
        listwise.PlaceVerdictCounts(1, 2, 2, 0),
        listwise.PlaceVerdictCounts(2, 2, 0, 2),
        listwise.PlaceVerdictCounts(3, 2, 0, 0),
    )


def test_a_place_that_decides_is_beyond_chance(build: Build, tools_with: Make, fresh: Fresh) -> None:
    tools, _ = tools_with(lambda request: verdicts(1, 0.5, 0))
    for case in factories.cases(build)[:6]:
        advance_case(fresh(case), tools)
    build.refresh_from_db()

    found = position_bias.get_position_bias(build)

    # Each of two queries: a match at the first of three places alone, -1 / 2 a place, two places further.
    assert found is not None and (found.queries, found.few_queries) == (2, True)
    assert found.matches == position_bias.Drift(-1.0, -1.0, -1.0) and found.matches.beyond_chance
    assert found.unclear == position_bias.Drift(0.0, 0.0, 0.0) and not found.unclear.beyond_chance
    assert position_bias.find_cached_position_bias(build) == found


def test_queries_that_contradict_each_other_are_chance() -> None:
    found = position_bias.estimate_position_drift(np.array([(1.0, 2.0), (-1.0, 2.0)] * 20), 2)
    assert found is not None and found.value == 0 and found.low < 0 < found.high
    assert not found.beyond_chance
    assert position_bias.estimate_position_drift(np.array([(1.0, 2.0)]), 2) is None


def test_pairs_that_are_screened_alone_have_no_place(db: None) -> None:
    assert position_bias.get_position_bias(factories.opened("alone")) is None


def test_rounds_ask_apart_and_their_places_add_up(db: None, tools_with: Make, fresh: Fresh) -> None:
    build = factories.opened("twice", rounds=2, annotator=factories.annotator(screener="query", seed=7))
    tools, llm = tools_with(lambda request: verdicts(1, 0.5, 0))
    for case in factories.cases(build)[:6]:
        advance_case(fresh(case), tools)

    assert [request.round for request in llm.calls] in ([1, 2], [2, 1])
    assert [(place.pairs, place.matches) for place in measure_position_bias(build).places] == [
        (2, 2),
        (2, 0),
        (2, 0),
    ]


@given(st.lists(st.integers(), unique=True), st.integers(0, 2**31 - 1), st.text())
def test_an_order_keeps_everything_and_comes_again(things: list[int], seed: int, query: str) -> None:
    order = shuffle_for_query(things, seed, query)
    assert sorted(order) == sorted(things)
    assert order == shuffle_for_query(things, seed, query)


def test_over_many_queries_every_place_is_as_likely() -> None:
    firsts = Counter(shuffle_for_query(range(4), 1, f"query {n}")[0] for n in range(4000))
    assert all(800 < count < 1200 for count in firsts.values())
