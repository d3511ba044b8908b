"""Prompts are the real ones, of real pairs, and counted by whoever can."""

from __future__ import annotations

import json

import pytest

from annotation.estimating import tokens
from annotation.estimating.tokens import drawn_pairs, prompts_of
from annotation.launching import Order
from annotation.llm import LLMError, Request
from retrieval.filters import NO_RULE
from tests import factories

pytestmark = pytest.mark.django_db


def order() -> Order:
    return Order("new", factories.queries(), factories.snippets(), ("bm25",), k=3, model="a-model")


def test_the_same_collections_give_the_same_pairs_and_only_such_as_pass_the_rule() -> None:
    pairs = drawn_pairs(order())
    assert len(pairs) == tokens.SAMPLE
    assert pairs == drawn_pairs(order())
    assert {code.split("(")[0] for _, code in pairs} == {"def reverse", "def parse_date", "def flatten"}
    assert {query for query, _ in pairs} == set(factories.QUERIES)


def test_of_many_members_each_is_drawn_once() -> None:
    words = [f"query number {number}" for number in range(80)]
    many = Order("new", factories.queries(words, "many"), factories.snippets(), ("bm25",), rule=NO_RULE)
    assert len({query for query, _ in drawn_pairs(many)}) == tokens.SAMPLE


def test_counted_locally_a_longer_prompt_has_more_tokens_and_the_range_is_that_of_the_constants() -> None:
    found = prompts_of(order()).tokens
    screener = found["screener"]
    assert screener.low < screener.expected < screener.high
    assert screener.high / screener.low == pytest.approx(tokens.MOST / tokens.FEWEST, rel=0.05)
    assert found["test_writer"].expected > screener.expected > found["fixer"].expected * 0.5


def test_a_providers_counter_is_asked_for_a_few_and_holds_for_all() -> None:
    asked: list[Request] = []

    def count(request: Request) -> int:
        asked.append(request)
        return tokens.characters(request) // 2

    found = prompts_of(order(), count)
    assert len(asked) == 3 * tokens.ASKED + 1  # the fixer's prompt is the same for all pairs
    assert {one.model for one in asked} == {"a-model"}
    by_hand = tokens.mean_of([tokens.characters(one) for one in tokens.requests_of(order())["screener"]])
    assert found.tokens["screener"].expected == pytest.approx(by_hand.expected / 2, rel=0.001)
    assert found.basis.figure.startswith("the provider's own counter")


def test_a_counter_that_fails_is_replaced_and_that_is_said() -> None:
    def refuse(request: Request) -> int:
        raise LLMError("the provider is overloaded", retryable=True)

    found = prompts_of(order(), refuse)
    assert found.tokens == prompts_of(order()).tokens
    assert "did not answer: the provider is overloaded" in found.basis.note


def test_the_schema_counts_too() -> None:
    one = tokens.requests_of(order())["screener"][0]
    assert tokens.characters(one) == len(one.system) + len(one.messages[0].text) + len(
        json.dumps(dict(one.schema))
    )
