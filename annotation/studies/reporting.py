"""How far the raters of one study agree, in one flat report: `manage.py agreement report`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from annotation.agreement import Draws, Figure, Level, Sample, measure
from annotation.agreement.kappa import by_pair, kappa_statistic, symmetrised
from annotation.agreement.reliability import alike_of, alphas_of, counts_by_pair, values_of
from annotation.agreement.statistic import Statistic
from annotation.models import ImportedRating, Rating, Study
from annotation.studies.gathering import is_complete
from annotation.studies.latest import rounds_of
from retrieval.counting import counted

CHUNK: Final = 5000
NO_RATERS: Final = (
    "The file names no rater: every two labels of one item are a pair, in row order. That order is "
    "arbitrary, so kappa_quadratic_symmetrised counts each two in both orders."
)
ALL_PAIRS: Final = (
    "kappa_quadratic is over all pairs: an item with six labels has fifteen, and counts fifteen times. Alpha "
    "counts each label once."
)
BY_NAME: Final = "Of every two raters the one whose name comes first is the first one of kappa_quadratic."
RESAMPLED: Final = (
    "Intervals (95 %) resample {queries} with all items of each, {draws:,} draws of seed {seed}."
)
ALONE: Final = (
    "The file has no query column, so each item is resampled alone; if items share queries, intervals are "
    "too short."
)
INTERIM: Final = "Interim: planned ratings are missing, so these figures are not the study's."
FEW: Final = "With fewer than 30 queries the intervals are known to be too short."


class NoReport(Exception):
    """There is nothing to report; the text says why."""


@dataclass(frozen=True, slots=True)
class Given:
    """One label: of what, of which query, by whom (empty: nobody knows)."""

    item: str
    cluster: str
    rater: str
    value: float


@dataclass(frozen=True, slots=True)
class Report:
    """The figures by their names in the report; `queries` have an item with two labels or more."""

    study: str
    items: int
    raters: int | None
    labels: int
    items_with_two: int
    queries: int
    figures: Mapping[str, Figure]
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The report as plain data; a figure or interval that is not there is null, and `undefined` says why.

        `remarks` say what else is to be known of those that are.
        """
        words = {name: one.words for name, one in self.figures.items() if one.words}
        values = {name: one.value for name, one in self.figures.items()}
        ends = {name: None if one.low is None else [one.low, one.high] for name, one in self.figures.items()}
        return {
            "study": self.study,
            "items": self.items,
            "raters": self.raters,
            "labels": self.labels,
            "items_with_two": self.items_with_two,
            "queries": self.queries,
            **values,
            "intervals": ends,
            "undefined": {name: said for name, said in words.items() if ends[name] is None},
            "remarks": {name: said for name, said in words.items() if ends[name] is not None},
            "notes": list(self.notes),
        }


def report(study: Study) -> Report:
    """Of imported labels, or of the blind ratings in the study's reference condition.

    Raises NoReport where the study compares snippets two by two, or has no label.
    """
    if study.kind == Study.Kind.PAIRWISE:
        raise NoReport(f"{study.name!r} asks which of two snippets is better; it has no scale to agree on.")
    theirs = study.kind == Study.Kind.IMPORTED
    given = list(imported(study) if theirs else rated(study))
    if not given:
        raise NoReport(f"Nobody has labelled anything in {study.name!r} yet.")
    found = reported(study.name, given)
    if theirs or is_complete(study):
        return found
    return replace(found, notes=(INTERIM, *found.notes))


def imported(study: Study) -> Iterator[Given]:
    """The labels of a file, in its order."""
    rows = ImportedRating.objects.filter(study=study).order_by("row")
    for row in rows.values_list("item", "cluster", "rater", "value").iterator(CHUNK):
        yield Given(*row)


def rated(study: Study) -> Iterator[Given]:
    """What stands of the blind ratings in the condition that is the reference, in each pair's last round.

    Planted pairs and raters whom an amendment excludes never count.
    """
    rows = (
        Rating.objects.current()
        .counted()
        .filter(
            phase=Rating.Phase.BLIND,
            assignment__study_pair__study=study,
            assignment__study_pair__planted="",
            assignment__condition__kind=study.reference,
        )
    )
    rounds = rounds_of(study)
    columns = "study_pair", "study_pair__pair__query", "enrolment__pseudonym", "condition", "round"
    names = [f"assignment__{column}" for column in columns]
    for item, query, rater, *place, value in rows.order_by("pk").values_list(*names, "value"):
        if value is not None and rounds.counts(item, *place):
            yield Given(f"pair {item}", f"query {query}", rater, float(value))


def reported(name: str, given: Iterable[Given]) -> Report:
    """The figures of these labels, in their order."""
    items: dict[str, list[Given]] = defaultdict(list)
    for one in given:
        items[one.item].append(one)
    twice = [sorted(labels, key=lambda one: one.rater) for labels in items.values() if len(labels) > 1]
    raters = {one.rater for labels in items.values() for one in labels} - {""}
    clusters = sorted({labels[0].cluster for labels in twice})
    place = {cluster: number for number, cluster in enumerate(clusters)}
    sample = Sample.of([place[labels[0].cluster] for labels in twice])
    draws = Draws.of(sample)
    drawn = measure(draws, statistics(sample, twice))
    alone = any(one.cluster == one.item for labels in twice for one in labels)
    return Report(
        study=name,
        items=len(items),
        raters=len(raters) or None,
        labels=sum(map(len, items.values())),
        items_with_two=len(twice),
        queries=len(clusters),
        figures={key: one.figure for key, one in drawn.items()},
        notes=notes(draws, bool(raters), alone),
    )


def notes(draws: Draws, named: bool, alone: bool) -> tuple[str, ...]:
    """What a reader must know of the figures."""
    queries = len(draws.strata)
    of = counted(queries, "query", "queries")
    resampled = RESAMPLED.format(queries=of, draws=draws.size, seed=draws.seed)
    said = [BY_NAME if named else NO_RATERS, ALL_PAIRS, resampled]
    said += [ALONE] if alone else []
    return (*said, FEW) if queries < 30 else tuple(said)


def statistics(sample: Sample, items: list[list[Given]]) -> dict[str, Statistic]:
    """The figures by their names, of items with their labels in order.

    No table of items by labels is made: one item with 100,000 labels would make it as wide for all.
    """
    many = len(items)
    rows = np.repeat(np.arange(many), [len(labels) for labels in items])
    values = np.array([one.value for labels in items for one in labels], dtype=np.float64)
    even, scale = np.ones(many), values_of(values)
    counts = counts_by_pair(rows, values, scale, many)
    twos = sample.sums(by_pair(rows, values, scale, many))
    found = alphas_of(sample, counts, even, scale)
    return {
        **{f"alpha_{level}": found[level] for level in Level},
        "kappa_quadratic": kappa_statistic(twos, scale, quadratic=True),
        "kappa_quadratic_symmetrised": kappa_statistic(symmetrised(twos), scale, quadratic=True),
        "percent_agreement": alike_of(sample, counts, even),
    }
