"""Numbers of things in words."""

from __future__ import annotations


def count_noun(number: int, noun: str, several: str = "") -> str:
    """The number with its noun; `several` is the plural of a noun that has more than an s.

    >>> counted(1, "snippet"), counted(1200, "query", "queries")
    ('1 snippet', '1,200 queries')
    """
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"


def verb_for_count(number: int) -> str:
    """The verb that goes with so many.

    >>> are(1), are(2)
    ('is', 'are')
    """
    return "is" if number == 1 else "are"
