"""Every figure of the bench from plain data: `report(pairs, truth, entries)`. No Django, no database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.quality.answers import Answer, BenchEntry, BenchPair
from annotation.quality.confusion import ConfusionRow, tabulate_all_confusions
from annotation.quality.differences import AccuracyDifference, compare_all_annotators
from annotation.quality.ground import Ground, NothingToMeasure
from annotation.quality.inputs.files import Truth
from annotation.quality.repeats import Repeat, measure_all_repeats
from annotation.quality.runs import Runs, measure_test_runs
from annotation.quality.scores import Score, score_bench_entries, scores_of_each
from annotation.quality.token_use import Spending, measure_spending


@dataclass(frozen=True, slots=True)
class BenchCounts:
    """What was measured on: `known` pairs have a truth, `split` ones votes that differ, `open` ones none."""

    pairs: int
    queries: int
    known: int
    matches: int
    split: int
    open: int


@dataclass(frozen=True, slots=True)
class EntryReport:
    """One annotator: its mean over answerings by stratum, each answering (where there are several), and where
    it is wrong. `absent` pairs it was not asked about, in any answering.
    """

    name: str
    answerings: tuple[str, ...]
    absent: int
    scores: tuple[Score, ...]
    each: tuple[Score, ...]
    confusions: Mapping[str, tuple[ConfusionRow, ...]]
    runs: Runs | None
    spending: Spending
    repeats: tuple[Repeat, ...]


@dataclass(frozen=True, slots=True)
class WrongPair:
    """A pair that one answering got wrong."""

    entry: str
    answering: str
    pair: str
    truth: int
    answer: Answer


@dataclass(frozen=True, slots=True)
class Report:
    """All of it. `fixed`: the file says which pairs belong to which of the strata."""

    counts: BenchCounts
    strata: tuple[str, ...]
    fixed: bool
    entries: tuple[EntryReport, ...]
    differences: tuple[AccuracyDifference, ...]
    wrong: tuple[WrongPair, ...]


def build_bench_report(pairs: Sequence[BenchPair], truth: Truth, entries: Sequence[BenchEntry]) -> Report:
    """Raises NothingToMeasure where there is no truth, or nobody to measure."""
    if not entries:
        raise NothingToMeasure("Name at least one annotator.")
    ground = Ground.of(pairs, truth.labels)
    strata = ground.strata(entries)
    rows = score_bench_entries(ground, entries)
    return Report(
        counts=BenchCounts(
            pairs=len(ground.pairs),
            queries=ground.sample.size,
            known=int(ground.known.sum()),
            matches=int(np.nansum(ground.truth)),
            split=len(truth.split),
            open=len(truth.open),
        ),
        strata=strata,
        fixed=ground.is_fixed,
        entries=tuple(
            entry_report(ground, entry, strata, tuple(row for row in rows if row.name == entry.name))
            for entry in entries
        ),
        differences=compare_all_annotators(ground, entries),
        wrong=tuple(row for entry in entries for row in wrong_pairs(ground, entry)),
    )


def entry_report(
    ground: Ground, entry: BenchEntry, strata: Sequence[str], means: tuple[Score, ...]
) -> EntryReport:
    """One annotator, with the rows of its means."""
    several = len(entry.answerings) > 1
    asked = set[str]().union(*(many.answers for many in entry.answerings))
    return EntryReport(
        name=entry.name,
        answerings=tuple(many.name for many in entry.answerings),
        absent=sum(pair.id not in asked for pair in ground.pairs),
        scores=means,
        each=scores_of_each(ground, entry, strata) if several else (),
        confusions=tabulate_all_confusions(ground, entry),
        runs=measure_test_runs(ground, entry) if entry.has_stages else None,
        spending=measure_spending(ground, entry, strata),
        repeats=measure_all_repeats(ground, entry, strata),
    )


def wrong_pairs(ground: Ground, entry: BenchEntry) -> Iterator[WrongPair]:
    """Each answering's wrong pairs, in the order of the file; what was not judged is not wrong."""
    for many in entry.answerings:
        for pair, truth in zip(ground.pairs, ground.truth, strict=True):
            answer = many.answers.get(pair.id)
            if answer is not None and answer.label is not None and answer.label == 1 - truth:
                yield WrongPair(entry.name, many.name, pair.id, int(truth), answer)
