"""Plots beside the tables of corpus statistics."""

from __future__ import annotations

from collections import Counter

from annotation.web.builds import paper_figures
from annotation.web.corpus.tables import build_function_section, build_relevance_section
from retrieval.corpus.languages import Functions


def test_languages_are_columns_with_their_documented_functions_inside() -> None:
    plot = build_function_section(
        [Functions("Python", 5, 20), Functions("Java", 4, 10), Functions("Go", 0, 5)]
    ).plot
    assert plot is not None
    assert [column.height for column in plot.columns] == [120.0, 60.0, 30.0]
    assert [column.height for column in plot.inner] == [30.0, 24.0, 0.0]
    assert all(
        inner.width < outer.width and outer.x < inner.x
        for outer, inner in zip(plot.columns, plot.inner, strict=True)
    )
    assert plot.names == ("Python", "Java", "Go")
    assert (plot.top, plot.name, plot.inner_name) == ("20", "functions", "with documentation")


def test_what_papers_report_adds_up_to_their_totals() -> None:
    """CoSQA⁺'s Table 6 to its 87,941 matches of 17,118 queries, CodeSearchNet's tables to their last rows."""
    counts = paper_figures.QUERIES_BY_MATCHES
    assert sum(number * queries for number, queries in counts.items()) == 87_941
    assert (sum(counts.values()), paper_figures.WITHOUT_MATCH) == (17_118, 3_486)
    documented, all_of_them = zip(*paper_figures.CODESEARCHNET.values(), strict=True)
    assert (sum(documented), sum(all_of_them)) == (2_326_976, 6_452_446)
    assert sum(map(sum, paper_figures.ANNOTATIONS.values())) == 4_026


def test_relevances_have_a_column_each_or_the_most_frequent_ones_have() -> None:
    few = build_relevance_section({"Python": Counter({-1: 2, 4: 1})}).table
    assert few.columns[1:-2] == tuple(f"Relevance {step}" for step in (-1, 0, 1, 2, 3, 4))
    assert few.rows == (("Python", 2, 0, 0, 0, 0, 1, 3, few.rows[0][-1]),)
    many = build_relevance_section({"Go": Counter({step: 1000 - step for step in range(0, 1000, 10)})}).table
    assert many.columns[1:-2] == tuple(f"Relevance {step}" for step in range(0, 120, 10))


def test_without_a_known_language_nothing_is_drawn() -> None:
    assert build_function_section([Functions("not stated", 0, 7)]).plot is None
