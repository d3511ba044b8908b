"""How far the raters of one study agree, in one flat report: `manage.py agreement report`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, cast

import numpy as np
from django.core.cache import cache

from annotation.models import ImportedRating, Study
from annotation.stats.agreement.figures import Figure
from annotation.stats.agreement.kappa import by_pair, kappa_statistic, symmetrize_columns
from annotation.stats.agreement.reliability import Level, alike_of, alphas_of, counts_by_pair, values_of
from annotation.stats.agreement.sample import Draws, Sample
from annotation.stats.agreement.statistic import Statistic, measure_statistics
from annotation.studies.adjudication.latest_round import rounds_of
from annotation.studies.adjudication.unsettled_pairs import blind_ratings
from annotation.studies.report.figure_data import is_complete
from annotation.studies.report.table import Table
from retrieval.metrics.resampling import FEW, FEW_TOLD
from retrieval.texts.plurals import count_noun

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
        words = {name: figure.words for name, figure in self.figures.items() if figure.words}
        values = {name: figure.value for name, figure in self.figures.items()}
        ends = {
            name: None if figure.low is None else [figure.low, figure.high]
            for name, figure in self.figures.items()
        }
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


def report_study_agreement(study: Study) -> Report:
    """Of imported labels, or of the blind ratings in the study's reference condition.

    Raises NoReport where the study compares snippets two by two, or has no label.
    """
    if study.kind == Study.Kind.PAIRWISE:
        raise NoReport(f"{study.name!r} asks which of two functions is better; it has no scale to agree on.")
    theirs = study.kind == Study.Kind.IMPORTED
    given = list(iterate_imported_labels(study) if theirs else iterate_blind_labels(study))
    if not given:
        raise NoReport(f"Nobody has labelled anything in {study.name!r} yet.")
    found = compute_agreement_report(study.name, given)
    if theirs or is_complete(study):
        return found
    return replace(found, notes=(INTERIM, *found.notes))


def iterate_imported_labels(study: Study) -> Iterator[Given]:
    """The labels of a file, in its order."""
    rows = ImportedRating.objects.filter(study=study).order_by("row")
    for row in rows.values_list("item", "cluster", "rater", "value").iterator(CHUNK):
        yield Given(*row)


def iterate_blind_labels(study: Study) -> Iterator[Given]:
    """What stands of the blind ratings in the condition that is the reference, in each pair's last round.

    Planted pairs and raters whom an amendment excludes never count.
    """
    rows = blind_ratings(study).filter(assignment__condition__kind=study.reference)
    rounds = rounds_of(study)
    columns = "study_pair", "study_pair__pair__query", "enrolment__pseudonym", "condition", "round"
    names = [f"assignment__{column}" for column in columns]
    for item, query, rater, *place, value in rows.order_by("pk").values_list(*names, "value"):
        if value is not None and rounds.counts(item, *place):
            yield Given(f"pair {item}", f"query {query}", rater, float(value))


def compute_agreement_report(name: str, given: Iterable[Given]) -> Report:
    """The figures of these labels, in their order."""
    items: dict[str, list[Given]] = defaultdict(list)
    for one in given:
        items[one.item].append(one)
    twice = [sorted(labels, key=lambda label: label.rater) for labels in items.values() if len(labels) > 1]
    raters = {label.rater for labels in items.values() for label in labels} - {""}
    clusters = sorted({labels[0].cluster for labels in twice})
    place = {cluster: number for number, cluster in enumerate(clusters)}
    sample = Sample.of([place[labels[0].cluster] for labels in twice])
    draws = Draws.of(sample)
    drawn = measure_statistics(draws, compute_agreement_statistics(sample, twice))
    alone = any(label.cluster == label.item for labels in twice for label in labels)
    return Report(
        study=name,
        items=len(items),
        raters=len(raters) or None,
        labels=sum(map(len, items.values())),
        items_with_two=len(twice),
        queries=len(clusters),
        figures={key: statistic.figure for key, statistic in drawn.items()},
        notes=format_agreement_notes(draws, bool(raters), alone),
    )


def format_agreement_notes(draws: Draws, named: bool, alone: bool) -> tuple[str, ...]:
    """What a reader must know of the figures."""
    queries = len(draws.strata)
    of = count_noun(queries, "query", "queries")
    resampled = RESAMPLED.format(queries=of, draws=draws.size, seed=draws.seed)
    said = [BY_NAME if named else NO_RATERS, ALL_PAIRS, resampled]
    said += [ALONE] if alone else []
    return (*said, FEW_TOLD) if queries < FEW else tuple(said)


def compute_agreement_statistics(sample: Sample, items: list[list[Given]]) -> dict[str, Statistic]:
    """The figures by their names, of items with their labels in order.

    No table of items by labels is made: one item with 100,000 labels would make it as wide for all.
    """
    many = len(items)
    rows = np.repeat(np.arange(many), [len(labels) for labels in items])
    values = np.array([label.value for labels in items for label in labels], dtype=np.float64)
    even, scale = np.ones(many), values_of(values)
    counts = counts_by_pair(rows, values, scale, many)
    twos = sample.sums(by_pair(rows, values, scale, many))
    found = alphas_of(sample, counts, even, scale)
    return {
        **{f"alpha_{level}": found[level] for level in Level},
        "kappa_quadratic": kappa_statistic(twos, scale, quadratic=True),
        "kappa_quadratic_symmetrised": kappa_statistic(symmetrize_columns(twos), scale, quadratic=True),
        "percent_agreement": alike_of(sample, counts, even),
    }


KEPT_SECONDS: Final = 3600
WORDS: Final = {
    "alpha_nominal": "Krippendorff’s alpha, nominal",
    "alpha_ordinal": "Krippendorff’s alpha, ordinal",
    "alpha_interval": "Krippendorff’s alpha, interval",
    "kappa_quadratic": "Cohen’s kappa, quadratic",
    "kappa_quadratic_symmetrised": "Cohen’s kappa, quadratic, both orders",
    "percent_agreement": "Two labels of an item are alike",
}


def report_of(study: Study) -> Report:
    """The report of imported labels, which never change: computed once an hour. Raises NoReport."""
    key = f"study-report-{study.pk}"
    return cast(Report, cache.get_or_set(key, partial(report_study_agreement, study), KEPT_SECONDS))


def report_tables(found: Report) -> tuple[Table, ...]:
    """Agreement with its intervals, then what it rests on."""
    figures = tuple((WORDS.get(name, name), figure) for name, figure in found.figures.items())
    counts = (
        ("items", found.items),
        ("items with two labels or more", found.items_with_two),
        ("queries of those", found.queries),
        ("labels", found.labels),
        ("raters", found.raters if found.raters is not None else "not named in the file"),
    )
    return (
        Table("agreement", "Agreement", ("Figure", "Value"), figures, " ".join(found.notes), "Value"),
        Table("counts", "What the file holds", ("What", "How many"), counts),
    )
