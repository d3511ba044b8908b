"""Figures as CSV and JSON: nothing is lost, and nothing hostile gets out."""

from __future__ import annotations

import csv
import io
import json

from annotation.stats.agreement.figures import Figure
from annotation.studies.report.formats import as_csv, format_cell_words, format_table_json
from annotation.studies.report.table import Table

HOSTILE = '=HYPERLINK("http://x") & 50 % <script>alert(1)</script> \\input{/etc/passwd} $x$'
FIGURE = Figure(0.5, 0.25, 0.75, queries=40, method="Wilson")
TABLE = Table(
    "main",
    "Accuracy & more",
    ("Annotator", "n", "Accuracy"),
    ((HOSTILE, 12, FIGURE), ("nobody", 0, Figure(None, words="there is no pair"))),
    "A note.",
    "Accuracy",
)


def test_a_figure_is_said_with_its_interval_or_why_there_is_none() -> None:
    assert format_cell_words(FIGURE) == "0.500 [0.250, 0.750]"
    assert format_cell_words(Figure(None, words="there is no pair")) == "there is no pair"
    assert format_cell_words(Figure(0.5)) == "0.500"
    assert (
        format_cell_words(None),
        format_cell_words(1234),
        format_cell_words(0.5),
        format_cell_words("so"),
    ) == ("–", "1,234", "0.500", "so")


def test_csv_has_columns_for_the_ends_and_runs_nothing() -> None:
    rows = list(csv.reader(io.StringIO(as_csv(TABLE))))
    ends = ["Accuracy", "Accuracy low", "Accuracy high", "Accuracy undefined draws", "Accuracy remark"]
    assert rows[0] == ["Annotator", "n", *ends]
    assert rows[1] == ["'" + HOSTILE, "12", "0.5", "0.25", "0.75", "0", ""]
    assert rows[2] == ["nobody", "0", "", "", "", "0", "there is no pair"]


def test_draws_without_a_value_are_counted() -> None:
    table = Table("t", "T", ("Who", "Alpha"), (("a", Figure(0.5, undefined=0.062, words="too often")),))
    rows = list(csv.DictReader(io.StringIO(as_csv(table))))
    assert rows[0]["Alpha undefined draws"] == "62" and rows[0]["Alpha remark"] == "too often"


def test_json_keeps_everything_unrounded() -> None:
    found = json.loads(format_table_json(TABLE))
    assert found["rows"][0]["Accuracy"]["low"] == 0.25
    assert found["rows"][1]["Accuracy"] == {
        "value": None, "low": None, "high": None, "undefined": 0.0, "queries": 0,
        "words": "there is no pair", "method": "",
    }  # fmt: skip


def test_columns_of_one_name_are_told_apart_by_their_place() -> None:
    table = Table("t", "T", ("Pair", "Alpha", "Alpha"), (("a", 0.1, 0.2),))
    assert json.loads(format_table_json(table))["rows"] == [["a", 0.1, 0.2]]
