"""The papers' tables next to a leaderboard: those of which a metric is measured, with our figures."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from annotation.web.benchmarks.reported_tables import build_reported_tables, format_printed


def board(*metrics: str, system: str = "bow", text: str = "whole", value: float = 0.5) -> Any:
    """A leaderboard of one system that has this value by every metric."""
    figures = {metric: SimpleNamespace(value=value) for metric in metrics}
    run = SimpleNamespace(system=system, text_option=text)
    return SimpleNamespace(metrics=metrics, standings=[SimpleNamespace(run=run, figures=figures)])


@pytest.mark.parametrize(
    ("metrics", "keys"),
    [
        ((), []),
        (("map@10",), []),
        (("mrr",), ["reported-agents-4", "reported-first-5"]),
        (("mmrr",), ["reported-first-5"]),
        (("ndcg@10",), ["reported-agents-4"]),
        (("mrr_distractors:7",), ["reported-codesearchnet-3-mrr-distractors"]),
        (
            ("ndcg_within", "ndcg_all"),
            ["reported-codesearchnet-4-ndcg-within", "reported-codesearchnet-4-ndcg-all"],
        ),
    ],
)
def test_a_table_is_there_if_one_of_its_metrics_is_measured(
    metrics: tuple[str, ...], keys: list[str]
) -> None:
    assert [table.key for table in build_reported_tables(board(*metrics))] == keys


def test_ours_stands_in_the_row_of_the_system_of_that_name() -> None:
    table = build_reported_tables(board("mmrr", "mrr"))[1]
    assert table.title == "As reported: CoSQA+, first paper, Table 5"
    assert table.columns == ("system", "mmrr, as reported", "mrr, as reported", "mmrr, here", "mrr, here")
    assert table.rows[:2] == (("Lucene", 0.117, 0.167, None, None), ("BoW", 0.041, 0.065, 0.5, 0.5))


def test_a_run_over_a_part_of_the_text_is_not_ours() -> None:
    table = build_reported_tables(board("mmrr", text="without docstring"))[0]
    assert {row[-1] for row in table.rows} == {None}


def test_a_table_by_language_has_a_column_a_language_and_ours_over_all() -> None:
    [table] = build_reported_tables(board("ndcg_within", system="nbow"))
    assert table.columns[1:3] == ("Go, as reported", "Java, as reported")
    assert table.columns[-2:] == ("mean, as reported", "ndcg_within, here")
    assert table.rows[1] == ("NBoW", 0.591, 0.500, 0.556, 0.536, 0.582, 0.680, 0.574, 0.5)


def test_numbers_have_the_digits_that_the_paper_prints() -> None:
    assert [format_printed(cell) for cell in ("BoW", 0.23, 0.6409, None)] == ["BoW", "0.230", "0.6409", "–"]
