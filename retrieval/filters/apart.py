"""The rules of many snippets, found in a process beside this one, which goes on with other work meanwhile.

`python -m retrieval.filters.apart` reads a JSON array of snippets a line, and answers each line by an array
of the bits that each passes, null for one that does not parse. It ends when its input does.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self, TextIO

from retrieval.filters import Rule, find_passed_rules

WORTH_IT: Final = 1000
"""So many snippets at once take longer than to start a process; fewer are looked at here."""
ROOT: Final = Path(__file__).parents[2]


class Apart:
    """Asks for the rules of some snippets, then takes the answer; started where it is worth it.

    A process that ended (no memory, say) changes nothing but the time: what it owes is found here.
    """

    def __init__(self) -> None:
        self.child: subprocess.Popen[str] | None = None
        self.asked: Sequence[str] = ()
        self.is_asked = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.child is not None:
            self.child.kill()
            self.child.communicate()
            self.child = None

    def ask(self, codes: Sequence[str]) -> None:
        """Have them looked at while the caller does something else; `answer` comes next."""
        self.asked, self.is_asked = codes, len(codes) >= WORTH_IT
        if not self.is_asked:
            return
        try:
            if self.child is None:
                self.child = _started()
            assert self.child.stdin, "it was opened with one"
            self.child.stdin.write(json.dumps(codes) + "\n")
            self.child.stdin.flush()
        except OSError:
            self.is_asked = False

    def answer(self) -> list[Rule | None]:
        """The rules of each snippet that was asked for, in order."""
        if self.is_asked and self.child is not None and self.child.stdout:
            told = self.child.stdout.readline()
            if told.endswith("\n"):
                return [None if bits is None else Rule(bits) for bits in json.loads(told)]
        return [find_passed_rules(code) for code in self.asked]


def _started() -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "retrieval.filters.apart"]
    return subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="ascii"
    )


def answer_lines(asked: TextIO, answered: TextIO) -> None:
    """Answer line after line until there are no more."""
    for line in asked:
        found = (find_passed_rules(code) for code in json.loads(line))
        answered.write(json.dumps([None if rules is None else int(rules) for rules in found]) + "\n")
        answered.flush()


if __name__ == "__main__":
    answer_lines(sys.stdin, sys.stdout)
