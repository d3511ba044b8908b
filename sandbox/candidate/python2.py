"""Python 2 written so that Python 3 can read it: for looking at names, never for running."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable

from sandbox.candidate.syntax import parse_python_source

_MOST_ROUNDS = 80
# Parsed in all rounds together.
_MOST_CHARACTERS = 1_000_000
# Each keeps what follows in its column where it can: places are shown to people.
_REWRITES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\b(?:print|raise)\b(?!\s*\()"), "__p2="),
    (re.compile(r"\braise\b"), "__p2="),
    (re.compile(r"\bexec\b"), "_p2="),
    (re.compile(r"^(\s*except\b.*?),\s*(\w+)\s*:"), r"\1 as \2:"),
    (re.compile(r"`([^`]*)`"), r"(\1)"),
    (re.compile("<>"), "!="),
    (re.compile(r"\b0+([0-7]+)L?\b"), lambda found: found.group(1).rjust(len(found.group()))),
    (re.compile(r"\b(\d+|0[xX][0-9a-fA-F]+)[lL]\b"), r"\1 "),
    (re.compile(r"\b[uU]([rR])(?=['\"])"), r" \1"),
)


def parse_python2(source: str) -> ast.Module | None:
    """The tree of `source` as near as it gets: Python 2's statements are rewritten, indentation is taken off.

    Lines stay where they are, columns mostly. None where that does not help.
    """
    lines = textwrap.dedent(source.expandtabs(8)).splitlines()
    for _ in range(min(_MOST_ROUNDS, 1 + _MOST_CHARACTERS // (len(source) + 1))):
        try:
            return parse_python_source("\n".join(lines) + "\n")
        except SyntaxError as error:
            if not _mended(lines, error.lineno or 0):
                return None
        except ValueError:
            return None
    return None


def _mended(lines: list[str], number: int) -> bool:
    """Rewrite one thing in the line that Python stumbled over, or in the one before; says whether it did."""
    for index in (number - 1, number - 2):
        if not 0 <= index < len(lines):
            continue
        for pattern, put in _REWRITES:
            changed = pattern.sub(put, lines[index], count=1)
            if changed != lines[index]:
                lines[index] = changed
                return True
    return False
