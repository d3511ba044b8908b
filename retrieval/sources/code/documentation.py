"""What of a function's documentation can stand for a query, as in CodeSearchNet (arXiv 1909.09436, §2)."""

from __future__ import annotations

import re

FEWEST_WORDS = 3
WORD = re.compile(r"\w+")
BLANK_LINE = re.compile(r"\n[ \t]*\n")
TAGS = re.compile(r"^[ \t]*[@:]\w", re.MULTILINE)
"""`@param` of Javadoc, `:param` of reStructuredText: what follows describes parameters, not the function."""


def first_paragraph(documentation: str) -> str:
    """The text before the first blank line or the first tag, on one line.

    >>> first_paragraph("Sort a list\\n  of names.\\n\\nLonger story.")
    'Sort a list of names.'
    """
    before_tags = TAGS.split(documentation.replace("\r\n", "\n").strip(), maxsplit=1)[0]
    return " ".join(BLANK_LINE.split(before_tags.strip(), maxsplit=1)[0].split())


def worth_asking(paragraph: str) -> bool:
    """Whether a paragraph has the three words that make it say something."""
    return len(WORD.findall(paragraph)) >= FEWEST_WORDS
