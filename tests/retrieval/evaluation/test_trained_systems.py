"""Trained systems beside each other: means over seeds, spread, differences, what is left out."""

from __future__ import annotations

import base64
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from retrieval.evaluation.memory import hash_without_seed, unpack_seen
from retrieval.evaluation.trained_systems import average_seeds, compare_trained_systems
from retrieval.models import Benchmark, Run, Score
from tests.retrieval.training.test_benchmark_data import make_benchmark

QUERIES = 20
numbers = count(1)


def make_run(
    benchmark: Benchmark, values: list[float], trained: dict[str, Any] | None, metric: str = "mrr"
) -> Run:
    """A run with these values of its queries; without `trained` one of the weights before."""
    number = next(numbers)
    options: dict[str, Any] = {"identities": ["codebert;weights=old"]}
    if trained is not None:
        seen = np.zeros(QUERIES, dtype=bool)
        seen[trained.pop("asked", [])] = True
        packed = base64.b64encode(np.packbits(seen).tobytes()).decode()
        usual = {
            "hash": f"hash {number}",
            "group": "plus",
            "system": "codebert",
            "start": "codebert;weights=old",
            "learned": "plus@1",
            "shuffled": False,
            "pairs": 100,
            "seed": number,
            "stopped": "",
            "seen": packed,
            "functions": 0,
        }
        options = {"identities": [f"codebert;weights={number}"], "trained": usual | trained}
    run = Run.objects.create(
        benchmark=benchmark,
        system=f"codebert:/{number}",
        encoders=["codebert"],
        options=options,
        text_option="whole",
        pool="collection",
        digest=f"{number:064x}",
    )
    data = np.array(values, dtype="<f8").tobytes()
    Score.objects.create(run=run, metric=metric, values=data, condensed=data, judged=data)
    return run


@pytest.mark.django_db
def test_a_row_is_the_mean_over_seeds_and_queries_with_the_spread_of_the_seeds() -> None:
    made = make_benchmark()
    for level in (0.2, 0.4, 0.6):
        make_run(made, [level] * 10 + [1.0] * 10, {})
    row = compare_trained_systems(made, "collection").rows[0]
    figure = row.figures["mrr"]
    # Seeds: (0.2 + 1) / 2 = 0.6, 0.7, 0.8; their mean is 0.7, their standard deviation 0.1.
    assert figure.value == pytest.approx(0.7)
    assert figure.seeds == pytest.approx([0.6, 0.7, 0.8])
    assert figure.spread == pytest.approx(0.1)
    assert figure.interval is not None and figure.interval.low < 0.7 < figure.interval.high


@pytest.mark.django_db
def test_rows_stand_from_untrained_to_shuffled_and_each_two_are_compared() -> None:
    made = make_benchmark()
    make_run(made, [0.3] * QUERIES, None)
    make_run(made, [0.9] * QUERIES, {})
    make_run(made, [0.5] * QUERIES, {"group": "shuffled", "shuffled": True})
    make_run(made, [0.7] * QUERIES, {"group": "cosqa", "learned": "cosqa@1"})
    found = compare_trained_systems(made, "collection")
    assert [row.title for row in found.rows] == [
        "none",
        "cosqa@1, 100 pairs",
        "plus@1, 100 pairs",
        "plus@1, shuffled labels, 100 pairs",
    ]
    assert [round(one.value, 1) for one in found.differences] == [0.4, 0.6, 0.2, 0.2, -0.2, -0.4]
    # All 20 queries agree, so that hardly any flip of signs is as far from 0: p is 0.0002, times 6 by Holm.
    assert all(one.p == pytest.approx(0.0012) for one in found.differences)


@pytest.mark.django_db
def test_queries_that_any_training_asked_are_left_out_for_all() -> None:
    made = make_benchmark()
    make_run(made, [1.0] * 5 + [0.5] * 15, {"asked": [0, 1, 2], "functions": 7})
    make_run(made, [1.0] * 5 + [0.1] * 15, {"group": "other", "learned": "other@1", "asked": [3, 4]})
    found = compare_trained_systems(made, "collection")
    assert (found.queries, found.left_out) == (15, 5)
    assert [row.figures["mrr"].value for row in found.rows] == pytest.approx([0.1, 0.5])
    assert [row.functions for row in found.rows] == [0, 7]


@pytest.mark.django_db
def test_where_all_queries_were_asked_there_is_no_figure() -> None:
    made = make_benchmark()
    make_run(made, [1.0] * QUERIES, {"asked": list(range(QUERIES))})
    found = compare_trained_systems(made, "collection")
    assert (found.queries, found.left_out, found.metrics) == (0, QUERIES, [])
    assert not found.rows[0].figures and not found.differences


@pytest.mark.django_db
def test_the_newest_run_of_a_seed_counts_and_other_systems_do_not() -> None:
    made = make_benchmark()
    make_run(made, [0.1] * QUERIES, {"hash": "same", "seed": 1})
    make_run(made, [0.9] * QUERIES, {"hash": "same", "seed": 1})
    bm25 = make_run(made, [0.4] * QUERIES, None)
    Run.objects.filter(pk=bm25.pk).update(options={"identities": ["bm25"]})
    found = compare_trained_systems(made, "collection")
    assert [row.seeds for row in found.rows] == [[1]]
    assert found.rows[0].figures["mrr"].value == pytest.approx(0.9)
    assert found.rows[0].figures["mrr"].spread is None


@given(arrays(float, (3, 7), elements=st.floats(0, 1)))
def test_the_order_of_seeds_changes_nothing(table: Any) -> None:
    means, figure = average_seeds(table)
    turned, same = average_seeds(table[::-1])
    np.testing.assert_allclose(means, turned, atol=1e-12)
    assert figure.value == pytest.approx(same.value) == pytest.approx(table.mean())
    assert figure.spread == pytest.approx(same.spread)


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_bits_come_back(seen: list[bool]) -> None:
    packed = base64.b64encode(np.packbits(np.array(seen)).tobytes()).decode()
    assert unpack_seen(packed, len(seen)).tolist() == seen


def test_the_seed_and_the_drawn_texts_alone_make_no_other_group() -> None:
    card: dict[str, Any] = {
        "system": "nbow",
        "start": "random weights",
        "data": {"benchmark": "plus@1", "texts": "1"},
        "settings": {"seed": 1, "epochs": 3},
    }
    other = {**card, "data": {"benchmark": "plus@1", "texts": "2"}, "settings": {"seed": 2, "epochs": 3}}
    assert hash_without_seed(card) == hash_without_seed(other)
    assert hash_without_seed({**card, "settings": {"seed": 1, "epochs": 4}}) != hash_without_seed(card)
