"""What the page of a build's canary shows, and the few words that the build's own page has of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from django.db.models import QuerySet

from annotation.builds.limits import canary
from annotation.builds.results import canary_statistics
from annotation.builds.results.canary_statistics import Measures
from annotation.models import Build, Canary, Case, Extension
from annotation.stages import Stage
from annotation.stats.intervals import Mean, Share
from annotation.web.shared.words import format_cost, format_dollars, format_interval, format_percent
from retrieval.metrics.resampling import FEW, SHARE_RESAMPLES

TO_READ: Final = 20
SHARES: Final = (
    ("Unclear", "of the screened pairs: these need a test, and cost most", "unclear"),
    ("Executable", "of the test programs: they reached an assertion", "executable"),
    ("Label 1", "of the settled pairs: the function answers the query", "matches"),
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

    row: Canary
    finished: int
    size: int
    by_query: bool

    @property
    def extension(self) -> int:
        """Whose canary it is: the number of an extension, 0 for the build's own."""
        return self.row.extension.number if self.row.extension else 0

    @property
    def is_left(self) -> bool:
        """Whether nobody wanted the other pairs."""
        extension = self.row.extension
        return extension is not None and extension.state == Extension.State.LEFT

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


def build_canary_cards(build: Build) -> tuple[Card, ...]:
    """The canaries on the page of their build: the extension's that it is at first, then its own."""
    row = canary.find_current_canary(build)
    extensions = card_of(build, row) if row is not None and row.is_of_extension else None
    found = (extensions, build_own_canary_card(build))
    return tuple(filter(None, found))


def build_own_canary_card(build: Build) -> Card | None:
    """The build's own canary; None where it has none."""
    rows = Canary.objects.of_whole_build(build).select_related("decided_by", "build__annotator")
    row = rows.first()
    return None if row is None else card_of(build, row)


def card_of(build: Build, row: Canary) -> Card | None:
    """A canary in a few words; None where it was never drawn and never will be."""
    if build.is_over and not row.drawn:
        return None
    undecided = row.decided_at is None
    finished = finished_of(build, row) if undecided else len(row.drawn)
    return Card(row, finished, len(row.drawn), by_query=canary.by_query(build))


def finished_of(build: Build, row: Canary) -> int:
    """How many pairs are finished, all of their rounds together."""
    if not row.is_of_extension:
        return (build.tally.settled + build.tally.abandoned) // build.rounds
    cases = Case.objects.filter(build=build, candidate__in=row.drawn, stage__in=canary_statistics.FINISHED)
    return cases.count() // build.rounds


def of_extension(build: Build, number: int) -> Canary | None:
    """The canary of the build's extension `number`; None where it has none, or it is not drawn yet."""
    rows = Canary.objects.of_extension(build, number)
    row = rows.select_related("decided_by", "extension", "build__annotator", "build__tally").first()
    return row if row is not None and row.drawn else None


def build_canary_page(build: Build, visible: QuerySet[Build]) -> dict[str, Any] | None:
    """The page of the build's canary, beside the last of the `visible` builds; None before it was drawn."""
    shown = build_own_canary_card(build)
    if shown is None or not shown.is_drawn:
        return None
    other = canary_statistics.last_finished(visible, build)
    return page_of(build, shown, other, canary_statistics.of_build(other) if other else None)


def extension_page(build: Build, number: int) -> dict[str, Any] | None:
    """The same of an extension's, beside the figures of the build before it."""
    row = of_extension(build, number)
    shown = card_of(build, row) if row else None
    if row is None or shown is None:
        return None
    return page_of(build, shown, None, canary_statistics.from_json(row.before) if row.before else None)


def page_of(build: Build, shown: Card, other: Build | None, others: Measures | None) -> dict[str, Any]:
    """`others` are the figures that it is compared with, those of `other` or of the build itself."""
    row, tally = shown.row, build.tally
    spent = canary.compute_canary_cost(row, tally)
    found = canary_statistics.of_canary(row, spent)
    projection = canary_statistics.project_from_canary(row, found.cost, tally) if found.cost else None
    cap = format_dollars(projection.cap) if projection and projection.cap is not None else ""
    held = f"the {cap} that the cap had left for them" if shown.extension else f"the cap of {cap}"
    return {
        "build": build,
        "card": shown,
        "waits": shown.waits,
        "measures": found,
        "spent": spent,
        "projection": projection,
        "projected": format_dollars(round(projection.total.value)) if projection else "",
        "projected_interval": format_interval(projection.total if projection else None, format_cost),
        "cap_words": held if cap else "",
        "figures": compare_canary_figures(found, others, shown),
        "other": other,
        "beside": "Before the extension" if shown.extension else other.name if other else "",
        # What narrows a list of cases to this canary's, beside the filter itself.
        "of_extension": f"&extension={shown.extension}" if shown.extension else "",
        "examples": list_canary_examples(row),
        # Then the bootstrap's interval is known to be too short.
        "is_small": found.units < FEW,
    }


def compare_canary_figures(found: Measures, other: Measures | None, shown: Card) -> list[dict[str, Any]]:
    """The lines of the comparison, cost first: the canary's value with interval, and the other build's."""
    units = "queries" if shown.by_query else "pairs"
    cost = compare_canary_figure(found.cost, other.cost if other else None, format_cost) | {
        "name": "Cost a pair",
        "note": f"95 % interval: percentile bootstrap over the {units}, {SHARE_RESAMPLES:,} resamples by the "
        "stored seed",
    }
    by = "queries resampled, exact where few differ" if shown.by_query else "Wilson"
    shares = [
        compare_canary_figure(
            getattr(found, field), getattr(other, field, None), partial(format_percent, whole=1)
        )
        | {
            "name": name,
            "note": f"{note}; {by}",
            # What it is a share of: cases, and the query of exactly those; nothing where it is not defined.
            "counts": list(zip((share.part, share.whole), LINKS[field], strict=True))
            if (share := getattr(found, field)).value is not None
            else [],
        }
        for name, note, field in SHARES
    ]
    return [cost, *shares]


def compare_canary_figure(
    found: Mean | Share | None, other: Mean | Share | None, write: Callable[[float], str]
) -> dict[str, Any]:
    """`differs`: the other build's value lies outside the interval."""
    value, theirs = (figure.value if figure else None for figure in (found, other))
    low, high = (found.low, found.high) if found else (None, None)
    apart = theirs is not None and low is not None and high is not None and not low <= theirs <= high
    return {
        "value": "–" if value is None else write(value),
        "interval": format_interval(found, write),
        "other": "–" if theirs is None else write(theirs),
        "differs": apart,
    }


def list_canary_examples(row: Canary) -> list[tuple[Case, str]]:
    """The first cases of the draw, each with how it was decided: random, and the same at every look."""
    place = {candidate: number for number, candidate in enumerate(row.drawn)}
    cases = canary_statistics.cases_of(row).filter(candidate__in=row.drawn[:TO_READ])
    cases = cases.select_related("pair__query", "pair__snippet")
    return [
        (case, describe_case_outcome(case))
        for case in sorted(cases, key=lambda case: place[case.candidate_id])
    ]


def describe_case_outcome(case: Case) -> str:
    """How the case was decided, or where it is."""
    if case.stage == Stage.ABANDONED:
        return case.reason
    if case.stage != Stage.SETTLED:
        return f"still {case.get_stage_display()}"
    return "by a test" if case.program_id else "by the screener"
