"""Which cases of a build are wanted, in which order: few are sorted, of many the order's index is walked.

Databases guess which way is shorter, and SQLite without statistics guesses badly. We know, as the list says
how many there are: few cases are all found by what they are wanted for, and sorted; of many, the index of
their order is walked until the page is full. Each way is asked for by conditions that fit no index of the
other's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final
from urllib.parse import urlencode

from django.db.models import Case as Choice
from django.db.models import Exists, OuterRef, Q, QuerySet, When
from django.db.models.functions import Coalesce
from django.http import QueryDict

from annotation.builds.limits.canary import canary_of_build
from annotation.builds.results.build_comparison import rare_cell
from annotation.builds.results.canary_statistics import OF_CANARY, drawn_for
from annotation.builds.results.case_queryset import EXECUTED, REACHING
from annotation.models import Build, Canary, Case, Review
from annotation.review.tags import Tag
from annotation.review.worklists.reviewed_cases import tagged_pairs
from annotation.stages import Stage
from annotation.web.builds.figures import AGENTS, REACHED
from annotation.web.shared.pagination import (
    ALL,
    MOST_COUNTED,
    Groups,
    Window,
    count_some,
    load_page_window,
    said_count,
)
from retrieval.models import QueryText

UNLABELLED: Final = Q(stage__in=[stage.value for stage in Stage if stage is not Stage.SETTLED])
"""Only settled cases have a label, and stages have an index."""
UNSETTLED: Final = (UNLABELLED, *(Q(stage=stage.value) for stage in Stage if stage is not Stage.SETTLED))
REACHED_BY: Final = {agent: REACHED[stage] for stage, agent in AGENTS.items()}
"""How far a case came that an agent worked on."""
RAN: Final[Mapping[str, Mapping[str, bool]]] = {
    "yes": {"execution__ran": True},
    "no": {"execution__ran": False},
    "tested": {"execution__touched": True},
    "untested": {"execution__touched": False},
}
"""What a case's last program came to."""


@dataclass(frozen=True, slots=True)
class Sort:
    """An order that an index gives: of each of the groups, one after another, or of all."""

    word: str
    order: tuple[str, ...]
    groups: Groups = ALL
    by: str = ""
    """The filter that leaves one group at most."""


TESTED: Final = Q(label__isnull=False, program__isnull=False)
CLEAR: Final = Q(label__isnull=False, program__isnull=True)
OPEN: Final = Q(label__isnull=True)
WAYS: Final = (TESTED, CLEAR, OPEN)
"""How cases were settled, if they are: word for word what their indexes by duration ask for."""
SORTS: Final[Mapping[str, Sort]] = {
    "made": Sort("in order of creation", ("pk",)),
    "rank": Sort("rank", ("rank", "pk")),
    "score": Sort("highest score first", ("-score", "-pk")),
    "stage": Sort("stage", ("pk",), tuple(Q(stage=stage.value) for stage in Stage), "stage"),
    "label": Sort("label, matches first", ("pk",), (Q(label=1), Q(label=0), UNLABELLED), "label"),
    "time": Sort("last changed first", ("-updated_at", "-pk")),
    "duration": Sort("slowest first, tested before clear", ("-seconds", "-pk"), WAYS),
}


NEUTRAL: Final = ("q", "round", "sort")
"""Filters that nothing which was said of a case decides on; of orders it is the one in order of creation."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which cases are wanted; empty means all."""

    stage: str = ""
    reached: str = ""
    label: str = ""
    outcome: str = ""
    ran: str = ""
    agent: str = ""
    tag: str = ""
    cause: str = ""
    left: str = ""
    q: str = ""
    differs: str = ""
    round: str = ""
    against: str = ""
    """The key of another build: cases of its common pairs, as a comparison takes them."""
    other: str = ""
    """What that build said of the pair: 1, 0 or none."""
    other_by: str = ""
    """By what it said that: test or screener."""
    canary: str = ""
    """Which of the canary's cases, in their first round: drawn, finished or refused."""
    extension: str = ""
    """The number of an extension: of its canary instead of the build's own."""
    sort: str = field(default="made", metadata={"narrows": False})

    @property
    def tells(self) -> bool:
        """Whether the cases in a list, or their order, give away verdicts."""
        names = (known.name for known in fields(self) if known.name not in NEUTRAL)
        return self.sort != "made" or any(getattr(self, name) for name in names)

    @property
    def of_test(self) -> bool:
        """Whether the cases are those whose test a person found wrong."""
        return bool(self.tag) and Tag(self.tag).of_test

    @property
    def narrow(self) -> bool:
        return bool(self.query)

    @property
    def query(self) -> str:
        """The filters as a query string, without the order."""
        names = (known.name for known in fields(self) if known.metadata.get("narrows", True))
        return urlencode({name: value for name in names if (value := getattr(self, name))})


@dataclass(frozen=True, slots=True)
class Found:
    """The cases of one page, by their keys alone, and how many pass the filters (`987` or `1,000+`)."""

    window: Window[Case]
    count: str


def find_case_page(
    build: Build, visible: QuerySet[Build], filters: Filters, params: QueryDict, size: int, query: int = 0
) -> Found:
    """The page that `params` asks for; `visible` are the builds whose reviews count, `query` a text or all.

    Those that experts contradict have an index in each order, however many they are. A case that has left
    the filters since the page before still says where the next one begins.
    """
    rows, sort = filter_build_cases(build, visible, filters, query), SORTS[filters.sort]
    number = count_some(rows)
    if not number:
        return Found(Window((), "", ""), "0")
    of_build = Case.objects.filter(build=build)
    if filters.differs or not are_few(number, build.tally.total, size):
        rows = filter_build_cases(build, visible, filters, query, walked=True)
        page = load_page_window(
            rows.only("pk"), sort.order, params, size, groups_of(sort, filters), among=of_build
        )
    else:
        by, order = sorted_by(sort)
        page = load_page_window(
            rows.alias(by=by).only("pk"), order, params, size, among=of_build.annotate(by=by)
        )
    return Found(page, said_count(number))


def groups_of(sort: Sort, filters: Filters) -> Groups:
    """The order's groups that the filters leave something of: only settled cases are contradicted."""
    if sort.by and getattr(filters, sort.by):
        return ALL
    if sort.groups is WAYS:
        return ways_of(filters)
    if not filters.differs:
        return sort.groups
    left = tuple(group for group in sort.groups if group not in UNSETTLED)
    return left if len(left) > 1 else ALL  # by one alone SQLite would be led to the index of stages


def ways_of(filters: Filters) -> Groups:
    """The ways that the filters may leave a case of: one that they leave none of would be walked to its end.

    Those that experts contradict have an index of their own, which the words of the others would hide.
    """
    if filters.differs:
        return (Q(program__isnull=False), Q(program__isnull=True))
    reached = {filters.reached, REACHED_BY.get(filters.agent, "")} - {""}
    settled = filters.stage in {"", Stage.SETTLED} and filters.label != "none"
    settled = settled and not (filters.cause or filters.left)
    is_open = filters.stage != Stage.SETTLED and filters.label in {"", "none"}
    possible = {
        TESTED: settled and "clear" not in reached,
        CLEAR: settled and reached <= {"screened", "clear"} and not (filters.ran or filters.outcome),
        OPEN: is_open and not reached & {"clear", "arbitrated"},
    }
    return tuple(way for way in WAYS if possible[way]) or ALL


def are_few(number: int, total: int, size: int) -> bool:
    """Whether sorting them all takes less than walking on until a page is full, past so many others."""
    return number <= MOST_COUNTED and number**2 <= size * total


def sorted_by(sort: Sort) -> tuple[Any, tuple[str, ...]]:
    """What orders few rows, by an expression that no index has, and the order by it."""
    if len(sort.groups) > 1:
        places = (When(group, then=place) for place, group in enumerate(sort.groups))
        return Choice(*places, default=len(sort.groups)), ("by", *sort.order)
    name = sort.order[0].lstrip("-")
    sign = "-" if sort.order[0].startswith("-") else ""
    return Coalesce(name, name), (f"{sign}by", *sort.order[1:])


def filter_build_cases(
    build: Build, visible: QuerySet[Build], filters: Filters, query: int = 0, *, walked: bool = False
) -> QuerySet[Case]:
    """The build's cases that pass the filters; `walked`: they are gone through in the order of an index."""
    rows = Case.objects.filter(build=build)
    if query:
        rows = rows.filter(query=query)
    if filters.stage:
        rows = rows.filter(stage=filters.stage)
    if filters.label:
        rows = rows.filter(build_label_condition(filters.label, walked=walked and filters.sort != "made"))
    if filters.outcome:
        rows = rows.filter(execution__isnull=False, execution__outcome=filters.outcome)
    if filters.ran:
        rows = rows.filter(EXECUTED, execution__isnull=False, **RAN[filters.ran])
    if filters.tag:
        rows = rows.filter(pair__in=tagged_pairs(Tag(filters.tag)))
    if filters.cause or filters.left:
        rows = rows.filter(stage=Stage.ABANDONED)
    if filters.cause:
        rows = rows.filter(cause=filters.cause)
    if filters.left:
        rows = rows.filter(left_stage=filters.left)
    for key in filter(None, (filters.reached, REACHED_BY.get(filters.agent))):
        rows = rows.filter(REACHING[key])
    if filters.q:
        rows = rows.filter(build_query_text_condition(filters.q, walked=walked))
    if filters.differs:
        rows = rows.filter(build_contradiction_condition(visible))
    if filters.round:
        rows = rows.filter(round=int(filters.round))
    if filters.against:
        rows = rows.filter(
            build_shared_pair_condition(visible, filters), cell_of(build, visible, filters), round=1
        )
    if filters.canary:
        row = canary_of(build, filters.extension)
        rows = rows.filter(drawn_for(row, OF_CANARY[filters.canary])) if row else rows.none()
    return rows


def list_told_cases(build: Build, filters: Filters, query: int = 0) -> QuerySet[Case]:
    """The cases of which such a list tells: those that it has, and those that it leaves out."""
    if not filters.tells:
        return Case.objects.none()
    return filter_build_cases(build, Build.objects.none(), Filters(q=filters.q), query)


def canary_of(build: Build, extension: str) -> Canary | None:
    """The build's own canary, or that of its extension with this number."""
    if not extension:
        return canary_of_build(build)
    return Canary.objects.of_extension(build, int(extension)).select_related("build").first()


def build_shared_pair_condition(visible: QuerySet[Build], filters: Filters) -> Q:
    """Cases whose pair another `visible` build has too, with what that build said in its first round."""
    cases = Case.objects.filter(build__in=visible.filter(pk=int(filters.against)), pair=OuterRef("pair"))
    cases = cases.filter(round=1).order_by()
    if filters.other:
        label = None if filters.other == "none" else int(filters.other)
        cases = cases.filter(label__isnull=True) if label is None else cases.filter(label=label)
    if filters.other_by:
        cases = cases.filter(program__isnull=filters.other_by == "screener")
    return Q(Exists(cases))


def cell_of(build: Build, visible: QuerySet[Build], filters: Filters) -> Q:
    """The cases themselves where they are those of a rare cell of the comparison; else no condition."""
    other = visible.filter(pk=int(filters.against)).select_related("tally").first()
    if other is None or not (filters.other and filters.label):
        return Q()
    said = (None if word == "none" else int(word) for word in (filters.other, filters.label))
    cases = rare_cell(other, build, *said)
    return Q() if cases is None else Q(pk__in=cases)


def build_label_condition(label: str, *, walked: bool) -> Q:
    """1, 0 or none. Matches have an index in the order in which cases were made; a comparison is not its."""
    if label == "none":
        return UNLABELLED
    if walked:
        return Q(label__gte=1) if label == "1" else Q(label__lte=0)
    return Q(label=int(label))


def build_query_text_condition(part: str, *, walked: bool) -> Q:
    """Cases whose query contains the text."""
    queries = QueryText.objects.containing(part)
    if walked:
        return Q(Exists(queries.filter(text=OuterRef("query"))))
    return Q(query__in=queries.values("text"))


def build_contradiction_condition(visible: QuerySet[Build]) -> Q:
    """Settled cases whose pair an expert labelled otherwise, beside a case of the `visible` builds.

    That is kept with the case. Where a build is hidden, what was said beside its cases does not count: so of
    the cases that anybody contradicts the others' labels are looked at.
    """
    hidden = list(Build.objects.exclude(pk__in=visible.values("pk")).values_list("pk", flat=True))
    if not hidden:
        return Q(contradicted=True)
    said = Review.objects.current().filter(pair=OuterRef("pair"), label=1 - OuterRef("label")).order_by()
    return Q(Exists(said.exclude(case__build__in=hidden)), contradicted=True)


def load_listed_cases(ids: list[int]) -> list[Case]:
    """The cases with these keys, in this order, with what a list shows of each."""
    rows = Case.objects.select_related("pair__query", "pair__snippet", "execution")
    cases = rows.order_by().in_bulk(ids)
    return [cases[pk] for pk in ids if pk in cases]
