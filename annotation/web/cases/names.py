"""Names that a snippet uses and does not have: marked in its code, and listed by kind."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from annotation.web.cases.code import Code, Line, build_line_anchor
from retrieval.corpus.languages import find_other_language
from retrieval.filters.newer_syntax import find_needed_version, format_version
from retrieval.models import Text
from sandbox.candidate.unbound import Kind, Missing, Unbound, find_unbound_names

MOST_LINES: Final = 8
"""Places that are linked for one name."""
# One character of safe HTML, or a tag, which has no width.
PIECES: Final = re.compile(r"<[^>]*>|&[^;\s]+;|.", re.DOTALL)
CLASSES: Final[Mapping[Kind, str]] = {
    Kind.STANDARD: "is-standard",
    Kind.DISTRIBUTION: "is-distribution",
    Kind.GONE: "is-gone",
    Kind.PROJECT: "is-project",
    Kind.SELF: "is-self",
}
TITLES: Final[Mapping[Kind, str]] = {
    Kind.STANDARD: "Standard library",
    Kind.DISTRIBUTION: "Known distributions",
    Kind.GONE: "Python 2 only, or removed since",
    Kind.PROJECT: "Project names",
    Kind.SELF: "Attributes of self",
}


@dataclass(frozen=True, slots=True)
class NamesView:
    """What a snippet lacks; `problem` says why this server's Python can't read it, in short its `heading`, or
    why it was not `looked_at`.
    """

    kinds: tuple[dict[str, Any], ...]
    total: int
    problem: str
    stars: tuple[str, ...]
    more: int
    needs_project: bool
    looked_at: bool = True
    heading: str = ""

    @property
    def said(self) -> bool:
        """Whether there is anything to be said."""
        return bool(self.kinds or self.problem or self.stars)


@dataclass(frozen=True, slots=True)
class Spot:
    """A place to be marked: `name` stands there from `column` on."""

    column: int
    name: str
    css: str
    title: str


@lru_cache(maxsize=256)
def unbound_in(text: str) -> Unbound:
    """As `sandbox.candidate.unbound`; a page that is polled looks at one text again and again."""
    return find_unbound_names(text)


def names_view(text: str, prefix: str = "c") -> NamesView:
    """The names that a snippet lacks, linked to its lines, whose anchors begin with `prefix`."""
    found = unbound_in(text)
    heading, problem = explain_unread(text) if found.problem and found.parsed else ("", found.problem)
    return NamesView(
        kinds=tuple(
            {
                "title": TITLES[kind],
                "css": CLASSES[kind],
                "names": [name_view(name, prefix) for name in found.of(kind)],
            }
            for kind in Kind
            if found.of(kind)
        ),
        total=len(found.names) + found.more,
        problem=problem,
        stars=found.stars,
        more=found.more,
        needs_project=found.needs_project,
        looked_at=found.parsed,
        heading=heading,
    )


def names_of_snippet(snippet: Text, prefix: str = "c") -> NamesView:
    """As `names_view`; of a function that comes from a file of another language nothing is said."""
    if unbound_in(snippet.text).problem and find_other_language(snippet):
        return NamesView((), 0, "", (), 0, needs_project=False)
    return names_view(snippet.text, prefix)


@lru_cache(maxsize=256)
def explain_unread(text: str) -> tuple[str, str]:
    """What a text is that this server's Python can't read, in short and in a sentence."""
    found, needed = unbound_in(text), find_needed_version(text)
    if needed is None:
        return f"Not {format_version()}", found.problem
    newer = f"{format_version(needed)} or newer"
    if found.read:
        said = "it was read as that. Neither runs here"
        return f"Python 2, or {newer}", f"It is Python 2, or needs {newer}; {said}."
    return newer, f"It needs {newer}; {format_version()} runs here. Its names can't be checked."


def name_view(missing: Missing, prefix: str) -> dict[str, Any]:
    """One name; `source` is where it would come from, or what took its place. `lines` are (number, href)."""
    lines = list(dict.fromkeys(place.line for place in missing.places))
    same = missing.source == missing.name or missing.kind is Kind.SELF
    return {
        "name": missing.name,
        "source": "" if same else missing.source,
        "lines": [(line, f"#{build_line_anchor(prefix, line)}") for line in lines[:MOST_LINES]],
        "more": max(0, len(lines) - MOST_LINES),
    }


def mark_missing_names(code: Code, text: str) -> Code:
    """The code of `text` with the names that it lacks marked where they stand.

    Of a text that is not shown as a whole the lines have the numbers that they have in it.
    """
    spots = spots_of(unbound_in(text))
    if not spots:
        return code
    lines = tuple(
        replace(line, html=with_spots(line, spots[line.number])) if line.number in spots else line
        for line in code.lines
    )
    return replace(code, lines=lines)


def spots_of(found: Unbound) -> dict[int, list[Spot]]:
    """By line, in order."""
    spots: dict[int, list[Spot]] = defaultdict(list)
    for name in found.names:
        title = f"{name.kind}: {name.source}" if name.source not in ("", name.name) else str(name.kind)
        for place in name.places:
            spots[place.line].append(Spot(place.column, name.name, CLASSES[name.kind], title))
    return {line: sorted(of_line, key=lambda spot: spot.column) for line, of_line in spots.items()}


def with_spots(line: Line, spots: Sequence[Spot]) -> SafeString:
    """The line with each spot in a mark of its own.

    What is not a single token stays as it is, and so does a name that stands elsewhere in this line, because
    something before it is not shown.
    """
    pieces = PIECES.findall(str(line.html))
    starts = [number for number, piece in enumerate(pieces) if not piece.startswith("<")]
    for spot in reversed(spots):
        ends = spot.column + len(spot.name)
        if ends > len(starts) or not spot.name:
            continue
        first, last = starts[spot.column], starts[ends - 1]
        found = "".join(pieces[first : last + 1])
        if found != spot.name:
            continue  # a tag lies within, or it is another word
        inner = mark_safe(found)  # noqa: S308 (a part of what was safe)
        pieces[first : last + 1] = [
            format_html('<span class="lacks {}" title="{}">{}</span>', spot.css, spot.title, inner)
        ]
    return mark_safe("".join(pieces))  # noqa: S308 (only marks were added to what was safe)
