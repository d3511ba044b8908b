"""The page that sets the labels of given pairs beside what builds and experts say of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.core.cache import cache
from django.db.models import Max, QuerySet
from django.http import QueryDict

from annotation.causes import said as cause_said
from annotation.intervals import FEW, Share
from annotation.label_audit import Audit, Experts, Figures, How, Row, audit_of, figures_of
from annotation.label_audit.figures import Cell, said
from annotation.models import Build
from annotation.pages.browse import chosen
from annotation.pages.candidates import first_line
from annotation.pages.paging import query_string, whole_number
from annotation.pages.words import ABANDONED, MATCH, NO_MATCH, Sign
from retrieval.models import Label, Pair, PairList

PAGE_SIZE: Final = 50
KEPT_SECONDS: Final = 3600
NO_LABEL: Final = Sign("–", "no label")
OPEN: Final = Sign("…", "open")
ONE_REVIEW: Final = Sign("?", "too few", "warn")
NOBODY: Final = Sign("–", "none")
ORIGINALS: Final = (("1", "match"), ("0", "no match"), ("none", "no label"))
SAID: Final = (("1", "match"), ("0", "no match"), ("abandoned", "abandoned"), ("open", "open"))
HOW: Final = (
    ("screener", "by the screener"),
    ("tested", "after a test"),
    ("alone", "by one model alone"),
)
EXPERTS: Final = (
    ("1", "match"),
    ("0", "no match"),
    ("few", "reviewed, but no two agree"),
    ("none", "not reviewed"),
)
DIFFERS: Final = (("yes", "differ"), ("no", "all the same"))
SIGNS: Final[Mapping[str, Sign]] = {"1": MATCH, "0": NO_MATCH, "abandoned": ABANDONED, "open": OPEN}
EXPERT_SIGNS: Final[Mapping[str, Sign]] = {
    Experts.MATCH: MATCH,
    Experts.NO_MATCH: NO_MATCH,
    Experts.FEW: ONE_REVIEW,
    Experts.NONE: NOBODY,
}
BY_EXPERTS: Final = "experts"
GROUPS: Final = ("Upheld", *(f"Upheld, settled {word}" for _, word in HOW), "Could not be judged")
ANY_LABEL: Final[Mapping[int | None, str]] = {None: "all labels", 1: "“match”", 0: "“no match”"}


@dataclass(frozen=True, slots=True)
class Filters:
    """Which pairs are wanted; empty means all. `said` and `how` are of the page's build."""

    original: str = ""
    said: str = ""
    how: str = ""
    experts: str = ""
    differs: str = ""

    @property
    def query(self) -> str:
        return urlencode({name: value for name in self.__slots__ if (value := getattr(self, name))})


@dataclass(frozen=True, slots=True)
class Told:
    """What a build says of a pair, and its case; no case beyond a limit."""

    build: Build
    sign: Sign
    case: int | None
    how: str
    differs: bool


@dataclass(frozen=True, slots=True)
class PairRow:
    """A pair in the list; texts are the beginnings that lists show."""

    pair: int
    query: str
    snippet: str
    original: Sign
    told: tuple[Told, ...]
    experts: Sign
    differs: bool

    @property
    def case(self) -> int | None:
        """The case whose page shows the evidence."""
        return next((one.case for one in self.told if one.case is not None), None)


@dataclass(frozen=True, slots=True)
class CellCount:
    """So many pairs of which experts say this, and the filters that list them."""

    experts: Sign
    pairs: int
    query: str
    is_flip: bool


@dataclass(frozen=True, slots=True)
class CrossRow:
    """The pairs with this original label of which the build says this, by what experts say."""

    original: Sign
    said: Sign
    cells: tuple[CellCount, ...]


@dataclass(frozen=True, slots=True)
class RateRow:
    """A share for every build, by its name, and for experts; None where there is none."""

    name: str
    group: str
    shares: tuple[tuple[str, Share | None], ...]


@dataclass(frozen=True, slots=True)
class AuditPage:
    """The audit of a build's given pairs; `problem` says why there is none."""

    build: Build
    given: PairList
    builds: tuple[Build, ...] = ()
    problem: str = ""
    filters: Filters = Filters()
    rows: tuple[PairRow, ...] = ()
    count: int = 0
    cross: tuple[CrossRow, ...] = ()
    rates: tuple[RateRow, ...] = ()
    figures: Figures | None = None
    flips: int = 0
    left_out: tuple[str, ...] = ()
    previous: str = ""
    next: str = ""
    few: int = FEW

    @property
    def is_open(self) -> bool:
        """Whether any of the builds still works."""
        return any(not one.is_over for one in self.builds)

    @property
    def seen(self) -> list[int]:
        """The pairs whose labels are on the page."""
        return [row.pair for row in self.rows]

    @property
    def options(self) -> Mapping[str, Sequence[tuple[str, str]]]:
        return {"original": ORIGINALS, "said": SAID, "how": HOW, "experts": EXPERTS, "differs": DIFFERS}

    @property
    def expert_signs(self) -> tuple[Sign, ...]:
        return tuple(EXPERT_SIGNS[one] for one in Experts)


def filters_of(params: QueryDict) -> Filters:
    """The filters in a query string; what is not on the menu counts as not given."""
    return Filters(
        original=chosen(params.get("original", ""), ORIGINALS),
        said=chosen(params.get("said", ""), SAID),
        how=chosen(params.get("how", ""), HOW),
        experts=chosen(params.get("experts", ""), EXPERTS),
        differs=chosen(params.get("differs", ""), DIFFERS),
    )


def audit_page(build: Build, visible: QuerySet[Build], params: QueryDict) -> AuditPage:
    """The page with the pairs that `params` ask for. Raises StudyRefused, see `audit_of`."""
    audit, filters = audit_of(build, visible), filters_of(params)
    figures = [kept(audit, place) for place in range(len(audit.builds))]
    wanted = ordered(row for row in audit.rows if passes(row, filters))
    page, previous, following = window(wanted, params)
    return AuditPage(
        build=build,
        given=audit.given,
        builds=audit.builds,
        filters=filters,
        rows=tuple(pair_rows(page, audit.builds)),
        count=len(wanted),
        cross=tuple(cross_rows(figures[0])),
        rates=tuple(rate_rows(figures, audit.builds)),
        figures=figures[0],
        flips=sum(flipped(row) for row in audit.rows),
        left_out=audit.left_out,
        previous=previous,
        next=following,
    )


def kept(audit: Audit, place: int) -> Figures:
    """The figures of one of the builds, drawn once until a label or a case changes."""
    build = audit.builds[place]
    last = Label.objects.aggregate(last=Max("pk"))["last"]
    key = f"audit:{audit.given.pk}.{build.pk}.{build.created_at:%s%f}.{build.tally.version}.{last}"
    key += "".join(f".{name}" for name in audit.left_out).encode().hex()[:100]
    found: Figures | None = cache.get(key)
    if found is None:
        found = figures_of(audit, place)
        cache.set(key, found, KEPT_SECONDS)
    return found


def flipped(row: Row) -> bool:
    """Whether the page's build says the other label than the original one."""
    verdict = row.verdicts[0]
    label = None if verdict is None else verdict.label
    return None not in {row.original, label} and label != row.original


def passes(row: Row, filters: Filters) -> bool:
    verdict = row.verdicts[0]
    original = "none" if row.original is None else str(row.original)
    return (
        filters.original in {"", original}
        and filters.said in {"", said(row, 0)}
        and filters.how in {"", str(verdict.how) if verdict else ""}
        and filters.experts in {"", str(row.experts)}
        and filters.differs in {"", "yes" if row.differs else "no"}
    )


def ordered(rows: Iterable[Row]) -> list[Row]:
    """The pairs that differ first, otherwise as they are."""
    return sorted(rows, key=lambda row: not row.differs)


def window(rows: Sequence[Row], params: QueryDict) -> tuple[Sequence[Row], str, str]:
    """The page after or before a pair, and the query strings of the pages around it; empty at an end."""
    places = {row.pair: place for place, row in enumerate(rows)}
    after = places.get(whole_number(params.get("after", "")))
    before = places.get(whole_number(params.get("before", "")))
    start = 0 if after is None else after + 1
    if before is not None:
        start = max(0, before - PAGE_SIZE)
    page = rows[start : start + PAGE_SIZE]
    previous = query_string(params, "before", page[0].pair) if page and start else ""
    following = query_string(params, "after", page[-1].pair) if len(rows) > start + PAGE_SIZE else ""
    return page, previous, following


def pair_rows(rows: Sequence[Row], builds: Sequence[Build]) -> Iterator[PairRow]:
    """What the list shows. One query."""
    pairs = Pair.objects.select_related("query", "snippet").in_bulk([row.pair for row in rows])
    for row in rows:
        pair = pairs[row.pair]
        yield PairRow(
            pair=row.pair,
            query=pair.query.head,
            snippet=first_line(pair.snippet.head),
            original=sign_of(row.original),
            told=tuple(told(row, place, build) for place, build in enumerate(builds)),
            experts=EXPERT_SIGNS[row.experts],
            differs=row.differs,
        )


def told(row: Row, place: int, build: Build) -> Told:
    verdict = row.verdicts[place]
    if verdict is None:
        return Told(build, OPEN, None, "", differs=False)
    differs = None not in {verdict.label, row.original} and verdict.label != row.original
    how = cause_said(verdict.cause)[0] if verdict.how is How.ABANDONED else dict(HOW).get(verdict.how, "")
    return Told(build, SIGNS[verdict.said], verdict.case, how, differs)


def sign_of(label: int | None) -> Sign:
    return NO_LABEL if label is None else SIGNS[str(label)]


def cross_rows(figures: Figures) -> Iterator[CrossRow]:
    """Original label × what the build says, with a column for each answer of experts; no empty rows."""
    for original in (1, 0, None):
        for value in SIGNS:
            counts = [figures.cells.get(Cell(original, value, experts), 0) for experts in Experts]
            if any(counts):
                told = "none" if original is None else str(original)
                flip = value in {"1", "0"} and original is not None and value != told
                cells = (
                    CellCount(
                        EXPERT_SIGNS[experts], count, Filters(told, value, "", str(experts)).query, flip
                    )
                    for count, experts in zip(counts, Experts, strict=True)
                )
                yield CrossRow(sign_of(original), SIGNS[value], tuple(cells))


def rate_rows(figures: Sequence[Figures], builds: Sequence[Build]) -> Iterator[RateRow]:
    """Every rate that one of the builds has, by group; what experts uphold is a column of its own."""
    keys = dict.fromkeys((one.what, one.original, one.by) for each in figures for one in each.rates)
    for what, original, by in sorted(keys, key=lambda key: GROUPS.index(group_of(key[0], key[2]))):
        if by == BY_EXPERTS:
            continue
        shares = [each.rate(what, original, by) for each in figures]
        experts = figures[0].rate(what, original, BY_EXPERTS) if not by else None
        named = [(build.name, share) for build, share in zip(builds, shares, strict=True)]
        yield RateRow(name_of(what, original, by), group_of(what, by), (*named, ("Experts", experts)))


def group_of(what: str, by: str) -> str:
    if what == "unjudged":
        return "Could not be judged"
    return f"Upheld, settled {dict(HOW)[by]}" if by in dict(HOW) else "Upheld"


def name_of(what: str, original: int | None, by: str) -> str:
    if what == "unjudged" and by:
        return cause_said(by)[0]
    return "all pairs" if what == "unjudged" and original is None else ANY_LABEL[original]
