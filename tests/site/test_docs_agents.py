"""docs/agents.md is about the agents that there are."""

from __future__ import annotations

import re
from pathlib import Path

from annotation import prompts
from annotation.agents import (
    arbiter,
    fixer,
    query_screener,
    screener,
    single_llm,
    snippet_writer,
    test_writer,
)

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "agents.md").read_text()
MODULES = (screener, test_writer, fixer, arbiter, query_screener, single_llm, snippet_writer)
AGENTS = {agent.NAME: agent for agent in MODULES}


def test_every_agent_stands_in_the_table_with_its_files_fields_and_tokens() -> None:
    rows = {
        line.split("|")[1].strip().replace(" ", "_"): line for line in TEXT.splitlines() if ".py` |" in line
    }
    prompted = {*prompts.AGENTS, *prompts.ALONE, *prompts.IN_COMPANY, *prompts.MISSING}
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
