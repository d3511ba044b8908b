"""A table of figures as LaTeX that fits a page. Pure: a table in, text out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from string import ascii_lowercase
from typing import Final

from annotation.stats.agreement.figures import Figure
from annotation.studies.report.formats import (
    format_cell_words,
    format_p_value,
    format_table_notes,
    format_value,
)
from annotation.studies.report.table import Cell, Table
from retrieval.texts.latex import escape_latex

ROWS: Final = 25
"""As many lines as one page holds; a longer table goes on in another one."""
NEEDS: Final = "% \\usepackage[T1]{fontenc} \\usepackage{booktabs,graphicx}\n"
FIT: Final = r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%"


def as_latex(table: Table) -> str:
    """One booktabs table, or several where it is long; every text is escaped, none is wider than a page."""
    pieces = [table.rows[first : first + ROWS] for first in range(0, len(table.rows), ROWS)] or [()]
    return NEEDS + "\n".join(format_latex_float(table, rows, place == 0) for place, rows in enumerate(pieces))


def format_latex_float(table: Table, rows: Sequence[Sequence[Cell]], first: bool) -> str:
    """Some rows of a table as a float; reasons stand below it, as a cell has no room for them."""
    whole = (
        rf"{escape_latex(format_table_notes(table))}}}\label{{tab:{table.key}}}" if first else "Continued.}"
    )
    notes: dict[str, str] = {}
    lines = [
        r"\begin{table*}[tp]\centering\small",
        rf"\caption{{{escape_latex(table.title)}. {whole}",
        FIT,
        rf"\begin{{tabular}}{{{format_column_alignment(table)}}}\toprule",
        " & ".join(map(escape_latex, table.columns)) + r" \\ \midrule",
        *(" & ".join(map(format_latex_cell, table.columns, row, repeat(notes))) + r" \\" for row in rows),
        r"\bottomrule\end{tabular}}",
        *(
            rf"\par{{\footnotesize {format_note_mark(sign)} {escape_latex(why)}}}"
            for why, sign in notes.items()
        ),
        r"\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def format_column_alignment(table: Table) -> str:
    """Words to the left, all else to the right."""
    worded = (all(isinstance(row[place], str) for row in table.rows) for place in range(len(table.columns)))
    return "".join("l" if place == 0 or texts else "r" for place, texts in enumerate(worded))


def format_latex_cell(column: str, one: Cell, notes: dict[str, str]) -> str:
    """A figure with its interval below it, or with the sign of the note that says why there is none.

    Braces keep a name that begins with a bracket from being taken for an option of the line before.
    """
    if not isinstance(one, Figure):
        return (
            f"{{}}{escape_latex(format_p_value(one) if column.startswith('p') else format_cell_words(one))}"
        )
    value = "--" if one.value is None else escape_latex(format_value(one.value))
    if one.low is None or one.high is None:
        return value + (
            format_note_mark(notes.setdefault(one.words, format_note_sign(len(notes)))) if one.words else ""
        )
    ends = escape_latex(f"[{format_value(one.low)}, {format_value(one.high)}]")
    return rf"\begin{{tabular}}[t]{{@{{}}r@{{}}}}{value}\\{{\scriptsize {ends}}}\end{{tabular}}"


def format_note_sign(place: int) -> str:
    """a, b … z, then aa: which note it is."""
    return ascii_lowercase[place % 26] * (place // 26 + 1)


def format_note_mark(sign: str) -> str:
    return rf"\textsuperscript{{{sign}}}"
