"""docs/agents.md is about the agents that there are."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from annotation import prompts
from annotation.agents import (
    arbiter,
    fixer,
    neighbour_writer,
    query_screener,
    reranker,
    screener,
    single_llm,
    snippet_writer,
    test_writer,
    tie_breaker,
)
from annotation.builds.launch.launcher import configure_annotator
from annotation.builds.launch.order import Judge, Order
from retrieval.models import Collection
from retrieval.models.labels import version_hash

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "agents.md").read_text()
MODULES = (
    screener,
    neighbour_writer,
    test_writer,
    fixer,
    arbiter,
    tie_breaker,
    query_screener,
    reranker,
    single_llm,
    snippet_writer,
)
AGENTS = {agent.NAME: agent for agent in MODULES}


def test_every_agent_stands_in_the_table_with_its_files_fields_and_tokens() -> None:
    rows = {
        line.split("|")[1].strip().replace(" ", "_"): line for line in TEXT.splitlines() if ".py` |" in line
    }
    prompted = {*prompts.AGENTS, *prompts.ALONE, *prompts.IN_COMPANY, *prompts.MISSING, *prompts.RANKING}
    assert rows.keys() == AGENTS.keys() == prompted
    for name, agent in AGENTS.items():
        fields = agent.SCHEMA["properties"]
        assert isinstance(fields, dict)
        written = re.findall(r"`(\w+)`", rows[name].split("|")[4])
        assert written == list(fields)
        tokens = getattr(agent, "MAX_TOKENS", None) or f"2048 + {query_screener.TOKENS_A_VERDICT} each"
        assert f"| {tokens} |" in rows[name]
        assert f"`prompts/{name}.md`" in rows[name]


def test_every_agent_has_a_chapter() -> None:
    chapters = {title.lower().replace(" ", "_") for title in re.findall(r"^## (.+)$", TEXT, re.MULTILINE)}
    assert AGENTS.keys() | {"executor"} <= chapters


def test_files_that_it_names_are_there() -> None:
    named = re.findall(r"`((?:annotation|sandbox|tests)/[\w/.]+?)`", TEXT)
    linked = [f"docs/{path}" for path in re.findall(r"\]\(([\w/.-]+)\)", TEXT)]
    assert len(named) > 4 and len(linked) >= 2
    assert [path for path in named + linked if not (ROOT / path).exists()] == []


COVERED: dict[str, Any] = {
    "model": "another",
    "sampling": {"max_tokens": 9000},
    "fresh": True,
    "screen_by_query": True,
    "rewrites": 2,
    "second_test": True,
    "reader": False,
    "neighbour": False,
    "withhold_report": False,
    "prompt_set": "paper",
    "fix_rounds": 1,
    "annotator": Judge.SINGLE_HALF,
}
NOT_COVERED: dict[str, Any] = {
    "rounds": 3,
    "batches": True,
    "provider": "recorded",
    "k": 7,
    "limit": 9,
    "budget": Decimal(1),
    "seed": 5,
    "name": "another",
}


def version(**changes: Any) -> str:
    """The annotator's version that an order with these changes has."""
    order = Order("first", Collection(), Collection(), ("bm25",))
    return version_hash(configure_annotator(replace(order, **changes))[2])


@pytest.mark.parametrize("name", COVERED)
def test_what_the_page_says_of_an_annotators_version_is_covered(name: str) -> None:
    assert version(**{name: COVERED[name]}) != version()


@pytest.mark.parametrize("name", NOT_COVERED)
def test_what_the_page_says_of_it_is_not_covered(name: str) -> None:
    assert version(**{name: NOT_COVERED[name]}) == version()


def test_a_version_covers_the_provider_and_the_salt_of_a_build_that_asks_anew(settings: Any) -> None:
    live = version(provider="live")
    assert live != version(), "a live provider's host is in it"
    settings.LLM_BASE_URL = "https://example.org"
    assert version(provider="live") != live
    assert version(fresh=True, name="another") != version(fresh=True)
    assert version(screen_by_query=True, seed=5) != version(screen_by_query=True)
    keys = {"model", "base_url", "sampling", "salt", "agents", "screener", "rewrites", "second_test"}
    keys |= {"reader", "neighbour", "withhold_report", "prompt_set"}
    order = Order("first", Collection(), Collection(), ("bm25",))
    assert set(configure_annotator(order)[2]) == keys | {"fix_rounds", "limits", "sandbox"}, (
        "else the page says less"
    )
