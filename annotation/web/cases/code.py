"""Untrusted code as lines of safe HTML: highlighted, numbered, capped, with nothing in it invisible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import count

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers.python import PythonLexer

from annotation.web.shared.words import Sign


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is shown of one text at most; whatever is left out is said."""

    lines: int
    line: int
    characters: int


PAGE_BOUNDS = Bounds(lines=1_500, line=1_000, characters=100_000)
LIST_BOUNDS = Bounds(lines=120, line=400, characters=8_000)
"""For pages with many texts: about a screenful of each."""

DEEPEST_INDENT = 24
"""Columns by which the rest of a wrapped line is indented at most: a phone has about forty."""
TAB_COLUMNS = 4
"""As the style sheet has it."""

BYTE_ORDER_MARK = "\ufeff"
FORMATTER: HtmlFormatter[str] = HtmlFormatter(nowrap=True, classprefix="")
LEXER = PythonLexer(stripnl=False, ensurenl=True)
# Controls, and the characters that reorder or hide text ("Trojan Source"). Tab, newline, CR LF are meant.
UNSEEN = re.compile(
    "(?!\r\n)[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line. `html` is safe; `cut` is how many of its characters are not shown.

    `indent`: columns of its leading blanks, an even number; where it is wrapped, its rest stands deeper.
    """

    number: int
    anchor: str
    html: SafeString
    cut: int = 0
    marks: tuple[Sign, ...] = ()
    times: int = 0
    missed: bool = False
    indent: int = 0

    @property
    def state(self) -> str:
        """The class that colours the line, after its first mark that is good or bad."""
        tones = [mark.tone for mark in self.marks]
        return "is-failed" if "bad" in tones else "is-passed" if "good" in tones else ""


@dataclass(frozen=True, slots=True)
class Code:
    """A text as lines; `hidden` counts the lines that are not shown. `title` names the region.

    `whole` is the address of all of it, where there is one.
    """

    title: str
    prefix: str
    lines: tuple[Line, ...]
    hidden: int = 0
    whole: str = ""

    @property
    def is_cut(self) -> bool:
        """Whether something of the text is not shown."""
        return bool(self.hidden or any(line.cut for line in self.lines))

    @property
    def length(self) -> int:
        return len(self.lines) + self.hidden

    @property
    def has_marks(self) -> bool:
        return any(line.marks for line in self.lines)

    @property
    def has_times(self) -> bool:
        return any(line.times or line.missed for line in self.lines)


@dataclass(frozen=True, slots=True)
class Notes:
    """What an execution says about the lines of a text, by line number from 1."""

    marks: Mapping[int, tuple[Sign, ...]]
    times: Mapping[int, int]
    missed: frozenset[int] = frozenset()

    def moved_up(self) -> Notes:
        """The same of a text that lacks the first line."""
        return Notes(
            {line - 1: signs for line, signs in self.marks.items()},
            {line - 1: count for line, count in self.times.items()},
            frozenset(line - 1 for line in self.missed),
        )


NO_NOTES = Notes({}, {})


def build_line_anchor(prefix: str, line: int) -> str:
    """The id of a line on its page: `c-12` for a candidate, `t-7` for a test program."""
    return f"{prefix}-{line}"


def code_of(
    text: str,
    title: str,
    prefix: str,
    notes: Notes = NO_NOTES,
    bounds: Bounds = PAGE_BOUNDS,
    numbers: Iterable[int] | None = None,
) -> Code:
    """The text as highlighted lines, with what `notes` says of each; `numbers` are theirs in a whole text."""
    kept, cuts, hidden = within_bounds(text, bounds)
    lines = tuple(
        Line(
            number,
            build_line_anchor(prefix, number),
            line,
            cut,
            notes.marks.get(number, ()),
            notes.times.get(number, 0),
            number in notes.missed,
            indent_of(shown),
        )
        for number, line, cut, shown in zip(
            count(1) if numbers is None else numbers, highlight_code_lines(kept), cuts, kept, strict=False
        )
    )
    return Code(title, prefix, lines, hidden)


def indent_of(line: str) -> int:
    """Columns of the leading blanks, rounded down to an even number, at most DEEPEST_INDENT."""
    blanks = line[: len(line) - len(line.lstrip(" \t"))].expandtabs(TAB_COLUMNS)
    return min(len(blanks) // 2 * 2, DEEPEST_INDENT)


def within_bounds(text: str, bounds: Bounds) -> tuple[tuple[str, ...], list[int], int]:
    """(beginnings of the first lines, characters cut from each, number of lines left out).

    Lines end where Python's do, so that numbers agree with tracebacks.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    kept: list[str] = []
    cuts: list[int] = []
    start, left = 0, bounds.characters
    while start <= len(text) and len(kept) < bounds.lines and left > 0:
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        shown = min(end, start + bounds.line, start + left)
        kept.append(text[start:shown])
        cuts.append(end - shown)
        start, left = end + 1, left - (shown - start) - 1
    return tuple(kept), cuts, text.count("\n", start) + 1 if start <= len(text) else 0


@lru_cache(maxsize=128)
def highlight_code_lines(lines: tuple[str, ...]) -> tuple[SafeString, ...]:
    """Each line as safe HTML with Pygments' short classes; a token may span lines."""
    html = highlight("\n".join(lines), LEXER, FORMATTER).split("\n")[: len(lines)]
    if lines[0].startswith(BYTE_ORDER_MARK):  # the lexer would drop it unseen
        return tuple(render_untrusted_text(line) for line in lines)
    # Pygments escapes the text; only the marks of unseen characters are added to what it made.
    return tuple(mark_safe(UNSEEN.sub(render_unseen_character, line)) for line in html)  # noqa: S308


def render_untrusted_text(text: str) -> SafeString:
    """Any untrusted text as safe HTML with its unseen characters made visible."""
    return mark_safe(UNSEEN.sub(render_unseen_character, escape(text)))  # noqa: S308 (escaped first)


def render_unseen_character(found: re.Match[str]) -> str:
    return f'<span class="unseen">{code_point(found)}</span>'


def spell_unseen_characters(text: str) -> str:
    """As `render_untrusted_text`, where there can be no markup, such as a page's title; not escaped."""
    return UNSEEN.sub(code_point, text)


def code_point(found: re.Match[str]) -> str:
    return f"⟨U+{ord(found.group()):04X}⟩"


def truncate_code_text(text: str, longest: int) -> tuple[str, int]:
    """(the text's first `longest` characters, how many are left out)."""
    return text[:longest], max(0, len(text) - longest)


def first_line(code: str) -> str:
    """The line that says most about a snippet: the first that is no decorator, comment or blank."""
    lines = [line.strip() for line in code.splitlines()]
    return next((line for line in lines if line and not line.startswith(("@", "#"))), "(no code)")
