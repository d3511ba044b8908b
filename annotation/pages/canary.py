"""What the page of a build's canary shows, and the few words that the build's own page has of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db.models import QuerySet

from annotation import canary, measures
from annotation.intervals import FEW, Mean, Share
from annotation.measures import Measures, Projection
from annotation.models import AnyCanary, Build, Canary, Case, Extension, ExtensionCanary, Tally
from annotation.pages.words import Sign, case_sign, dollars
from annotation.stages import Stage

TO_READ: Final = 20
SHARES: Final = (
    ("Unclear", "of the screened pairs: these need a test, and cost most", "unclear"),
    ("Executable", "of the test programs: they reached an assertion", "executable"),
    ("Label 1", "of the settled pairs: the snippet answers the query", "matches"),
    ("Abandoned", "of the finished pairs: could not be judged", "abandoned"),
    ("Refused", "of the finished pairs: abandoned because the model declined", "refused"),
)
LINKS: Final = {
    "unclear": ("canary=finished&reached=unclear", "canary=finished&reached=screened"),
    "executable": ("canary=drawn&stage=settled&ran=yes", "canary=drawn&stage=settled&reached=executed"),
    "matches": ("canary=drawn&label=1", "canary=drawn&stage=settled"),
    "abandoned": ("canary=drawn&stage=abandoned", "canary=finished"),
    "refused": ("canary=refused", "canary=finished"),
}
"""The queries of the cases that a share counts, and of those that it is a share of."""


@dataclass(frozen=True)
class Card:
    """The canary on its build's page: how far it is, and whether somebody has decided.

    `by_query`: whole queries were drawn, as the screener judges their candidates together.
    """

    row: AnyCanary
    finished: int
    size: int
    is_done: bool
    by_query: bool

    @property
    def extension(self) -> int:
        """Whose canary it is: the number of an extension, 0 for the build's own."""
        return self.row.extension.number if isinstance(self.row, ExtensionCanary) else 0

    @property
    def is_left(self) -> bool:
        """Whether nobody wanted the other pairs."""
        return isinstance(self.row, ExtensionCanary) and self.row.extension.state == Extension.State.LEFT

    @property
    def waits(self) -> bool:
        """Whether somebody is to decide now."""
        return self.row.decided_at is None and self.row.build.state == Build.State.CANARY

    @property
    def suffix(self) -> str:
        """Tells its elements from those of another canary on the page."""
        return f"-{self.extension}" if self.extension else ""

    @property
    def kind(self) -> str:
        """What was drawn, for one and for more."""
        return "pair of random queries,pairs of random queries" if self.by_query else "random pair"

    @property
    def is_drawn(self) -> bool:
        return bool(self.size)


@dataclass(frozen=True)
class Count:
    """How many cases a figure rests on; `link` is the query of exactly those."""

    cases: int
    link: str


@dataclass(frozen=True)
class Figure:
    """One line of the comparison: the canary's value with its interval, and the other build's.

    `counts` are what the value is a share of; `differs`: the other build's value lies outside the interval.
    """

    name: str
    note: str
    value: str
    counts: tuple[Count, ...]
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
    """The page. `other` is the build that it is compared with; an extension, with its own build before it."""

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
    def of_extension(self) -> str:
        """What narrows a list of cases to this canary's, beside the filter itself."""
        return f"&extension={self.card.extension}" if self.card.extension else ""

    @property
    def beside(self) -> str:
        """The head of the column that it is compared with; empty where there is none."""
        if self.card.extension:
            return "Before the extension"
        return self.other.name if self.other else ""

    @property
    def cap_words(self) -> str:
        """What the projected total is held against; empty without a cap."""
        if self.projection is None or self.projection.cap is None:
            return ""
        cap = dollars(self.projection.cap)
        return f"the {cap} that the cap had left for them" if self.card.extension else f"the cap of {cap}"

    @property
    def projected(self) -> str:
        return dollars(round(self.projection.total.value)) if self.projection else ""

    @property
    def projected_interval(self) -> str:
        return money_interval(self.projection.total) if self.projection else ""

    @property
    def spent(self) -> int:
        """Nanodollars that the canary cost."""
        return canary.spent(self.card.row, self.tally)

    @property
    def is_small(self) -> bool:
        """Whether the bootstrap's interval is known to be too short."""
        return self.measures.units < FEW


def cards(build: Build) -> tuple[Card, ...]:
    """The canaries on the page of their build: the extension's that it is at first, then its own."""
    row = canary.current(build)
    found = (card_of(build, row) if isinstance(row, ExtensionCanary) else None, card(build))
    return tuple(filter(None, found))


def card(build: Build) -> Card | None:
    """The build's own canary; None where it has none."""
    row = Canary.objects.select_related("decided_by", "build__annotator").filter(build=build).first()
    return None if row is None else card_of(build, row)


def card_of(build: Build, row: AnyCanary) -> Card | None:
    """A canary in a few words; None where it was never drawn and never will be."""
    if build.is_over and not row.drawn:
        return None
    undecided = row.decided_at is None
    is_done = not undecided or row.done_at is not None
    finished = finished_of(build, row) if undecided else len(row.drawn)
    return Card(row, finished, len(row.drawn), is_done=is_done, by_query=canary.by_query(build))


def finished_of(build: Build, row: AnyCanary) -> int:
    """How many pairs are finished, all of their rounds together."""
    if isinstance(row, Canary):
        return (build.tally.settled + build.tally.abandoned) // build.rounds
    cases = Case.objects.filter(build=build, candidate__in=row.drawn, stage__in=measures.FINISHED)
    return cases.count() // build.rounds


def of_extension(build: Build, number: int) -> ExtensionCanary | None:
    """The canary of the build's extension `number`; None where it has none, or it is not drawn yet."""
    rows = ExtensionCanary.objects.filter(extension__build=build, extension__number=number)
    row = rows.select_related("decided_by", "extension__build__annotator", "extension__build__tally").first()
    return row if row is not None and row.drawn else None


def page(build: Build, visible: QuerySet[Build]) -> CanaryPage | None:
    """The page of the build's canary, beside the last of the `visible` builds; None before it was drawn."""
    shown = card(build)
    if shown is None or not shown.is_drawn:
        return None
    other = measures.last_finished(visible, build)
    return page_of(build, shown, other, measures.of_build(other) if other else None)


def extension_page(build: Build, number: int) -> CanaryPage | None:
    """The same of an extension's, beside the figures of the build before it."""
    row = of_extension(build, number)
    shown = card_of(build, row) if row else None
    if row is None or shown is None:
        return None
    return page_of(build, shown, None, measures.from_json(row.before) if row.before else None)


def page_of(build: Build, shown: Card, other: Build | None, others: Measures | None) -> CanaryPage:
    """`others` are the figures that it is compared with, those of `other` or of the build itself."""
    row, tally = shown.row, build.tally
    found = measures.of_canary(row, canary.spent(row, tally))
    return CanaryPage(
        build=build,
        tally=tally,
        card=shown,
        waits=shown.waits,
        measures=found,
        projection=measures.projection(row, found.cost, tally) if found.cost else None,
        figures=figures(found, others, shown),
        other=other,
        examples=examples(row),
    )


def figures(found: Measures, other: Measures | None, shown: Card) -> tuple[Figure, ...]:
    """The lines of the comparison, cost first."""
    units = "queries" if shown.by_query else "pairs"
    lines = [cost_figure(found.cost, other.cost if other else None, units)]
    by = "queries resampled, exact where few differ" if shown.by_query else "Wilson"
    for name, note, field in SHARES:
        theirs: Share | None = getattr(other, field) if other else None
        lines.append(share_figure(name, f"{note}; {by}", getattr(found, field), theirs, LINKS[field]))
    return tuple(lines)


def cost_figure(mean: Mean | None, other: Mean | None, units: str) -> Figure:
    return Figure(
        name="Cost a pair",
        note=f"95 % interval: percentile bootstrap over the {units}, 2,000 resamples by the stored seed",
        value=dollars(round(mean.value)) if mean else "–",
        counts=(),
        interval=money_interval(mean) if mean else "",
        other=dollars(round(other.value)) if other else "–",
        differs=bool(mean and other and lies_outside(other.value, mean.low, mean.high)),
    )


def share_figure(name: str, note: str, share: Share, other: Share | None, links: tuple[str, str]) -> Figure:
    theirs = other.value if other else None
    low, high = share.low, share.high
    counts = tuple(map(Count, (share.part, share.whole), links))
    return Figure(
        name=name,
        note=note,
        value="–" if share.value is None else percent(share.value),
        counts=() if share.value is None else counts,
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


def examples(row: AnyCanary) -> tuple[Example, ...]:
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
