"""Texts of others inside LaTeX, and a reference to something published here as BibTeX."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Final

LATEX: Final = str.maketrans(
    {
        "\n": " ",  # an empty line would end a title or a caption in its middle
        "\r": " ",  # what forms send at the end of each line
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "−": r"$-$",
        "½": r"$\frac{1}{2}$",
        "⁺": r"$^+$",
        "’": "'",
        "‘": "`",
        "“": "``",
        "”": "''",
        "–": "--",
        "—": "---",
        "…": r"\ldots{}",
        "≥": r"$\geq$",
        "≤": r"$\leq$",
        "α": r"$\alpha$",
        "ε": r"$\varepsilon$",
        "�": "?",
    }
)
KNOWN: Final = frozenset(
    [*map(chr, range(0x20, 0x7F)), "\n", "\t", *map(chr, range(0xA0, 0x17F))]
) - frozenset("ĦħĸĿŀŉŦŧ")
"""What pdflatex has a letter for in T1: any other stops it."""


def escape_latex(text: str) -> str:
    """Text as LaTeX prints it; what pdflatex has no letter for loses its marks, or is a question mark."""
    return "".join(map(find_printable_letter, text)).translate(LATEX)


def find_printable_letter(one: str) -> str:
    """The character itself where it can be printed, else the one that it is made of."""
    if one in KNOWN or ord(one) in LATEX:
        return one
    base = unicodedata.normalize("NFD", one)[0]
    return base if base in KNOWN else "" if unicodedata.combining(one) else "?"


def format_bibtex(key: str, fields: Mapping[str, str]) -> str:
    """An entry `@misc` that BibTeX reads; `fields` are plain texts, of which empty ones are left out.

    Of `key` all but letters and digits becomes a hyphen.
    """
    named = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in key)
    width = max(map(len, fields))
    lines = [
        f"  {name:<{width}} = {{{escape_bibtex_field(name, text)}}}," for name, text in fields.items() if text
    ]
    return "\n".join([f"@misc{{{named},", *lines, "}", ""])


def escape_bibtex_field(name: str, text: str) -> str:
    """The text of one field. A second pair of braces keeps the capitals of a title."""
    escaped = escape_latex(" ".join(text.split()))
    return f"{{{escaped}}}" if name == "title" else escaped
