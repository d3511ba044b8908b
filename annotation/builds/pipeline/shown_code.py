"""The code of a case as its agents see it: a block of code inside the function that their tests can call.

The paper's set sees what the paper's agents saw. Readers see the snippet as it is: reading takes no call.
"""

from __future__ import annotations

from dataclasses import dataclass

from annotation.agents import paper
from annotation.models import Case
from sandbox.candidate.blocks import read_block


@dataclass(frozen=True, slots=True)
class ShownCode:
    """The code, and what is said of it, empty where it is the snippet's own text."""

    code: str
    note: str = ""


def find_shown_code(case: Case) -> ShownCode:
    """The case's code for screener, neighbour writer, test writer, arbiter and tie breaker."""
    text = case.pair.snippet.text
    as_in_paper = case.annotator.config.get("prompt_set") == paper.PROMPT_SET
    block = None if as_in_paper else read_block(text)
    return ShownCode(text) if block is None else ShownCode(block.code or text, block.note)
