"""`score` over dicts and data frames gives what `evaluate-files` gives of the same lists as files."""

from __future__ import annotations

import io
import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from cosqa import Scores, score
from cosqa.scoring import DEFAULT

LABELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"d": 1}, "q3": {"e": 0}}
RUN = {"q1": ["b", "a", "x", "c"], "q2": ["d"], "q4": ["a"]}


class Frame:
    """What pandas and polars have in common: columns by name."""

    def __init__(self, **columns: list[Any]) -> None:
        self.columns, self.values = list(columns), columns

    def __getitem__(self, name: str) -> list[Any]:
        return self.values[name]


def test_reciprocal_ranks_and_who_is_counted() -> None:
    found = score(RUN, LABELS, ["mrr", "recall@2"])
    assert found["mrr"] == (1 / 2 + 1) / 2
    assert found.by_query["q1"] == {"mrr": 0.5, "recall@2": 0.5}
    assert found.by_query["q3"] == {"mrr": None, "recall@2": None}
    counts = (found.scored, found.without_match, found.without_results, found.not_judged)
    assert counts == (2, 1, 0, 1)


def test_a_judged_query_without_results_scores_0() -> None:
    found = score({"q1": ["a"]}, LABELS, ["mrr"])
    assert (found["mrr"], found.without_results) == ((1 + 0) / 2, 1)


def test_labels_without_any_match_have_no_mean() -> None:
    assert score({"q3": ["e"]}, {"q3": {"e": 0}}, ["mrr"])["mrr"] is None


def test_scores_order_documents_and_equal_ones_keep_their_order() -> None:
    by_score = score({"q1": {"c": 0.5, "a": 2.0, "b": 0.5}}, {"q1": {"b": 1}}, ["mrr"])
    assert by_score["mrr"] == 1 / 3, "a, c, b"


def test_data_frames_are_read_by_their_columns() -> None:
    run = Frame(query=["q1", "q1", "q2"], document=["b", "a", "d"], score=[3.0, 2.0, 1.0])
    labels = Frame(query=["q1", "q2"], document=["a", "d"], relevance=[1, 1])
    assert score(run, labels, ["mrr"])["mrr"] == (1 / 2 + 1) / 2


def test_the_same_as_of_files_to_the_last_digit(tmp_path: Path) -> None:
    draw = random.Random(7)
    documents = [f"d{number}" for number in range(40)]
    labels = {f"q{n}": {d: draw.choice([0, 0, 1, 2]) for d in draw.sample(documents, 12)} for n in range(30)}
    run = {
        f"q{n}": {d: draw.choice([0.5, 1, 2, 3.25]) for d in draw.sample(documents, 20)} for n in range(33)
    }
    for name, content in (("qrels", labels), ("run", run)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    told = io.StringIO()
    files = {"qrels": tmp_path / "qrels.json", "run": tmp_path / "run.json"}
    call_command("evaluate-files", **files, metrics=",".join(DEFAULT), json=True, stdout=told)
    expected = json.loads(told.getvalue())
    found = score(run, labels)
    assert found.means == {name: expected[name] for name in DEFAULT}
    assert vars_of(found) == expected["queries"]


def vars_of(found: Scores) -> dict[str, int]:
    return {
        name: getattr(found, name) for name in ("scored", "without_match", "without_results", "not_judged")
    }


@pytest.mark.parametrize(
    ("run", "labels", "metrics", "words"),
    [
        ({"x": ["a"]}, LABELS, ["mrr"], "No query of the run has labels: 'x' against 'q1', 'q2', 'q3'"),
        ({"q1": ["a", "a"]}, LABELS, ["mrr"], "'q1' has a document twice"),
        ({"q1": "ab"}, LABELS, ["mrr"], "a text where a list"),
        ({"q1": {"a": math.nan}}, LABELS, ["mrr"], "can't be ordered"),
        ({"q1": {"a": "much"}}, LABELS, ["mrr"], "'much' is no number"),
        (RUN, {"q1": {"a": math.inf}}, ["mrr"], "can't be ordered"),
        (RUN, LABELS, ["ndgc@10"], "there is no metric 'ndgc@10'"),
        (RUN, LABELS, [], "no metric is named"),
        (RUN, LABELS, ["distinct_matches@5"], "needs groups of near-duplicates: use 'cosqa evaluate'"),
        (RUN, LABELS, ["mrr_distractors"], "needs distractors"),
        (Frame(query=["q1"], document=["a"]), LABELS, ["mrr"], "no column score; it has"),
        (Frame(query=["q1"] * 2, document=["a"] * 2, score=[1, 2]), LABELS, ["mrr"], "'a' twice"),
    ],
)
def test_what_can_not_be_scored_is_refused_with_its_reason(
    run: Any, labels: Any, metrics: list[str], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        score(run, labels, metrics)
