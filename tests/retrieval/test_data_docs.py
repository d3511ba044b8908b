"""docs/data.md's examples are whole: its files, imported by its commands, print and write what it says."""

from __future__ import annotations

import ast
import pickle
import re
import shlex
from pathlib import Path

import pytest
from django.core.management import call_command

from retrieval.models import Label, Member

pytestmark = pytest.mark.django_db
DOC = Path(__file__).parents[2] / "docs" / "data.md"
BLOCK = re.compile(r"^```(file|pickle|console|written) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROMPT = "$ python manage.py "


def test_every_example_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = []
    for kind, name, content in BLOCK.findall(DOC.read_text("utf-8")):
        if kind == "console":
            for command, wanted in given(content):
                call_command(*shlex.split(command))
                printed = capsys.readouterr().out.splitlines()
                assert [line for line in wanted if line not in printed] == [], command
                commands.append(command)
        elif kind == "written":
            lines = (tmp_path / name).read_text("utf-8").splitlines()
            assert [line for line in content.splitlines() if line not in lines] == [], name
        else:
            written(tmp_path / name, kind, content)
    before = Member.objects.count(), Label.objects.count()
    for command in commands:
        call_command(*shlex.split(command))
    assert (Member.objects.count(), Label.objects.count()) == before


def given(console: str) -> list[tuple[str, list[str]]]:
    """The commands of a block, each with the lines that it prints."""
    commands = (each.splitlines() for each in console.split(PROMPT) if each)
    return [(command, wanted) for command, *wanted in commands]


def written(path: Path, kind: str, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pickle":
        path.write_bytes(pickle.dumps(ast.literal_eval(content), 2))
    else:
        path.write_text(content, "utf-8")
