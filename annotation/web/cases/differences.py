"""How one snippet differs from another, line by line and word by word, said by signs besides colour.

A snippet's own name says nothing about what it does, so two snippets are compared as if both had the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from django.utils.safestring import SafeString, mark_safe

from annotation.web.cases.code import Bounds, Code, Line, code_of, within_bounds
from annotation.web.shared.words import Sign
from sandbox.program import candidate_names

SAME: Final = Sign("", "")
ADDED: Final = Sign("+", "only here", "good")
REMOVED: Final = Sign("−", "only in the base", "bad")
STAND_IN: Final = "candidate"
"""What a snippet's own name is written as."""

ALIKE: Final = 0.4
"""Two lines with less in common (0 to 1) are different lines, not one line that was changed."""

WORD = re.compile(r"\w+|\s+|[^\w\s]")
PIECE = re.compile(r"<[^>]*>|&[^;]+;|.", re.DOTALL)

Spans = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class SnippetSide:
    """A snippet as it is compared: its lines as shown, as they are, and its own names."""

    code: Code
    lines: tuple[str, ...]
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A line: in both texts, only in this one (`ADDED`), or only in the base (`REMOVED`, numbered there)."""

    sign: Sign
    number: int
    anchor: str
    html: SafeString
    cut: int = 0


@dataclass(frozen=True, slots=True)
class SnippetDifference:
    """A snippet against a base."""

    rows: tuple[DiffRow, ...]
    added: int
    removed: int

    @property
    def same(self) -> bool:
        return not self.added and not self.removed


def side_of(text: str, title: str, prefix: str, bounds: Bounds) -> SnippetSide:
    """A snippet ready to be compared, as far as `bounds` let it be shown."""
    code = code_of(text, title, prefix, bounds=bounds)
    return SnippetSide(code, within_bounds(text, bounds)[0], frozenset(candidate_names(text)))


def compare_snippets(base: SnippetSide, other: SnippetSide) -> SnippetDifference:
    """`other` against `base`."""
    rows = tuple(diff_rows(base, other))
    return SnippetDifference(
        rows=rows,
        added=sum(row.sign is ADDED for row in rows),
        removed=sum(row.sign is REMOVED for row in rows),
    )


def diff_rows(base: SnippetSide, other: SnippetSide) -> Iterator[DiffRow]:
    """What is gone comes before what stands in its place, as in any unified difference."""
    matcher = SequenceMatcher(
        None, normalize_snippet_lines(base), normalize_snippet_lines(other), autojunk=False
    )
    for kind, base_from, base_to, other_from, other_to in matcher.get_opcodes():
        theirs, ours = range(base_from, base_to), range(other_from, other_to)
        if kind == "equal":
            yield from (build_diff_row(SAME, other.code.lines[line]) for line in ours)
            continue
        changes = [find_changed_spans(base, b, other, o) for b, o in zip(theirs, ours, strict=False)]
        unpaired: Spans = ()
        for at, line in enumerate(theirs):
            yield build_diff_row(
                REMOVED, base.code.lines[line], changes[at][0] if at < len(changes) else unpaired
            )
        for at, line in enumerate(ours):
            yield build_diff_row(
                ADDED, other.code.lines[line], changes[at][1] if at < len(changes) else unpaired
            )


def normalize_snippet_lines(side: SnippetSide) -> list[str]:
    """The lines with the snippet's own names stood in for, and no trailing blanks."""
    return [stand_in(line, side.names).rstrip() for line in side.lines]


def stand_in(text: str, names: frozenset[str]) -> str:
    return "".join(STAND_IN if word in names else word for word in WORD.findall(text))


def find_changed_spans(
    base: SnippetSide, base_line: int, other: SnippetSide, other_line: int
) -> tuple[Spans, Spans]:
    """The parts of a line of each side that the other lacks, as (from, to); none if they are not alike."""
    before, after = WORD.findall(base.lines[base_line]), WORD.findall(other.lines[other_line])
    matcher = SequenceMatcher(
        None,
        [STAND_IN if word in base.names else word for word in before],
        [STAND_IN if word in other.names else word for word in after],
        autojunk=False,
    )
    if matcher.ratio() < ALIKE:
        return (), ()
    moves = [move for move in matcher.get_opcodes() if move[0] != "equal"]
    return (
        [
            (count_word_characters(before, start), count_word_characters(before, stop))
            for _, start, stop, _, _ in moves
            if stop > start
        ],
        [
            (count_word_characters(after, start), count_word_characters(after, stop))
            for _, _, _, start, stop in moves
            if stop > start
        ],
    )


def count_word_characters(words: Sequence[str], count: int) -> int:
    """How many characters the first `count` words have."""
    return sum(map(len, words[:count]))


def build_diff_row(sign: Sign, line: Line, spans: Spans = ()) -> DiffRow:
    anchor = "" if sign is REMOVED else line.anchor
    return DiffRow(sign, line.number, anchor, mark_html_spans(line.html, spans), line.cut)


def mark_html_spans(html: SafeString, spans: Spans) -> SafeString:
    """A line's safe HTML with the characters of `spans` in `<mark>`; a mark never crosses a tag.

    Where an unseen character was spelled out, characters can't be counted any more: no marks there.
    """
    if not spans or 'class="unseen"' in html:
        return html
    made: list[str] = []
    position, inside = 0, False
    for piece in PIECE.findall(html):
        is_tag = piece.startswith("<")
        wanted = not is_tag and any(start <= position < stop for start, stop in spans)
        if wanted != inside:
            made.append("<mark>" if wanted else "</mark>")
            inside = wanted
        made.append(piece)
        position += not is_tag
    made.append("</mark>" if inside else "")
    return mark_safe("".join(made))  # noqa: S308 (only marks were added to what was safe)
