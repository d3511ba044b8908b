"""docs/agents.md is about the agents that there are, and its script runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from annotation import prompts
from annotation.agents import arbiter, fixer, screener, test_writer
from annotation.stages import Stage
from tests import factories

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "agents.md").read_text()
AGENTS = {agent.NAME: agent for agent in (screener, test_writer, fixer, arbiter)}


def test_every_agent_stands_in_the_table_with_its_files_fields_and_tokens() -> None:
    rows = {
        line.split("|")[1].strip().replace(" ", "_"): line for line in TEXT.splitlines() if ".py` |" in line
    }
    assert rows.keys() == AGENTS.keys() == set(prompts.AGENTS)
    for name, agent in AGENTS.items():
        fields = agent.SCHEMA["properties"]
        assert isinstance(fields, dict)
        written = re.findall(r"`(\w+)`", rows[name].split("|")[4])
        assert written == list(fields)
        assert f"| {agent.MAX_TOKENS} |" in rows[name]
        assert f"`prompts/{name}.md`" in rows[name]


def test_every_agent_has_a_chapter() -> None:
    chapters = {title.lower().replace(" ", "_") for title in re.findall(r"^## (.+)$", TEXT, re.MULTILINE)}
    assert AGENTS.keys() | {"executor"} <= chapters


def test_files_that_it_names_are_there() -> None:
    named = re.findall(r"`((?:annotation|sandbox|tests)/[\w/.]+?)`", TEXT)
    linked = [f"docs/{path}" for path in re.findall(r"\]\(([\w/.-]+)\)", TEXT)]
    assert len(named) > 4 and len(linked) > 2
    assert [path for path in named + linked if not (ROOT / path).exists()] == []


@pytest.mark.django_db
def test_its_script_finds_the_flips(capsys: pytest.CaptureFixture[str]) -> None:
    [script] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    old, new = (factories.cases(factories.opened(name)) for name in ("old", "new"))
    for before, after, label in zip(old[:3], new[:3], (0, 1, 1), strict=True):
        factories.settled(before, label)
        factories.settled(after, 1)
    assert old[3].stage == Stage.SCREENING
    exec(compile(script, "docs/agents.md", "exec"), {})
    said = capsys.readouterr().out
    assert "3 pairs are settled in both builds" in said
    assert f"1 from 0 to 1: [{old[0].pair_id}]" in said and "0 from 1 to 0: []" in said
