"""A build's rounds side by side, what each rule would make of them, and where they part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from django.http import QueryDict

from annotation import rounds
from annotation.agreement import Figure
from annotation.intervals import FEW
from annotation.merging import WORDS, Outlook, Rule, outlook
from annotation.models import Build, Case, Merge
from annotation.pages.paging import window
from annotation.pages.words import Sign, case_sign, dollars
from annotation.review.order import Parted
from annotation.rounds import Agreement, Round
from retrieval.models import Annotator

PAGE_SIZE: Final = 20


@dataclass(frozen=True, slots=True)
class RoundLink:
    """What one round said of a pair, and its case."""

    number: int
    case: int
    sign: Sign


@dataclass(frozen=True, slots=True)
class RoundRow:
    """One round, ready to be read."""

    number: int
    judged: str
    matches: str
    unclear: str
    abandoned: int
    calls: int
    cost: str

    @property
    def counts(self) -> tuple[tuple[str, str, str], ...]:
        """(name, what is said of it, query of its cases in the round, empty where there is none)."""
        return (
            ("Settled", self.judged, "stage=settled"),
            ("Matches", self.matches, "label=1"),
            ("Unclear", self.unclear or "–", "reached=unclear" if self.unclear else ""),
            ("Abandoned", f"{self.abandoned:,}", "stage=abandoned" if self.abandoned else ""),
        )


@dataclass(frozen=True, slots=True)
class SaidRow:
    """So many pairs of which so many rounds said this."""

    matches: int
    no_matches: int
    unjudged: int
    pairs: int
    parts: bool


@dataclass(frozen=True, slots=True)
class RuleRow:
    """What a rule does, what it would give now, and its last merge."""

    rule: Rule
    name: str
    words: str
    outlook: Outlook
    last: Merge | None


@dataclass(frozen=True, slots=True)
class PartedRow:
    """A pair to which two rounds gave different labels."""

    pair: int
    query: str
    snippet: str
    rank: int
    rounds: tuple[RoundLink, ...]


@dataclass(frozen=True, slots=True)
class Statistic:
    """A figure in words; the interval is empty where there is none."""

    value: str
    interval: str


@dataclass(frozen=True, slots=True)
class RoundsPage:
    """The page. `alpha` and `alike` are None where no pair was judged twice."""

    build: Build
    pairs: int
    parted: int
    rows: tuple[RoundRow, ...]
    said: tuple[SaidRow, ...]
    rules: tuple[RuleRow, ...]
    merges: tuple[Merge, ...]
    agreement: Agreement | None
    alpha: Statistic | None
    alike: Statistic | None
    apart: tuple[PartedRow, ...]
    previous: str
    next: str
    worklist: Parted
    few: int = FEW

    @property
    def seen(self) -> list[int]:
        """The pairs whose labels the page shows."""
        return [row.pair for row in self.apart]

    @property
    def likeliest(self) -> bool:
        """Whether the model gives its likeliest answer in every round."""
        return bool(self.build.annotator.config.get("sampling", {}).get("temperature") == 0)


def rounds_page(build: Build, params: QueryDict) -> RoundsPage:
    """The page of a build that was read with its tally and annotator."""
    found = rounds.rounds_of(build)
    parted = rounds.parted(build).select_related("pair__query", "pair__snippet")
    page = window(parted, ("query_id", "rank", "id"), params, PAGE_SIZE)
    agreement = found.agreement
    alone = build.annotator.kind == Annotator.Kind.SINGLE_LLM
    return RoundsPage(
        build=build,
        pairs=found.pairs,
        parted=found.parted,
        rows=tuple(round_row(one, alone) for one in found.rounds),
        said=said_rows(found),
        rules=rule_rows(build, found),
        merges=tuple(Merge.objects.filter(build=build).select_related("asked_by", "annotator")[:PAGE_SIZE]),
        agreement=agreement,
        alpha=statistic(agreement.alpha) if agreement else None,
        alike=statistic(agreement.alike) if agreement else None,
        apart=parted_rows(page.rows),
        previous=page.previous,
        next=page.next,
        worklist=Parted(),
    )


def round_row(found: Round, alone: bool) -> RoundRow:
    return RoundRow(
        number=found.number,
        judged=f"{found.settled:,} of {found.cases:,}",
        matches=share(found.matches, found.settled),
        unclear="" if alone else share(found.unclear, found.screened),
        abandoned=found.abandoned,
        calls=found.calls,
        cost=dollars(found.cost),
    )


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def statistic(found: Figure) -> Statistic:
    value = "–" if found.value is None else f"{found.value:.3f}"
    if found.low is None or found.high is None:
        return Statistic(value, "")
    return Statistic(value, f"{found.low:.3f} to {found.high:.3f}")


def said_rows(found: rounds.Rounds) -> tuple[SaidRow, ...]:
    """The most frequent first."""
    rows = sorted(found.said.items(), key=lambda row: (-row[1], row[0].matches, row[0].no_matches))
    return tuple(
        SaidRow(said.matches, said.no_matches, said.rounds - said.judged, pairs, said.parts)
        for said, pairs in rows
    )


def rule_rows(build: Build, found: rounds.Rounds) -> tuple[RuleRow, ...]:
    last = {row.rule: row for row in Merge.objects.filter(build=build).order_by("pk")}
    return tuple(RuleRow(rule, *WORDS[rule], outlook(rule, found.said), last.get(rule)) for rule in Rule)


def parted_rows(cases: Sequence[Case]) -> tuple[PartedRow, ...]:
    """With every round of each pair; one query."""
    beside = rounds.beside(cases)
    return tuple(
        PartedRow(
            pair=case.pair_id,
            query=case.pair.query.head,
            snippet=case.pair.snippet.head,
            rank=case.rank,
            rounds=links(beside[case.candidate_id]),
        )
        for case in cases
    )


def links(cases: Iterable[Case]) -> tuple[RoundLink, ...]:
    return tuple(RoundLink(case.round, case.pk, case_sign(case.stage, case.label)) for case in cases)


def links_of(case: Case) -> tuple[RoundLink, ...]:
    """All rounds of the pair of a case, which is read with its build; nothing where there is one."""
    if case.build.rounds == 1:
        return ()
    return links(rounds.beside([case])[case.candidate_id])
