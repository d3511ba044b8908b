"""Who knew an operation, a command or an address on 26 November 2026 finds it, or its successor in the docs.

`old_names.json` is what there was then, without the names of arguments. What has another name now, or is
gone, has a line in the table of its section in docs/renames.md: `old`, then `new` or "gone: why".
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from django.core.management import get_commands, load_command_class

from cosqa_site.settings import BASE_DIR
from tests.site.test_access import ours

OLD: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("old_names.json").read_text())
OPENAPI: Final = json.loads(Path(__file__).with_name("openapi.json").read_text())
RENAMES: Final = (BASE_DIR / "docs" / "renames.md").read_text(encoding="utf-8")
ROW: Final = re.compile(r"^\| `([^`|]+)` \| (?:`([^`|]+)`|gone: [^|]{10,}) \|$", re.MULTILINE)


def _table(title: str) -> dict[str, str | None]:
    """New names by old ones, None of what is gone, in a section of docs/renames.md."""
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", RENAMES, re.MULTILINE | re.DOTALL)
    assert section, f"docs/renames.md has no section called {title}"
    return {old: new or None for old, new in ROW.findall(section[1])}


def _operations() -> set[str]:
    return {
        f"{operation['operationId']} {method.upper()} {re.sub(r'{[^}]+}', '{}', path)}"
        for path, methods in OPENAPI["paths"].items()
        for method, operation in methods.items()
    }


def _commands() -> set[str]:
    apps = {"annotation", "bench", "cosqa_site", "retrieval"}
    found = [(str(app), name) for name, app in get_commands().items() if app in apps]
    return {
        command
        for app, name in found
        for command in _with_subcommands(load_command_class(app, name).create_parser("manage.py", name), name)
    }


def _with_subcommands(parser: argparse.ArgumentParser, name: str) -> Iterator[str]:
    """A command and what may follow it: parsers of its own, or words of which one is chosen."""
    yield name
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, inner in action.choices.items():
                yield from _with_subcommands(inner, f"{name} {word}")
        elif not action.option_strings and action.choices:
            yield from (f"{name} {word}" for word in action.choices)


def _addresses() -> set[str]:
    paths = (route.path for route in ours() if not route.name.startswith("api"))
    return {re.sub(r"<(?:(\w+):)?\w+>", lambda part: f"<{part[1] or 'str'}>", path) for path in paths}


KINDS: Final = {
    "Operations": ({f"{name} {path}" for name, path in OLD["operations"].items()}, _operations),
    "Commands": (set(OLD["commands"]), _commands),
    "Addresses": (set(OLD["addresses"]), _addresses),
}


@pytest.mark.parametrize("title", KINDS)
def test_each_old_name_exists_or_has_a_successor(title: str) -> None:
    old, names_of_today = KINDS[title]
    today, table = names_of_today(), _table(title)
    assert len(old) > 60
    assert old - today == set(table), "docs/renames.md: a line for each that was renamed or is gone"
    assert {new for new in table.values() if new} <= today


def test_row_says_its_successor_or_why_there_is_none() -> None:
    rows = "| old | new |\n| --- | --- |\n| `a b` | `a c` |\n| `d` | gone: nobody asked |\n| `e` | gone |\n"
    assert ROW.findall(rows) == [("a b", "a c"), ("d", "")]
