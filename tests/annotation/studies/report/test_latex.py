"""Figures as LaTeX: text stays text, whatever it is made of, and a table keeps to its page."""

from __future__ import annotations

import pytest

from annotation.stats.agreement.figures import Figure
from annotation.studies.report.latex import as_latex
from annotation.studies.report.table import Cell, Table
from retrieval.texts.latex import escape_latex

HOSTILE = "50 % <script> \\input{/etc/passwd} $x$"
FIGURE = Figure(0.5, 0.25, 0.75, queries=40, method="Wilson")


def table(*rows: tuple[Cell, ...], columns: tuple[str, ...] = ("Annotator", "n", "Accuracy")) -> Table:
    return Table("main", "Accuracy & more", columns, rows, "A note.")


def test_commands_in_names_are_text() -> None:
    made = as_latex(table((HOSTILE, 12, FIGURE)))
    assert r"\input{" not in made
    assert r"\textbackslash{}input\{/etc/passwd\}" in made
    assert r"Accuracy \& more. A note.}\label{tab:main}" in made


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("漢字 ½ ⁺", r"?? $\frac{1}{2}$ $^+$"),
        ("Müller — “so”…", r"Müller --- ``so''\ldots{}"),
        ("Nguyễn ơ ħ", "Nguyen o ?"),
        ("a\x07b\x85c", "a?b?c"),
        ("rule one\r\n\nrule two", "rule one   rule two"),
        ("e\N{COMBINING ACUTE ACCENT}", "e"),
    ],
)
def test_what_pdflatex_has_no_letter_for_does_not_stop_it(text: str, printed: str) -> None:
    assert escape_latex(text) == printed


def test_a_name_in_brackets_is_no_option_of_the_line_before() -> None:
    made = as_latex(table(("[a]", 1, None), ("*b", 1, None)))
    assert "\n{}[a] & " in made and "\n{}*b & " in made


def test_an_interval_stands_below_its_value() -> None:
    assert r"{@{}r@{}}0.500\\{\scriptsize [0.250, 0.750]}\end{tabular} \\" in as_latex(
        table(("a", 1, FIGURE))
    )


def test_reasons_stand_below_the_table_once_each() -> None:
    none, often = Figure(None, words="there is no pair"), Figure(0.5, undefined=0.1, words="too often")
    made = as_latex(table(("a", 0, none), ("b", 0, none), ("c", 9, often)))
    assert made.count(r"--\textsuperscript{a} \\") == 2 and made.count("there is no pair") == 1
    assert r"0.500\textsuperscript{b} \\" in made
    assert made.index(r"\end{tabular}}") < made.index("there is no pair")


def test_a_wide_table_is_made_as_wide_as_the_page() -> None:
    assert r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%" in as_latex(table())


def test_a_long_table_goes_on_in_another_one() -> None:
    made = as_latex(table(*((f"row {place}", place, None) for place in range(60))))
    assert made.count(r"\begin{table*}") == made.count(r"\end{table*}") == 3
    assert made.count(r"\label{tab:main}") == 1 and made.count("Continued.") == 2


def test_words_stand_left_and_a_small_p_is_not_0() -> None:
    made = as_latex(table(("a", "b", 0.0001), columns=("First", "Second", "p (Holm)")))
    assert r"\begin{tabular}{llr}" in made and "{}< 0.001 " in made
