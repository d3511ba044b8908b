"""The tables of trained systems as files and pages have them."""

from __future__ import annotations

import pytest

from annotation.stats.agreement.figures import Figure
from annotation.web.training.tables import build_trained_tables, list_table_warnings
from retrieval.evaluation.trained_systems import compare_trained_systems
from tests.retrieval.evaluation.test_trained_systems import QUERIES, make_run
from tests.retrieval.training.test_benchmark_data import make_benchmark

pytestmark = pytest.mark.django_db


def test_differences_of_a_system_have_intervals_and_p_values() -> None:
    made = make_benchmark()
    make_run(made, [0.2] * QUERIES, None)
    for level in (0.4, 0.6):
        make_run(made, [level] * QUERIES, {})
    figures, differences, reported = build_trained_tables(compare_trained_systems(made, "collection", "mrr"))
    assert [row[:2] for row in figures.rows] == [("codebert", "none"), ("codebert", "plus@1, 100 pairs")]
    row = differences.rows[0]
    assert row[:2] == ("codebert", "plus@1, 100 pairs − none")
    # The seeds' mean is 0.5 for each query: 0.5 − 0.2.
    assert isinstance(row[2], Figure) and row[2].value == pytest.approx(0.3)
    assert row[3] == pytest.approx(0.0002)
    here = {row[-1] for row in reported.rows if row[1] == "CodeBERT"}
    assert here == {"mrr 0.200", "1 training above"}


def test_what_makes_figures_doubtful_is_named() -> None:
    made = make_benchmark()
    make_run(made, [0.4] * QUERIES, {"stopped": "by time", "asked": [0]})
    make_run(made, [0.1] * QUERIES, {"group": "shuffled", "shuffled": True, "pairs": 90})
    told = list_table_warnings(compare_trained_systems(made, "collection"))
    assert told == [
        "1 query was asked in a training, and left out here for all systems.",
        "codebert, plus@1, 100 pairs: 1 training stopped by time.",
        "codebert, plus@1, 100 pairs: 1 seed; train at least 3.",
        "codebert, plus@1, shuffled labels, 90 pairs: 1 seed; train at least 3.",
        (
            "codebert, plus@1, shuffled labels, 90 pairs: no training on as many pairs with their own labels "
            "is here to compare."
        ),
    ]


def test_shuffled_labels_of_the_same_size_need_no_warning() -> None:
    made = make_benchmark()
    for seed in range(3):
        make_run(made, [0.4] * QUERIES, {"seed": seed})
        make_run(made, [0.1] * QUERIES, {"group": "shuffled", "shuffled": True, "seed": seed})
    assert list_table_warnings(compare_trained_systems(made, "collection")) == []
