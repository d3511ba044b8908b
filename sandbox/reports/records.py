"""Reads single records of the harness: assertions, the exception that ended something.

A program may have written any of it: what has another form raises ValueError, TypeError or LookupError.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sandbox.reports.report import Assertion, Frame, OwnWord, Raised
from sandbox.reports.texts import escape_unstorable_text, shorten_identifier

Record = tuple[Any, ...]
End = tuple[Any, ...]
"""Exception, totals, redefined, signs, lines reached, lines missed, truncated, calls made."""
NO_END: End = (None, (), False, (), (), (), True, 0)


def assertions_of(records: Iterable[Record], totals: Iterable[int]) -> Iterator[Assertion]:
    """The assertions, each with how often it was evaluated alike."""
    counts = iter(totals)
    for line, source, passed, left, right, touched, calls, case, own_word in records:
        yield Assertion(
            line=int(line),
            source=escape_unstorable_text(source),
            passed=bool(passed),
            left=_text_or_none(left),
            right=_text_or_none(right),
            touched=bool(touched),
            count=int(next(counts, 1)),
            calls=tuple(map(int, calls)),
            case=escape_unstorable_text(case),
            own_word=OwnWord(own_word),
        )


def raised_of(ending: Mapping[str, Any] | None) -> Raised | None:
    """The exception, with its frames; None where there was none."""
    if ending is None:
        return None
    frames = tuple(
        Frame(
            shorten_identifier(place), int(line), shorten_identifier(function), escape_unstorable_text(source)
        )
        for place, line, function, source in ending["frames"]
    )
    return Raised(shorten_identifier(ending["type"]), escape_unstorable_text(ending["message"]), frames)


def find_raising_place(ending: Mapping[str, Any]) -> str:
    """The place in which it was raised: program, candidate or library."""
    return str(ending["frames"][-1][0]) if ending["frames"] else "program"


def has_failed(ending: Mapping[str, Any], failed: bool) -> bool:
    """Whether an exception is the program's judgement; `failed`: one of its assertions did not hold."""
    if ending["kind"] == "AssertionError":
        return failed or find_raising_place(ending) != "candidate"
    return ending["kind"] == "SystemExit" and failed


def _text_or_none(value: object) -> str | None:
    return None if value is None else escape_unstorable_text(str(value))
