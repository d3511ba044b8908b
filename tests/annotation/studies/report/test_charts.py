"""Tables as drawings: points, bars, cells, or nothing where there is nothing."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from annotation.stats.agreement.figures import Figure
from annotation.studies.report.charts import NARROW, draw_chart, draw_interval_chart, scale_of
from annotation.studies.report.downloads import formats_of
from annotation.studies.report.table import Table

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script> & more"
FIGURE = Figure(0.5, 0.25, 0.75, queries=40, method="Wilson")
TABLE = Table(
    "main",
    "Accuracy & more",
    ("Annotator", "n", "Accuracy"),
    ((HOSTILE, 12, FIGURE), ("nobody", 0, Figure(None, words="there is no pair"))),
    "A note.",
    "Accuracy",
)


def drawn(table: Table) -> ElementTree.Element:
    text = draw_chart(table)
    assert "<script" not in text
    return ElementTree.fromstring(text)


def texts(root: ElementTree.Element) -> list[str]:
    return [one.text or "" for one in root.iter(f"{SVG}text")]


def test_figures_of_several_columns_are_points_named_by_row_and_column() -> None:
    figure = Figure(0.5, 0.25, 0.75)
    rows = (
        ("easy", HOSTILE, 12, figure, Figure(None, words="there is no pair")),
        ("hard", "b", 3, figure, 0.25),
    )
    root = drawn(Table("strata", "By stratum", ("Stratum", "Annotator", "n", "Accuracy", "F1"), rows))
    assert len(root.findall(f"{SVG}circle")) == 3, "what is undefined has no point"
    assert "hard · b · F1" in texts(root)
    assert not any(text == "12" for text in texts(root))


def test_one_column_of_counts_is_bars_from_nought() -> None:
    root = drawn(Table("flow", "Flow", ("What", "How many"), ((HOSTILE, 10), ("open", 5), ("none", 0))))
    wide = [float(one.get("width", "")) for one in root.findall(f"{SVG}rect")]
    assert wide[0] == 2 * wide[1] > wide[2] == 0
    assert {"10", "5", "0"} <= set(texts(root))


def test_several_columns_of_counts_are_cells_the_fuller_the_darker() -> None:
    table = Table("confusion", "C", ("Annotator", "both", "one"), (("a", 3, 1), ("b", 0, 0), ("c", 1.5, 0.5)))
    root = drawn(table)
    assert [one.get("fill-opacity") for one in root.findall(f"{SVG}rect")][:2] == ["0.375", "0.125"]
    assert {"3", "1", "0", "both", "one", "1.500"} <= set(texts(root))


def test_columns_that_do_not_belong_into_a_drawing_stay_out_of_it() -> None:
    table = Table(
        "confusion", "C", ("Annotator", "both", "one", "open"), (("a", 3, 1, 9),), drawn=("both", "one")
    )
    root = drawn(table)
    assert [one.get("fill-opacity") for one in root.findall(f"{SVG}rect")] == ["0.375", "0.125"]
    assert not {"9", "open"} & set(texts(root))


def test_shares_without_intervals_are_points_too() -> None:
    rows = (("paper", 0.9, None, "arXiv"), ("people", 0.8, 0.5, "arXiv"))
    root = drawn(Table("reported", "R", ("Who", "Accuracy", "Alpha", "Where"), rows))
    assert len(root.findall(f"{SVG}circle")) == 3


def test_words_and_undefined_figures_draw_nothing_and_offer_no_file() -> None:
    for rows in ((("a", "at noon"),), (("a", Figure(None, words="no pair")),), (("a", None),)):
        table = Table("t", "T", ("Who", "What"), rows)
        assert draw_chart(table) == ""
        assert formats_of(table) == ("csv", "json", "tex")


def test_a_chart_is_well_formed_and_escaped() -> None:
    drawn = draw_interval_chart(TABLE)
    assert "<script" not in drawn
    root = ElementTree.fromstring(drawn)
    assert len(root.findall("{http://www.w3.org/2000/svg}circle")) == 1
    assert draw_interval_chart(Table("t", "T", ("A", "B"), (("a", 1),))) == ""


def test_a_narrow_chart_says_the_same_and_keeps_within_its_frame() -> None:
    narrow = draw_interval_chart(TABLE, NARROW)
    assert sorted(texts(ElementTree.fromstring(narrow))) == sorted(
        texts(ElementTree.fromstring(draw_interval_chart(TABLE)))
    )
    root = ElementTree.fromstring(narrow)
    wide = float(root.get("viewBox", "").split()[2])
    names = "x", "x1", "x2", "cx"
    places = [float(one.get(name, "0")) for one in root.iter() for name in names]
    assert wide < 340 and all(0 <= place <= wide for place in places)


def test_rows_of_a_chart_are_told_apart_by_all_that_names_them() -> None:
    long = "test-driven agents, some-large-model (baa0e381)"
    rows = tuple((long, other, 9, FIGURE) for other in ("own tests", "reading"))
    drawn = draw_interval_chart(
        Table("t", "T", ("First", "Second", "n", "Difference"), rows, charted="Difference")
    )
    assert "test-driven agents, some-large-… · own tests<" in drawn
    assert "test-driven agents, some-large-mo… · reading<" in drawn


@pytest.mark.parametrize(
    ("figures", "signed", "scale"),
    [
        ([Figure(0.9, 0.8, 0.95)], False, (0.0, 1.0)),
        ([Figure(0.9, 0.8, 0.95)], True, (-1.0, 1.0)),
        ([Figure(0.9, 0.8, 0.95), Figure(0.1, -0.05, 0.2)], False, (-1.0, 1.0)),
        ([Figure(-1.5, -2.0, 1.25)], True, (-2.0, 1.25)),
    ],
)
def test_charts_share_their_scales(figures: list[Figure], signed: bool, scale: tuple[float, float]) -> None:
    assert scale_of(figures, signed) == scale


def test_zero_is_marked_where_the_scale_goes_below_it() -> None:
    table = Table("t", "T", ("A", "B"), (("a", Figure(0.0, -0.5, 0.5)),), charted="B")
    root = ElementTree.fromstring(draw_interval_chart(table))
    marked = [one for one in root.iter(f"{SVG}line") if one.get("stroke-dasharray")]
    dot = next(root.iter(f"{SVG}circle"))
    assert [one.get("x1") for one in marked] == [dot.get("cx")]
    assert not [
        one
        for one in ElementTree.fromstring(draw_interval_chart(TABLE)).iter()
        if one.get("stroke-dasharray")
    ]


def test_what_has_no_figure_has_no_chart() -> None:
    assert draw_interval_chart(Table("t", "T", ("A", "B"), (("a", Figure(None)),), charted="B")) == ""
