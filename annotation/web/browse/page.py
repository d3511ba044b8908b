"""What readers browse: the builds, and the queries of one build with how many matches each has.

Of a build with several rounds these pages count the first; the others stand beside each candidate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, Final

from django.db.models import Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import QueryDict

from annotation.models import Build, Case, Review
from annotation.models.builds.cases import OPEN
from annotation.review.hidden_labels import counted_label, hides_labels_from
from annotation.stages import Stage
from annotation.web.cases.filters import build_contradiction_condition, build_query_text_condition
from annotation.web.cases.row_counts import Number, number_of
from annotation.web.review.tags import TAG_WORDS
from annotation.web.shared.pagination import (
    Menu,
    Window,
    format_row_count,
    load_page_window,
    pick_menu_values,
)
from retrieval.models import Annotator, Label, Member, QueryText

PAGE_SIZE = 40
LONGEST_SEARCH = 200

MATCHES: Final = (("0", "none"), ("1", "1"), ("2-4", "2 to 4"), ("5+", "5 or more"))
MENUS: Final[Mapping[str, Menu]] = {
    "state": (("open", "still open"), ("abandoned", "with abandoned pairs"), ("settled", "all settled")),
    "differs": (
        ("experts", "expert disagrees"),
        ("overruled", "experts overrule agents"),
        ("original", "original label differs"),
        ("any", "either"),
    ),
    "tag": TAG_WORDS,
    "sort": (("position", "as imported"), ("text", "by text"), ("matches", "most matches first")),
}
ORDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "position": ("position",),
    "text": ("text__head", "position"),
    "matches": ("-found", "position"),
}


@dataclass(frozen=True, slots=True)
class Filters:
    """Which queries are wanted. Empty means all; `matches` is `N`, `N-M` or `N+`."""

    text: str = ""
    matches: str = ""
    state: str = ""
    differs: str = ""
    tag: str = ""
    sort: str = "position"

    @property
    def narrow(self) -> bool:
        return bool(self.text or self.chooses)

    @property
    def chooses(self) -> bool:
        """Whether the list depends on verdicts about the candidates."""
        return bool(self.matches or self.state or self.differs or self.tag)


@dataclass(frozen=True, slots=True)
class CandidateCounts:
    """A query's candidates by their label in force; abandoned ones without a label are unjudged, too."""

    candidates: int
    matches: int
    no_matches: int
    abandoned: int

    @property
    def unjudged(self) -> int:
        return self.candidates - self.matches - self.no_matches

    @property
    def alike(self) -> bool:
        """Whether they tell the label of each judged pair."""
        return bool(self.matches) != bool(self.no_matches)

    @property
    def match_share(self) -> float:
        """In percent of the candidates."""
        return round(100 * self.matches / self.candidates, 2)

    @property
    def judged_share(self) -> float:
        """In percent of the candidates."""
        return round(100 * (self.matches + self.no_matches) / self.candidates, 2)


def builds_page(visible: QuerySet[Build], params: QueryDict) -> Window[Build]:
    """The builds, the newest first."""
    rows = visible.select_related("tally", "queries", "snippets")
    return load_page_window(rows, ("-created_at", "-id"), params, PAGE_SIZE)


def filters_of(params: QueryDict, menus: Mapping[str, Menu] = MENUS) -> Filters:
    """The filters in a query string; what is not on the menus counts as not given.

    It says `found`, because a field named `matches` would hide the form's own method of that name.
    """
    return Filters(
        text=params.get("q", "").replace("\x00", "").strip()[:LONGEST_SEARCH],
        matches=params.get("found", "") if bounds_of(params.get("found", "")) else "",
        **{name: value for name, value in pick_menu_values(params, menus).items() if value},
    )


def bounds_of(matches: str) -> tuple[int, int | None] | None:
    """(least, most) of `3`, `2-4` or `5+`; None if it is none of them."""
    low, dash, high = matches.removesuffix("+").partition("-")
    parts = [low, high] if dash else [low]
    if not all(part.isascii() and part.isdigit() and len(part) <= 6 for part in parts):
        return None
    if matches.endswith("+"):
        return None if dash else (int(low), None)
    return int(low), int(high or low)


def menus_for(user: Any, build: Build) -> Mapping[str, Menu]:
    """The filters that the person may use: none by what other experts said, where that is hidden."""
    if not hides_labels_from(user, build):
        return MENUS
    original = [choice for choice in MENUS["differs"] if choice[0] == "original"]
    return {**MENUS, "differs": original, "tag": ()}


def queries_page(
    build: Build, visible: QuerySet[Build], params: QueryDict, user: Any = None
) -> dict[str, Any]:
    """One page of the build's queries that pass the filters. Cases are added up for these queries only.

    `told` are the queries (text ids) whose counts tell each label; `picked` the pairs for what was said of
    which the filters leave these queries. `user` is who looks; None: somebody who sees all.
    """
    menus, column = menus_for(user, build), counted_label(user, build)
    filters = filters_of(params, menus)
    rows = filter_query_members(build, visible, filters, column)
    page = load_page_window(rows.select_related("text"), ORDERS[filters.sort], params, PAGE_SIZE)
    shown = [member.text_id for member in page.rows]
    counts = counts_of(build, shown, column)
    chosen = filters.matches and filters.matches not in dict(MATCHES)  # by a link
    classes = (*MATCHES, (filters.matches, filters.matches)) if chosen else MATCHES
    return {
        "build": build,
        "can_compare": visible.exclude(pk=build.pk).filter(opened=True).exists(),
        "filters": filters,
        "queries": [(member, counts[member.text_id]) for member in page.rows],
        "number": number_of(format_row_count(rows), rows, params),
        "previous": page.previous,
        "next": page.next,
        "told": [query for query, found in counts.items() if found.alike],
        "picked": list(find_filtered_pair_ids(build, visible, filters, shown)),
        "options": {**menus, "matches": classes},
    }


def list_told_cases(build: Build, params: QueryDict) -> QuerySet[Case]:
    """The cases of which such a list, or its number, tells: also those of the queries that it leaves out."""
    filters = filters_of(params)
    cases = Case.objects.filter(build=build, round=1)
    if not filters.chooses and filters.sort != "matches":
        return cases.none()
    return cases.filter(build_query_text_condition(filters.text, walked=False)) if filters.text else cases


def queries_number(build: Build, visible: QuerySet[Build], params: QueryDict, user: Any = None) -> Number:
    """How many queries pass the filters, alone."""
    filters = filters_of(params, menus_for(user, build))
    rows = filter_query_members(build, visible, filters, counted_label(user, build))
    return number_of(format_row_count(rows), rows, params)


def filter_query_members(
    build: Build, visible: QuerySet[Build], filters: Filters, column: str = "label_in_force"
) -> QuerySet[Member]:
    """The members of the build's queries that have cases and pass the filters."""
    cases = Case.objects.filter(build=build, query=OuterRef("text"), round=1)
    rows = Member.objects.filter(Exists(cases), collection=build.queries_id)
    if filters.text:
        rows = rows.filter(text__in=QueryText.objects.containing(filters.text).values("text"))
    if filters.matches or filters.sort == "matches":
        rows = rows.annotate(found=matches_found(cases, column))
    if filters.matches:
        rows = rows.filter(build_match_count_condition(filters.matches))
    if filters.state:
        rows = rows.filter(in_state(build, cases, filters.state))
    if filters.differs:
        rows = rows.filter(build_disagreement_condition(build, visible, filters.differs))
    if filters.tag:
        rows = rows.filter(text__in=find_tagged_cases(build, visible, filters.tag).values("query"))
    return rows


def find_tagged_cases(build: Build, visible: QuerySet[Build], tag: str) -> QuerySet[Case]:
    """The build's cases whose pair carries the tag, by a label that stands and that the reader may see."""
    reviews = Review.objects.current().tagged(tag).filter(case__build__in=visible)
    return Case.objects.filter(build=build, round=1, pair__in=reviews.values("pair"))


def find_filtered_pair_ids(
    build: Build, visible: QuerySet[Build], filters: Filters, queries: Sequence[int]
) -> Iterator[int]:
    """The pairs (ids) of these queries whose labels differ, or that carry the tag, as the filters ask."""
    found = [find_contested_cases(build, visible, kind) for kind in kinds_of(filters.differs)]
    found += [find_tagged_cases(build, visible, filters.tag)] if filters.tag else []
    for cases in found:
        yield from cases.filter(query__in=queries).order_by().values_list("pair", flat=True)


def matches_found(cases: QuerySet[Case], column: str) -> Coalesce:
    """How many cases of a query are matches, by the label in that column.

    Of cases without one nothing is asked: the stage would lead SQLite to the wrong index.
    """
    found = cases.filter(**{column: 1}).order_by().values("query")
    return Coalesce(Subquery(found.annotate(n=Count("pk")).values("n")), 0, output_field=IntegerField())


def build_match_count_condition(matches: str) -> Q:
    bounds = bounds_of(matches)
    assert bounds is not None, "filters_of lets only readable bounds pass"
    least, most = bounds
    return Q(found__gte=least) if most is None else Q(found__gte=least, found__lte=most)


def in_state(build: Build, cases: QuerySet[Case], state: str) -> Q:
    if state == "settled":
        return ~Q(Exists(cases.filter(label__isnull=True)))
    stages = [Stage.ABANDONED] if state == "abandoned" else list(OPEN)
    return Q(text__in=Case.objects.filter(build=build, round=1, stage__in=stages).values("query"))


def build_disagreement_condition(build: Build, visible: QuerySet[Build], kind: str) -> Q:
    """Queries with a settled case whose pair experts, the original data, or either labelled differently."""
    found = (find_contested_cases(build, visible, by).values("query") for by in kinds_of(kind))
    return reduce(or_, (Q(text__in=queries) for queries in found))


def kinds_of(differs: str) -> tuple[str, ...]:
    """Whose labels a filter holds against the agents'; empty without one."""
    if not differs:
        return ()
    return ("experts", "original") if differs == "any" else (differs,)


def find_contested_cases(build: Build, visible: QuerySet[Build], kind: str) -> QuerySet[Case]:
    """The build's settled cases whose pair somebody else labelled differently."""
    cases = Case.objects.filter(build=build, round=1)
    if kind in {
        "experts",
        "overruled",
    }:  # few, and all settled: a filter by stage would keep their index from being used
        contradicted = cases.filter(build_contradiction_condition(visible))
        return contradicted if kind == "experts" else contradicted.exclude(label_in_force=F("label"))
    originals = Label.objects.filter(
        pair=OuterRef("pair"),
        annotator__kind=Annotator.Kind.ORIGINAL,
        scale=Label.Scale.BINARY,
        value__isnull=False,
    )
    return cases.filter(Exists(originals.exclude(value=OuterRef("label"))), stage=Stage.SETTLED)


def counts_of(
    build: Build, queries: Sequence[int], column: str = "label_in_force"
) -> dict[int, CandidateCounts]:
    """What became of the candidates of these queries (text ids), by that label; one query of the database."""
    rows = (
        Case.objects.filter(build=build, query__in=queries, round=1)
        .order_by()
        .values_list("query")
        .annotate(
            candidates=Count("pk"),
            matches=Count("pk", filter=Q(**{column: 1})),
            no_matches=Count("pk", filter=Q(**{column: 0})),
            abandoned=Count("pk", filter=Q(**{"stage": Stage.ABANDONED, f"{column}__isnull": True})),
        )
    )
    return {query: CandidateCounts(*counts) for query, *counts in rows}
