"""Figures as CSV, JSON and SVG: nothing is lost, and nothing hostile gets out."""

from __future__ import annotations

import csv
import io
import json
from xml.etree import ElementTree

from annotation.agreement import Figure
from annotation.studies.formats import NARROW, as_csv, as_json, as_svg, words
from annotation.studies.table import Table

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
    assert words(FIGURE) == "0.500 [0.250, 0.750]"
    assert words(Figure(None, words="there is no pair")) == "there is no pair"
    assert words(Figure(0.5)) == "0.500"
    assert (words(None), words(1234), words(0.5), words("so")) == ("–", "1,234", "0.500", "so")


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
    found = json.loads(as_json(TABLE))
    assert found["rows"][0]["Accuracy"]["low"] == 0.25
    assert found["rows"][1]["Accuracy"] == {
        "value": None, "low": None, "high": None, "undefined": 0.0, "queries": 0,
        "words": "there is no pair", "method": "",
    }  # fmt: skip


def test_columns_of_one_name_are_told_apart_by_their_place() -> None:
    table = Table("t", "T", ("Pair", "Alpha", "Alpha"), (("a", 0.1, 0.2),))
    assert json.loads(as_json(table))["rows"] == [["a", 0.1, 0.2]]


def test_a_chart_is_well_formed_and_escaped() -> None:
    drawn = as_svg(TABLE)
    assert "<script" not in drawn
    root = ElementTree.fromstring(drawn)
    assert len(root.findall("{http://www.w3.org/2000/svg}circle")) == 1
    assert as_svg(Table("t", "T", ("A", "B"), (("a", 1),))) == ""


def test_a_narrow_chart_says_the_same_and_keeps_within_its_frame() -> None:
    def texts(drawn: str) -> list[str]:
        root = ElementTree.fromstring(drawn)
        return sorted(one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}text"))

    narrow = as_svg(TABLE, NARROW)
    assert texts(narrow) == texts(as_svg(TABLE))
    root = ElementTree.fromstring(narrow)
    wide = float(root.get("viewBox", "").split()[2])
    names = "x", "x1", "x2", "cx"
    places = [float(one.get(name, "0")) for one in root.iter() for name in names]
    assert wide < 340 and all(0 <= place <= wide for place in places)


def test_rows_of_a_chart_are_told_apart_by_all_that_names_them() -> None:
    long = "test-driven agents, some-large-model (baa0e381)"
    rows = tuple((long, other, 9, FIGURE) for other in ("own tests", "reading"))
    drawn = as_svg(Table("t", "T", ("First", "Second", "n", "Difference"), rows, charted="Difference"))
    assert "test-driven agents, some-large-… · own tests<" in drawn
    assert "test-driven agents, some-large-mo… · reading<" in drawn


def test_what_has_no_figure_has_no_chart() -> None:
    assert as_svg(Table("t", "T", ("A", "B"), (("a", Figure(None)),), charted="B")) == ""
