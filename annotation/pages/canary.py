"""What the page of a build's canary shows, and the few words that the build's own page has of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db.models import QuerySet

from annotation import canary, measures
from annotation.intervals import FEW, Mean, Share
from annotation.measures import Measures, Projection
from annotation.models import Build, Canary, Case, Tally
from annotation.pages.words import Sign, case_sign, dollars
from annotation.stages import Stage

TO_READ: Final = 20


@dataclass(frozen=True)
class Card:
    """The canary on its build's page: how far it is, and whether somebody has decided.

    `by_query`: whole queries were drawn, as the screener judges their candidates together.
    """

    row: Canary
    finished: int
    size: int
    is_done: bool
    by_query: bool

    @property
    def kind(self) -> str:
        """What was drawn, for one and for more."""
        return "pair of random queries,pairs of random queries" if self.by_query else "random pair"

    @property
    def is_drawn(self) -> bool:
        return bool(self.size)


@dataclass(frozen=True)
class Figure:
    """One line of the comparison: the canary's value with its interval, and the other build's.

    `differs`: the other build's value lies outside the interval.
    """

    name: str
    note: str
    value: str
    interval: str
    other: str
    differs: bool


@dataclass(frozen=True)
class Example:
    """A case to read."""

    pk: int
    pair: int
    query: str
    snippet: str
    sign: Sign
    way: str


@dataclass(frozen=True)
class CanaryPage:
    """The page. `other` is the build that it is compared with."""

    build: Build
    tally: Tally
    card: Card
    waits: bool
    measures: Measures
    projection: Projection | None
    figures: tuple[Figure, ...]
    other: Build | None
    examples: tuple[Example, ...]

    @property
    def projected(self) -> str:
        return dollars(round(self.projection.total.value)) if self.projection else ""

    @property
    def projected_interval(self) -> str:
        return money_interval(self.projection.total) if self.projection else ""

    @property
    def spent(self) -> int:
        """Nanodollars that the canary cost."""
        return self.tally.spent if self.card.row.decided_at is None else self.card.row.spent

    @property
    def is_small(self) -> bool:
        """Whether the bootstrap's interval is known to be too short."""
        return self.measures.units < FEW


def card(build: Build) -> Card | None:
    """The canary on the page of its build; None where it has none."""
    row = Canary.objects.select_related("decided_by").filter(build=build).first()
    if row is None or (build.is_over and not row.drawn):
        return None
    tally = build.tally
    undecided = row.decided_at is None
    finished = (tally.settled + tally.abandoned) // build.rounds if undecided else len(row.drawn)
    is_done = not undecided or row.done_at is not None
    return Card(row, finished, len(row.drawn), is_done=is_done, by_query=canary.by_query(build))


def page(build: Build, visible: QuerySet[Build]) -> CanaryPage | None:
    """The page of the build's canary, beside the last of the `visible` builds; None before it was drawn."""
    shown = card(build)
    if shown is None or not shown.is_drawn:
        return None
    row, tally = shown.row, build.tally
    found = measures.of_canary(row, tally.spent if row.decided_at is None else row.spent)
    other = measures.last_finished(visible, build)
    return CanaryPage(
        build=build,
        tally=tally,
        card=shown,
        waits=build.state == Build.State.CANARY,
        measures=found,
        projection=measures.projection(row, found.cost, tally) if found.cost else None,
        figures=figures(found, measures.of_build(other) if other else None, by_query=shown.by_query),
        other=other,
        examples=examples(row),
    )


def figures(found: Measures, other: Measures | None, *, by_query: bool) -> tuple[Figure, ...]:
    """The lines of the comparison, cost first; `by_query`: whole queries were drawn."""
    shares = (
        ("Unclear", "of the screened pairs: these need a test, and cost most", "unclear"),
        ("Executable", "of the test programs: they reached an assertion", "executable"),
        ("Label 1", "of the settled pairs: the snippet answers the query", "matches"),
        ("Abandoned", "of the finished pairs: could not be judged", "abandoned"),
        ("Refused", "of the finished pairs: abandoned because the model declined", "refused"),
    )
    lines = [cost_figure(found.cost, other.cost if other else None, "queries" if by_query else "pairs")]
    by = "bootstrap over the queries" if by_query else "Wilson"
    for name, note, field in shares:
        theirs: Share | None = getattr(other, field) if other else None
        lines.append(share_figure(name, f"{note}; {by}", getattr(found, field), theirs))
    return tuple(lines)


def cost_figure(mean: Mean | None, other: Mean | None, units: str) -> Figure:
    return Figure(
        name="Cost a pair",
        note=f"95 % interval: percentile bootstrap over the {units}, 2,000 resamples by the stored seed",
        value=dollars(round(mean.value)) if mean else "–",
        interval=money_interval(mean) if mean else "",
        other=dollars(round(other.value)) if other else "–",
        differs=bool(mean and other and lies_outside(other.value, mean.low, mean.high)),
    )


def share_figure(name: str, note: str, share: Share, other: Share | None) -> Figure:
    theirs = other.value if other else None
    low, high = share.low, share.high
    return Figure(
        name=name,
        note=note,
        value="–" if share.value is None else f"{percent(share.value)} ({share.part:,} of {share.whole:,})",
        interval="" if low is None or high is None else f"{percent(low)} to {percent(high)}",
        other="–" if theirs is None else percent(theirs),
        differs=theirs is not None and lies_outside(theirs, low, high),
    )


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def money_interval(mean: Mean) -> str:
    """`$0.0004 to $0.0007`; empty where there is none."""
    if mean.low is None or mean.high is None:
        return ""
    return f"{dollars(round(mean.low))} to {dollars(round(mean.high))}"


def lies_outside(value: float, low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and not low <= value <= high


def examples(row: Canary) -> tuple[Example, ...]:
    """The first cases of the draw: random, and the same at every look."""
    place = {candidate: number for number, candidate in enumerate(row.drawn)}
    cases = measures.cases_of(row).filter(candidate__in=row.drawn[:TO_READ])
    found = sorted(cases.select_related("pair__query", "pair__snippet"), key=lambda c: place[c.candidate_id])
    return tuple(example(case) for case in found)


def example(case: Case) -> Example:
    return Example(
        pk=case.pk,
        pair=case.pair_id,
        query=case.pair.query.head,
        snippet=case.pair.snippet.head,
        sign=case_sign(case.stage, case.label),
        way=way(case),
    )


def way(case: Case) -> str:
    """How the case was decided, or where it is."""
    if case.stage == Stage.ABANDONED:
        return case.reason
    if case.stage != Stage.SETTLED:
        return f"still {case.get_stage_display()}"
    return "by a test" if case.program_id else "by the screener"
