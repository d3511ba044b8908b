"""Prompts are the real ones, of real pairs, and counted by whoever can."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from annotation.builds.launch.estimates import tokens
from annotation.builds.launch.estimates.tokens import Counter, by_provider, drawn_pairs, prompts_of
from annotation.builds.launch.order import Order
from annotation.jobs import providers
from annotation.jobs.providers import local_counter
from annotation.llm import LLMError, Request
from annotation.models import Build
from retrieval.filters import NO_RULE
from tests import factories

pytestmark = pytest.mark.django_db


def counter(count: Callable[[Request], int], otherwise: Counter | None = None) -> Counter:
    return Counter("the provider's own counter", by_provider(count), otherwise=otherwise)


def words(folder: Path) -> None:
    """A tokenizer of `a-model` in a folder of tokenizers: a token for each word and each run of signs."""
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    (folder / "a-model").mkdir()
    tokenizer.save(str(folder / "a-model" / "tokenizer.json"))


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
        return tokens.count_request_characters(request) // 2

    found = prompts_of(order(), counter(count))
    assert len(asked) == 6 * tokens.ASKED + 1  # the fixer's prompt is the same for all pairs
    assert {one.model for one in asked} == {"a-model"}
    by_hand = tokens.mean_of(
        [tokens.count_request_characters(one) for one in tokens.requests_of(order())["screener"]]
    )
    assert found.tokens["screener"].expected == pytest.approx(by_hand.expected / 2, rel=0.001)
    assert found.basis.figure.startswith("the provider's own counter")


def test_a_counter_that_fails_is_replaced_and_that_is_said() -> None:
    def refuse(request: Request) -> int:
        raise LLMError("the provider is overloaded", retryable=True)

    found = prompts_of(order(), counter(refuse))
    assert found.tokens == prompts_of(order()).tokens
    assert found.basis.figure.startswith("3.6 characters a token")
    assert "The provider's own counter gave no count: the provider is overloaded." in found.basis.note


def test_a_local_tokenizer_counts_where_the_provider_does_not(tmp_path: Path) -> None:
    words(tmp_path)
    found = prompts_of(order(), local_counter(str(tmp_path), "a-model"))
    screener = tokens.requests_of(order())["screener"]
    by_hand = [
        sum(len(re.findall(r"\w+|[^\w\s]+", text)) for text in tokens.texts_of(one)) for one in screener
    ]
    assert found.tokens["screener"].expected == pytest.approx(fmean(by_hand), rel=0.02)
    assert found.basis.figure.startswith("the local tokenizer a-model/tokenizer.json")
    assert "template" in found.basis.note


def test_a_tokenizer_takes_the_place_of_a_provider_that_does_not_answer(tmp_path: Path) -> None:
    def refuse(request: Request) -> int:
        raise LLMError("the provider is overloaded", retryable=True)

    words(tmp_path)
    local = local_counter(str(tmp_path), "a-model")
    found = prompts_of(order(), counter(refuse, otherwise=local))
    assert found.tokens == prompts_of(order(), local).tokens
    assert found.basis.figure.startswith("the local tokenizer")
    assert "gave no count: the provider is overloaded" in found.basis.note


def test_a_tokenizer_that_can_not_be_used_leaves_characters_and_that_is_said(tmp_path: Path) -> None:
    found = prompts_of(order(), local_counter(str(tmp_path), "a-model"))
    assert found.tokens == prompts_of(order()).tokens
    assert found.basis.figure.startswith("3.6 characters a token")
    assert "The local tokenizer a-model/tokenizer.json gave no count: it can't be read" in found.basis.note


def test_which_counter_is_taken_follows_from_the_settings(settings: Any, tmp_path: Path) -> None:
    words(tmp_path)
    settings.ANTHROPIC_API_KEY = "a-key"
    profile = tmp_path / "mine.toml"
    profile.write_text(
        Path("annotation/llm/providers/generic.toml").read_text() + 'tokenizer = "a-model/tokenizer.json"\n'
    )
    live = Build.Provider.LIVE

    def told(name: str, tokenizer: str = "") -> list[str]:
        settings.LLM_PROFILE, settings.LLM_TOKENIZER = name, tokenizer
        found, names = providers.find_token_counter(live, "a-model"), []
        while found:
            names.append(found.name)
            found = found.otherwise
        return names

    local = "the local tokenizer a-model/tokenizer.json"
    assert told("generic") == []
    assert told("generic", str(tmp_path)) == [local]
    assert told("anthropic", str(tmp_path)) == ["the provider's own counter", local]
    assert told(str(profile)) == [local]
    found = prompts_of(order(), providers.find_token_counter(live, "another"))
    assert found.basis.figure.startswith(local), "its path is taken from the folder of the profile"
    assert told(str(profile), str(tmp_path)) == [local]
    assert providers.find_token_counter(Build.Provider.EXCHANGE, "a-model") is None
    settings.ANTHROPIC_API_KEY = ""
    assert told("anthropic", str(tmp_path)) == [local], "without a key no provider is asked"


def test_the_schema_counts_too() -> None:
    one = tokens.requests_of(order())["screener"][0]
    assert tokens.count_request_characters(one) == len(one.system) + len(one.messages[0].text) + len(
        json.dumps(dict(one.schema))
    )
