"""docs/cli.md says what the verbs and commands say; `UPDATE_CLI=1` writes it again."""

from __future__ import annotations

import os
import re
from pathlib import Path

from django.core.management import get_commands, load_command_class

from annotation.management.commands import reproduce
from cosqa.command import FOOT, INTERRUPTED
from cosqa.manual import EXIT_CODES, write_manual
from retrieval.disk_space import EXIT_STATUS
from retrieval.management.light import REFUSED_STATUS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
OURS = {"annotation", "cosqa_site", "retrieval"}


def first_sentence(text: str) -> str:
    return " ".join(text.split()).partition(". ")[0].rstrip(".").replace("|", "\\|")


def own_commands() -> dict[str, str]:
    names = [name for name, app in get_commands().items() if app in OURS]
    return {name: first_sentence(load_command_class(get_commands()[name], name).help) for name in names}


def test_the_page_is_what_verbs_and_commands_say() -> None:
    page = write_manual(own_commands())
    if os.environ.get("UPDATE_CLI"):
        PAGE.write_text(page)
    assert PAGE.read_text() == page, "UPDATE_CLI=1 .venv/bin/pytest -n 0 tests/cosqa/test_manual.py"


def test_exit_codes_are_those_of_the_commands() -> None:
    assert {0, 1, 2, REFUSED_STATUS, EXIT_STATUS, INTERRUPTED} == set(EXIT_CODES)
    assert reproduce.DIFFERS in EXIT_CODES
    told = {int(code) for code in re.findall(r"\b(\d+) [a-z]", FOOT.partition("Exit codes:")[2])}
    assert told == set(EXIT_CODES) - {INTERRUPTED}


def test_every_verb_has_a_part() -> None:
    assert len(re.findall(r"^### \w+$", PAGE.read_text(), re.MULTILINE)) == 15
