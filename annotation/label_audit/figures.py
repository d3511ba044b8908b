"""The figures of an audit: who says what of which labels, and shares with intervals that resample queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from annotation.label_audit.rows import Audit, AuditRow, Experts, How
from annotation.stats.agreement.query_clusters import clustered_share_interval, counted_share
from annotation.stats.agreement.sample import Draws
from annotation.stats.agreement.statistic import measure_statistics
from annotation.stats.intervals import Share
from retrieval.metrics.resampling import AUDIT_SEED, SHARE_RESAMPLES

SETTLED_BY: Final = (How.SCREENER, How.TESTED, How.ALONE)

Counted = Callable[[AuditRow], bool | None]
"""Whether a pair counts as the part; None: it is no part of the whole either."""


class AuditCell(NamedTuple):
    """Of which original label, what the build said (see `Verdict.said`), what experts say."""

    original: int | None
    said: str
    experts: Experts


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of pairs: what is counted (`count_upheld_labels`, `count_unjudged_pairs` …), of which original
    label, by what.

    `original` None: whatever it is. `by`: how the build settled them, `experts`, or a cause; empty: any.
    """

    what: str
    original: int | None
    by: str
    share: Share


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one build of an audit: its cross table, whose cells sum to all pairs, and its rates."""

    cells: Mapping[AuditCell, int]
    rates: tuple[Rate, ...]
    queries: int

    @property
    def pairs(self) -> int:
        return sum(self.cells.values())

    def rate(self, what: str, original: int | None = None, by: str = "") -> Share | None:
        """The share of such a rate; None where the build has none."""
        found = (one for one in self.rates if (one.what, one.original, one.by) == (what, original, by))
        return next((one.share for one in found), None)


def figures_of(audit: Audit, place: int = 0) -> Figures:
    """The figures of the audit's build at `place`."""
    cells = Counter(AuditCell(row.original, verdict_of_build(row, place), row.experts) for row in audit.rows)
    wanted = list(wanted_of(audit.rows, place))
    shares = shares_of(audit.rows, [counted for *_, counted in wanted])
    told = ((what, original, by) for what, original, by, _ in wanted)
    rates = (Rate(*one, share=share) for one, share in zip(told, shares, strict=True))
    queries = len({row.query for row in audit.rows})
    return Figures(cells, tuple(rate for rate in rates if rate.share.whole), queries)


def verdict_of_build(row: AuditRow, place: int) -> str:
    """What the build says of the pair; a pair without a case, as beyond a limit, is open."""
    verdict = row.verdicts[place]
    return str(How.OPEN) if verdict is None else verdict.said


def wanted_of(rows: Iterable[AuditRow], place: int) -> Iterator[tuple[str, int | None, str, Counted]]:
    """What is counted: each rate with whether a pair is its part."""
    for how in (None, *SETTLED_BY):
        for original in (None, 1, 0):
            yield "upheld", original, how or "", count_upheld_labels(place, original, how)
    for original in (None, 1, 0):
        yield "upheld", original, "experts", upheld_by_experts(original)
    for original in (None, 1, 0):
        yield "unjudged", original, "", count_unjudged_pairs(place, original)
    causes = Counter(verdict.cause for row in rows if (verdict := row.verdicts[place]) and verdict.cause)
    for cause, _ in sorted(causes.items(), key=lambda counted: (-counted[1], counted[0])):
        yield "unjudged", None, cause, count_unjudged_pairs(place, None, cause)


def count_upheld_labels(place: int, original: int | None, how: How | None = None) -> Counted:
    """Of the labels that the build judged, those that it gave as well."""

    def counted(row: AuditRow) -> bool | None:
        verdict = row.verdicts[place]
        if row.original is None or verdict is None or verdict.label is None:
            return None
        if original not in {None, row.original} or how not in {None, verdict.how}:
            return None
        return verdict.label == row.original

    return counted


def upheld_by_experts(original: int | None) -> Counted:
    """Of the labels that experts judged, as the merge rule takes it, those that they gave as well."""

    def counted(row: AuditRow) -> bool | None:
        label = row.experts.label
        if row.original is None or label is None or original not in {None, row.original}:
            return None
        return label == row.original

    return counted


def count_unjudged_pairs(place: int, original: int | None, cause: str = "") -> Counted:
    """Of the pairs that the build has ended, those that it could not judge."""

    def counted(row: AuditRow) -> bool | None:
        verdict = row.verdicts[place]
        if verdict is None or verdict.how is How.OPEN or (original is not None and original != row.original):
            return None
        return verdict.how is How.ABANDONED and cause in {"", verdict.cause}

    return counted


def shares_of(rows: Sequence[AuditRow], wanted: Sequence[Counted]) -> list[Share]:
    """Each share, with an interval over queries: pairs of one query are not independent."""
    places = {query: place for place, query in enumerate(dict.fromkeys(row.query for row in rows))}
    columns = np.zeros((len(wanted), len(places), 2))
    for row in rows:
        for number, counted in enumerate(wanted):
            part = counted(row)
            if part is not None:
                columns[number, places[row.query]] += (part, 1)
    if not places:
        return [Share(0, 0) for _ in wanted]
    draws = Draws(np.zeros(len(places), dtype=np.int64), SHARE_RESAMPLES, AUDIT_SEED)
    found = measure_statistics(
        draws, {number: counted_share(column) for number, column in enumerate(columns)}
    )
    sums = columns.sum(axis=1).astype(int).tolist()
    return [
        Share(part, whole, clustered_share_interval(found[number]))
        for number, (part, whole) in enumerate(sums)
    ]
