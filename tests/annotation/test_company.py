"""Candidates that are screened together: each gets its own verdict, one request is paid, places are fair."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation import company
from annotation.agents import InvalidReply, query_screener
from annotation.agents.query_screener import MOST_AT_ONCE, shuffled
from annotation.llm import Request
from annotation.models import Build, Case, LLMCall, Tally
from annotation.pipeline import Tools, advance
from annotation.stages import Stage
from tests import factories
from tests.fakes import FakeLLM

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
        advance(fresh(case), tools)

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
    advance(fresh(factories.cases(build)[0]), tools)

    text = llm.calls[0].messages[0].text
    assert [text.count(code.strip()) for code in factories.SNIPPETS[:3]] == [1, 1, 1]
    assert text.count(factories.QUERIES[0]) == 1


def test_an_answer_that_leaves_one_out_is_asked_for_once_more_and_then_gives_no_label(
    build: Build, tools_with: Make, fresh: Fresh
) -> None:
    tools, llm = tools_with(verdicts(1, 1), verdicts(1, 1, 1, 1))
    first = factories.cases(build)[0]
    advance(fresh(first), tools)

    assert len(llm.calls) == 2
    assert (fresh(first).stage, fresh(first).label) == (Stage.ABANDONED, None)


@pytest.mark.parametrize("wrong", [[1, 1, 2], [1, 2], [1, 2, 4], [0, 1, 2], []])
def test_every_candidate_has_exactly_one_verdict(wrong: list[int]) -> None:
    reply = {"verdicts": [{"candidate": n, "explanation": "x", "verdict": 1} for n in wrong]}
    with pytest.raises(InvalidReply):
        query_screener.parse(json.dumps(reply), count=3)


def test_a_query_with_many_candidates_is_asked_about_in_several_requests(db: None) -> None:
    codes = [f"def f{n}():\n    return {n}\n" for n in range(MOST_AT_ONCE + 5)]
    of = factories.mining(factories.queries(("a",), "one"), factories.snippets(codes, "many"), k=len(codes))
    build = factories.launched(mining=of, opened=True, annotator=factories.annotator(screener="query"))
    query = of.queries.members.get().text
    pool = [member.text for member in of.snippets.members.select_related("text")]
    for rank, text in enumerate(pool, 1):
        factories.open_case(build, factories.candidate(of, query, text, rank))

    groups = {tuple(one.pk for one in company.of(case)) for case in factories.cases(build)}
    assert sorted(map(len, groups)) == [5, MOST_AT_ONCE]
    assert len({pk for group in groups for pk in group}) == len(codes)


def test_places_are_counted_as_they_were_shown(build: Build, tools_with: Make, fresh: Fresh) -> None:
    tools, _ = tools_with(lambda request: verdicts(1, 0.5, 0))
    for case in factories.cases(build)[:6]:
        advance(fresh(case), tools)

    assert LLMCall.objects.count() == 2
    assert company.places(build) == (
        company.Place(1, 2, 2, 0),
        company.Place(2, 2, 0, 2),
        company.Place(3, 2, 0, 0),
    )


def test_rounds_ask_apart_and_their_places_add_up(db: None, tools_with: Make, fresh: Fresh) -> None:
    build = factories.opened("twice", rounds=2, annotator=factories.annotator(screener="query", seed=7))
    tools, llm = tools_with(lambda request: verdicts(1, 0.5, 0))
    for case in factories.cases(build)[:6]:
        advance(fresh(case), tools)

    assert [request.round for request in llm.calls] in ([1, 2], [2, 1])
    assert [(place.pairs, place.matches) for place in company.places(build)] == [(2, 2), (2, 0), (2, 0)]


@given(st.lists(st.integers(), unique=True), st.integers(0, 2**31 - 1), st.text())
def test_an_order_keeps_everything_and_comes_again(things: list[int], seed: int, query: str) -> None:
    order = shuffled(things, seed, query)
    assert sorted(order) == sorted(things)
    assert order == shuffled(things, seed, query)


def test_over_many_queries_every_place_is_as_likely() -> None:
    firsts = Counter(shuffled(range(4), 1, f"query {n}")[0] for n in range(4000))
    assert all(800 < count < 1200 for count in firsts.values())
