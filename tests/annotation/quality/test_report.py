"""The figures of the bench, each with the sum that it is; and laws that hold for any labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.quality.answers import SCREENED, TESTED, Answer, Answering, BenchEntry, BenchPair, Spent
from annotation.quality.confusion import ConfusionRow
from annotation.quality.differences import compare_all_annotators
from annotation.quality.ground import Ground, NothingToMeasure
from annotation.quality.inputs.files import Truth
from annotation.quality.report import Report, build_bench_report
from annotation.quality.scores import Score

PAIRS = tuple(BenchPair(name, f"query {number // 2}") for number, name in enumerate("abcdefgh"))
"""Four queries with two pairs each."""
TRUTH = Truth({"a": 1, "b": 1, "c": 1, "d": 0, "e": 0, "f": 0}, frozenset("g"), frozenset("h"))


def screened(label: int | None, **more: Any) -> Answer:
    defaults: dict[str, Any] = {"decided": "screening: match" if label else "screening: no match"}
    return Answer(label, False, **{**defaults, **more})


def ran(label: int | None, outcome: str = "passed", **more: Any) -> Answer:
    defaults = {"ran": True, "touched": True, "decided": "arbitrating: accepted"}
    return Answer(label, True, outcome=outcome, **{**defaults, **more})


AGENTS = {
    "a": screened(1),
    "b": ran(1),
    "c": ran(0, "failed"),
    "d": screened(0),
    "e": ran(1, touched=False),
    "f": ran(None, "errored", ran=False, touched=False, cause="unusable", decided="arbitrating: gave up"),
    "g": screened(1),
}
"""Right: a, b, d; wrong: c, e; unjudged: f; no truth: g; not asked: h."""


def entry(name: str, *answerings: Mapping[str, Answer]) -> BenchEntry:
    return BenchEntry(
        name, tuple(Answering(f"{name} {number}", answers) for number, answers in enumerate(answerings, 1))
    )


def labels(**said: int | None) -> dict[str, Answer]:
    return {pair: Answer(label) for pair, label in said.items()}


def made(*entries: BenchEntry, truth: Truth = TRUTH, pairs: tuple[BenchPair, ...] = PAIRS) -> Report:
    return build_bench_report(pairs, truth, entries)


def score(found: Report, name: str, stratum: str = "all") -> Score:
    rows = [row for one in found.entries for row in (*one.scores, *one.each)]
    return next(row for row in rows if (row.name, row.stratum) == (name, stratum))


def test_counts_say_what_was_measured() -> None:
    found = made(entry("agents", AGENTS)).counts
    assert (found.pairs, found.queries, found.known, found.matches) == (8, 4, 6, 3)
    assert (found.split, found.open) == (1, 1)


def test_scores_are_the_sums_of_a_small_example() -> None:
    row = score(made(entry("agents", AGENTS)), "agents")
    assert (row.pairs, row.judged, row.unjudged, row.open) == (6, 5, 1, 0)
    assert row.accuracy.value == pytest.approx(3 / 5)  # a, b, d of a to e
    assert row.precision.value == pytest.approx(2 / 3)  # a, b of a, b, e
    assert row.recall.value == pytest.approx(2 / 3)  # a, b of a, b, c
    assert row.f1.value == pytest.approx(2 / 3)  # 2 × 2 ÷ (2 × 2 + 1 + 1)
    assert row.accuracy_unjudged_wrong.value == pytest.approx(3 / 6)  # f counts as wrong
    assert (row.confusion.both, row.confusion.only_annotator) == (2, 1)
    assert (row.confusion.only_reference, row.confusion.neither) == (1, 1)


def test_stages_are_each_annotators_own_where_the_file_fixes_none() -> None:
    found = made(entry("agents", AGENTS), entry("others", labels(a=1, b=1)))
    assert (found.strata, found.fixed) == (("all", SCREENED, TESTED), False)
    assert score(found, "agents", SCREENED).accuracy.value == 1  # a, d
    assert score(found, "agents", TESTED).accuracy.value == pytest.approx(1 / 3)  # b of b, c, e
    assert score(found, "agents", TESTED).unjudged == 1
    assert score(found, "others", TESTED).pairs == 0, "nobody knows what they tested"


def test_strata_of_the_file_are_the_same_for_all() -> None:
    pairs = tuple(replace(pair, stratum=TESTED if pair.id in "ab" else "rest") for pair in PAIRS)
    found = made(entry("agents", AGENTS), entry("others", labels(a=0, b=1, c=1)), pairs=pairs)
    assert (found.strata, found.fixed) == (("all", "rest", TESTED), True)
    assert score(found, "agents", TESTED).accuracy.value == 1  # a, b, though a was screened
    assert score(found, "others", TESTED).accuracy.value == pytest.approx(1 / 2)


def test_several_answerings_are_told_apart_and_as_their_mean() -> None:
    found = made(entry("two", labels(a=1, b=1, c=1, d=1), labels(a=1, b=0, c=None, d=0)))
    assert score(found, "two 1").accuracy.value == pytest.approx(3 / 4)
    assert score(found, "two 2").accuracy.value == pytest.approx(2 / 3)
    # a: 1, b: ½, c: 1 (judged once), d: ½
    assert score(found, "two").accuracy.value == pytest.approx(3 / 4)
    assert (score(found, "two").judged, score(found, "two").unjudged) == (3.5, 0.5)
    # c: ½, as one of two did not judge it
    assert score(found, "two").accuracy_unjudged_wrong.value == pytest.approx(2.5 / 4)


def test_asked_again_the_share_of_equal_labels_is_told() -> None:
    first = {"a": screened(1), "b": ran(1), "c": ran(0), "h": screened(0)}
    second = {"a": screened(1), "b": ran(0), "c": screened(0), "h": screened(None)}
    rows = made(entry("two", first, second)).entries[0].repeats
    found = {row.stratum: (row.pairs, row.equal.value) for row in rows}
    assert found["all"] == (3, 2 / 3)  # a, c of a, b, c; truth or not
    assert found[SCREENED] == (1, 1)  # a
    assert found[TESTED] == (2, 1 / 2)  # c of b, c: tested by either


def test_each_two_are_compared_over_the_pairs_that_both_judged() -> None:
    found = made(entry("agents", AGENTS), entry("others", labels(a=0, b=0, c=0, d=0, e=0, f=0, g=0)))
    row = next(row for row in found.differences if row.stratum == "all")
    # a, b only the agents; e only the others; c, d both alike; f was not judged by the agents
    assert (row.pairs, row.first_alone, row.second_alone) == (5, 2, 1)
    assert row.difference.value == pytest.approx((2 - 1) / 5)
    assert row.exact_p == 1  # 2 to 1: P(at most 1 of 3) × 2 = 1
    tested_by_either = next(row for row in found.differences if row.stratum == TESTED)
    assert (tested_by_either.pairs, tested_by_either.difference.value) == (3, 0)  # b, c, e


def test_the_exact_test_is_the_binomial_one() -> None:
    pairs = tuple(BenchPair(str(number), str(number)) for number in range(6))
    truth = Truth({pair.id: 1 for pair in pairs}, frozenset(), frozenset())
    ones, zeros = ({pair.id: Answer(value) for pair in pairs} for value in (1, 0))
    row = made(entry("one", ones), entry("other", zeros), truth=truth, pairs=pairs).differences[0]
    assert row.exact_p == pytest.approx(2 / 2**6)


def test_confusion_is_told_by_outcome_decision_and_cause() -> None:
    found = made(entry("agents", AGENTS)).entries[0].confusions
    assert set(found["outcome"]) == {
        ConfusionRow("passed", 1, 1, 0, 0, 0),  # b; e
        ConfusionRow("failed", 0, 0, 1, 0, 0),  # c
        ConfusionRow("errored", 0, 0, 0, 0, 1),  # f
        ConfusionRow("no run", 1, 0, 0, 1, 0),  # a; d
    }
    assert {row.key: row.wrong for row in found["decided"]}["arbitrating: accepted"] == 2
    assert found["cause"] == (ConfusionRow("unusable", 0, 0, 0, 0, 1),)
    assert made(entry("others", labels(a=1))).entries[0].confusions == {}


def test_tests_count_by_their_last_run() -> None:
    runs = made(entry("agents", AGENTS)).entries[0].runs
    assert runs is not None
    assert (runs.asked, runs.tested, runs.executed) == (7, 4, 4)
    assert runs.executable.value == pytest.approx(3 / 4)  # all but f
    assert runs.touching.value == pytest.approx(2 / 4)  # b, c
    assert made(entry("others", labels(a=1))).entries[0].runs is None


def test_what_was_spent_is_a_mean_of_pairs_by_stratum_and_by_agent() -> None:
    first = screened(1, spent={"screener": Spent(0.5, 100, 10)})
    second = ran(1, spent={"screener": Spent(0.5, 100, 10), "arbiter": Spent(2, 300, 30)})
    waits = Answer(None, True, is_open=True, spent={"screener": Spent(9, 9, 9)})
    found = made(entry("agents", {"a": first, "h": second, "b": waits})).entries[0].spending
    assert {row.name: row.mean for row in found.strata} == {
        "all": Spent(1.5, 250, 25),  # (½ + ½ + 2) ÷ 2, (100 + 100 + 300) ÷ 2
        SCREENED: Spent(0.5, 100, 10),
        TESTED: Spent(2.5, 400, 40),
    }
    assert {row.name: row.mean.requests for row in found.agents} == {"arbiter": 1, "screener": 0.5}


def test_what_is_still_worked_on_is_neither_wrong_nor_unjudged() -> None:
    waits = Answer(None, False, is_open=True)
    row = score(made(entry("agents", {"a": screened(1), "b": waits})), "agents")
    assert (row.pairs, row.judged, row.unjudged, row.open) == (2, 1, 0, 1)
    assert row.accuracy_unjudged_wrong.value == 1


def test_wrong_pairs_are_listed_for_each_answering() -> None:
    found = made(entry("agents", AGENTS), entry("two", labels(a=0), labels(a=1, b=None)))
    told = [(wrong.entry, wrong.answering, wrong.pair, wrong.truth) for wrong in found.wrong]
    assert told == [("agents", "agents 1", "c", 1), ("agents", "agents 1", "e", 0), ("two", "two 1", "a", 1)]
    assert found.entries[1].absent == 6


def test_without_truth_or_annotators_there_is_nothing_to_measure() -> None:
    with pytest.raises(NothingToMeasure, match="No pair has a label"):
        made(entry("agents", AGENTS), truth=Truth({}, frozenset("a"), frozenset()))
    with pytest.raises(NothingToMeasure, match="at least one annotator"):
        made()


LABEL = st.sampled_from([0, 1, None])
SAID = st.lists(LABEL, min_size=8, max_size=8)


def said(name: str, values: list[int | None]) -> BenchEntry:
    answers = {
        pair.id: Answer(value, tested=place % 3 == 0)
        for place, (pair, value) in enumerate(zip(PAIRS, values, strict=True))
    }
    return entry(name, answers)


@settings(max_examples=40)
@given(SAID, SAID, st.permutations(PAIRS))
def test_the_order_of_pairs_changes_no_figure(
    first: list[int | None], second: list[int | None], order: list[BenchPair]
) -> None:
    entries = said("one", first), said("other", second)
    one, other = made(*entries), made(*entries, pairs=tuple(order))
    assert replace(one, wrong=()) == replace(other, wrong=())
    assert {(row.answering, row.pair) for row in one.wrong} == {
        (row.answering, row.pair) for row in other.wrong
    }


@settings(max_examples=40)
@given(SAID, SAID)
def test_two_annotators_in_the_other_order_differ_by_the_sign(
    first: list[int | None], second: list[int | None]
) -> None:
    ground = Ground.of(PAIRS, TRUTH.labels)
    one, other = said("one", first), said("other", second)
    rows, back = compare_all_annotators(ground, [one, other]), compare_all_annotators(ground, [other, one])
    assert len(rows) == len(back)
    for row, reverse in zip(rows, back, strict=True):
        assert (row.pairs, row.first_alone, row.second_alone) == (
            reverse.pairs,
            reverse.second_alone,
            reverse.first_alone,
        )
        assert row.difference.value == pytest.approx(-(reverse.difference.value or 0))
        assert row.exact_p == reverse.exact_p
        if row.difference.low is not None and row.difference.high is not None:
            assert row.difference.low == pytest.approx(-(reverse.difference.high or 0), abs=1e-6)
            assert row.difference.high == pytest.approx(-(reverse.difference.low or 0), abs=1e-6)


@settings(max_examples=40)
@given(SAID)
def test_who_is_measured_twice_has_the_same_mean(values: list[int | None]) -> None:
    once, twice = said("x", values), said("x", values)
    both = BenchEntry("x", (*once.answerings, *twice.answerings))
    one, two = score(made(once), "x"), score(made(both), "x")
    assert (one.accuracy, one.f1, one.accuracy_unjudged_wrong) == (
        two.accuracy,
        two.f1,
        two.accuracy_unjudged_wrong,
    )
