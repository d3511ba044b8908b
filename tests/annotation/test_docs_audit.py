"""docs/audit.md's commands, given one after the other, print what the page says."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.builds.pipeline.advance import Tools
from annotation.jobs import worker
from annotation.llm.exchange import ExchangeLLM
from annotation.models import Build
from tests.retrieval.test_data_docs import BLOCK, given, written

pytestmark = pytest.mark.django_db
DOC = Path(__file__).parents[2] / "docs" / "audit.md"
DENIED = "def h(x)"
"""Of this code alone the one who answers says that it is no match."""


def test_every_command_prints_what_the_page_says(
    tools_with: Callable[..., tuple[Tools, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    tools = replace(tools_with()[0], llm_of=lambda build: ExchangeLLM())
    for kind, name, content in BLOCK.findall(DOC.read_text("utf-8")):
        if kind == "file":
            written(tmp_path, name, kind, content)
            continue
        for command, wanted in given(content):
            do(shlex.split(command), tools)
            printed = list(map(numbered, capsys.readouterr().out.splitlines()))
            assert [line for line in map(numbered, wanted) if line not in printed] == [], command


def numbered(line: str) -> str:
    """The line with whatever number its build has here."""
    return re.sub(r"build \d+", "build N", line)


def do(command: list[str], tools: Tools) -> None:
    """Give the command; workers work here, and replies are there when they are taken."""
    if command[0] == "work":
        for build in Build.objects.filter(state=Build.State.RUNNING).select_related("mining", "tally"):
            worker.look_after(build)
        while worker.drain_queue("llm", tools):
            pass
        for build in Build.objects.filter(state=Build.State.RUNNING).select_related("mining", "tally"):
            worker.look_after(build)
        return
    if command[:2] == ["exchange", "import"]:
        lines = map(json.loads, Path("requests.jsonl").read_text("utf-8").splitlines())
        asked = (line for line in lines if "messages" in line)  # the others are prompts, once a file
        Path(command[-1]).write_text("\n".join(map(reply, asked)), "utf-8")
    call_command(*command)


def reply(request: dict[str, Any]) -> str:
    verdict = 0 if DENIED in request["messages"][0]["content"] else 1
    return json.dumps({"id": request["id"], "reply": {"explanation": "as it reads", "verdict": verdict}})
