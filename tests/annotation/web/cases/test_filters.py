"""Lists of cases: every order and filter gives the same however it is read, on every database."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext

from annotation import review
from annotation.builds.results.case_queryset import REACHING
from annotation.models import Build, Case
from annotation.stages import Stage
from annotation.web.cases import filters as case_lists
from annotation.web.cases.filters import RAN, REACHED_BY, SORTS, Filters, filter_build_cases, find_case_page
from annotation.web.shared.pagination import Window
from tests import factories

pytestmark = pytest.mark.django_db
EVIDENCE = "0" * 64
STAGES = list(Stage)


@pytest.fixture
def build() -> Build:
    """Nine cases: settled as 1 and 0, abandoned, open; scores and times in other orders than their keys."""
    made = factories.opened()
    for number, case in enumerate(factories.cases(made)):
        if number % 4 == 3:
            factories.abandoned(case)
        elif number in {2, 5}:
            factories.examined(case, number % 2)
        elif number % 4:
            factories.settled(case, number % 2)
        moved = case.updated_at + timedelta(seconds=number * 5 % 7)
        Case.objects.filter(pk=case.pk).update(
            score=number * 7 % 5 / 10, updated_at=moved, seconds=number * 4 % 7 / 10
        )
    made.tally.refresh_from_db()
    return made


def page(build: Build, filters: Filters, params: str = "", size: int = 2) -> Window[Case]:
    return find_case_page(build, Build.objects.all(), filters, QueryDict(params), size).window


def walk(build: Build, filters: Filters) -> list[list[int]]:
    """The keys on every page, following `next` from the first one."""
    pages, params = [], ""
    while True:
        one = page(build, filters, params)
        pages.append([case.pk for case in one.rows])
        if not one.next:
            return pages
        params = one.next


def way_of(case: Case) -> int:
    """Settled after a test, settled without, not settled."""
    return 2 if case.label is None else int(case.program_id is None)


def ordered(build: Build, sort: str) -> list[int]:
    """What the order should be, by Python."""
    labels = {1: 0, 0: 1, None: 2}
    keys = {
        "made": lambda case: case.pk,
        "rank": lambda case: (case.rank, case.pk),
        "score": lambda case: (-case.score, -case.pk),
        "stage": lambda case: (STAGES.index(Stage(case.stage)), case.pk),
        "label": lambda case: (labels[case.label], case.pk),
        "time": lambda case: (-case.updated_at.timestamp(), -case.pk),
        "duration": lambda case: (way_of(case), -case.seconds, -case.pk),
    }
    return [case.pk for case in sorted(Case.objects.filter(build=build), key=keys[sort])]


@pytest.fixture(params=["sorted", "walked"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether the cases count as few or as many."""
    monkeypatch.setattr(case_lists, "are_few", lambda *_: request.param == "sorted")
    return str(request.param)


def test_every_case_comes_once_in_the_order_asked_for(build: Build, way: str) -> None:
    for sort in SORTS:
        pages = walk(build, Filters(sort=sort))
        assert [len(one) for one in pages] == [2, 2, 2, 2, 1], sort
        assert [pk for one in pages for pk in one] == ordered(build, sort), sort


def test_the_way_back_shows_the_same_pages(build: Build, way: str) -> None:
    for sort in SORTS:
        filters = Filters(sort=sort)
        second = page(build, filters, page(build, filters).next)
        third = page(build, filters, second.next)
        back = page(build, filters, third.previous)
        start = page(build, filters, back.previous)
        assert [case.pk for case in back.rows] == [case.pk for case in second.rows], sort
        assert ([case.pk for case in start.rows], start.previous) == (ordered(build, sort)[:2], ""), sort


@pytest.mark.parametrize(
    "filters",
    [
        {"stage": "settled"},
        {"stage": "screening"},
        {"label": "1"},
        {"label": "0"},
        {"label": "none"},
        {"q": "LIST"},
        {"q": "parse an iso", "label": "none"},
        {"q": "nobody asks this"},
        {"stage": "settled", "label": "1", "q": "in"},
        {"stage": "settled", "label": "none"},
    ],
)
def test_filters_leave_the_order_as_it_is(build: Build, filters: dict[str, str], way: str) -> None:
    passing = {
        case.pk
        for case in Case.objects.filter(build=build).select_related("query")
        if filters.get("stage", case.stage) == case.stage
        and filters.get("label", str(case.label).lower()) == str(case.label).lower()
        and filters.get("q", "").lower() in case.query.head
    }
    for sort in SORTS:
        pages = walk(build, Filters(**filters, sort=sort))
        passed = [pk for pk in ordered(build, sort) if pk in passing]
        assert [pk for one in pages for pk in one] == passed, sort


@pytest.mark.parametrize(
    "filters",
    [
        *({"reached": name} for name in REACHING),
        *({"agent": name} for name in REACHED_BY),
        *({"ran": name} for name in RAN),
        {"outcome": "passed"},
        {"cause": "sandbox"},
        {"left": "screening"},
        {"label": "0", "reached": "screened"},
        {"stage": "settled", "reached": "unclear"},
    ],
)
def test_by_duration_no_filter_loses_a_case(build: Build, filters: dict[str, str], way: str) -> None:
    """Ways that a filter leaves nothing of are not looked through: so none may be left out too many."""
    passing = set(
        filter_build_cases(build, Build.objects.all(), Filters(**filters)).values_list("pk", flat=True)
    )
    pages = walk(build, Filters(**filters, sort="duration"))
    assert [pk for one in pages for pk in one] == [pk for pk in ordered(build, "duration") if pk in passing]


@pytest.mark.parametrize("after", ["", "after=1"])
@pytest.mark.parametrize(
    ("query", "index"),
    [
        ({"reached": "clear"}, "case_clear_by_duration"),
        ({"reached": "arbitrated"}, "case_tested_by_duration"),
        ({"differs": "experts"}, "case_contradicted_by_secs"),
    ],
)
def test_the_slowest_are_read_along_an_index_that_has_no_others(
    build: Build, query: dict[str, str], index: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(case_lists, "are_few", lambda *_: False)
    monkeypatch.setattr(case_lists, "count_some", lambda _: 5000)
    place = after and f"after={build.cases.order_by('pk')[0].pk}"
    with CaptureQueriesContext(connection) as asked:
        page(build, Filters(**query, sort="duration"), place, size=1)
    looks = [one["sql"] for one in asked if "ORDER BY" in one["sql"] and "LIMIT 2" in one["sql"]]
    assert looks
    for look in looks:
        assert index in plan_of(look), look


def plan_of(sql: str) -> str:
    """How the database would answer; PostgreSQL reads so small a table whole, unless it is forbidden to."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
            cursor.execute(f"EXPLAIN {sql}")
        else:
            forget_statistics(cursor)
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


def forget_statistics(cursor: CursorWrapper) -> None:
    """What an earlier test counted of its own rows stays in SQLite's file, and would decide here."""
    cursor.execute("SELECT name FROM sqlite_master WHERE name = 'sqlite_stat1'")
    if cursor.fetchone():
        cursor.execute("DELETE FROM sqlite_stat1")
        cursor.execute("ANALYZE sqlite_schema")


def test_a_search_takes_signs_of_patterns_as_they_are_and_folds_every_alphabet(way: str) -> None:
    factories.queries(["100 % of_all", "100 of all", "GRÜSSE aus Köln", "back\\slash"])
    build = factories.opened(k=1)
    for part, count in {"%": 1, "_": 1, "grüße": 1, "KÖLN": 1, "\\": 1, "100": 2, "ü": 1}.items():
        assert len(walk(build, Filters(q=part))[0]) == count, part


def test_disagreements_come_in_every_order(build: Build, way: str) -> None:
    settled = [case for case in factories.cases(build) if case.label is not None]
    for case in settled[1:]:
        review.store_label(factories.erin(), case, 1 - (case.label or 0), "it is otherwise", EVIDENCE, 0)
    wanted = {case.pk for case in settled[1:]}
    assert len(wanted) == 3
    for sort in SORTS:
        pages = walk(build, Filters(differs="experts", sort=sort))
        assert [pk for one in pages for pk in one] == [pk for pk in ordered(build, sort) if pk in wanted], (
            sort
        )


def test_of_a_hidden_build_nothing_is_said_and_the_others_still_count(build: Build) -> None:
    other = factories.opened("other")
    settled = [case for case in factories.cases(build) if case.label is not None]
    beside = [other.cases.get(pair=case.pair_id) for case in settled[:2]]
    review.store_label(factories.erin(), beside[0], 1 - (settled[0].label or 0), "otherwise", EVIDENCE, 0)
    review.store_label(factories.erin(), settled[1], 1 - (settled[1].label or 0), "otherwise", EVIDENCE, 0)
    for visible, shown in (
        (Build.objects.all(), settled[:2]),
        (Build.objects.exclude(pk=other.pk), settled[1:2]),
    ):
        one = find_case_page(build, visible, Filters(differs="experts"), QueryDict(), 5)
        assert [case.pk for case in one.window.rows] == [case.pk for case in shown]


def test_what_another_build_said_counts_where_that_build_is_visible(build: Build, way: str) -> None:
    other = factories.opened("other")
    factories.settled(other.cases.get(pair=factories.cases(build)[2].pair), 1)
    factories.settled(other.cases.get(pair=factories.cases(build)[4].pair), 0)
    for said, places in (("1", [2]), ("0", [4]), ("none", [0, 1, 3, 5, 6, 7, 8]), ("", range(9))):
        filters = Filters(against=str(other.pk), other=said, sort="rank")
        listed = sorted(pk for one in walk(build, filters) for pk in one)
        assert listed == [factories.cases(build)[place].pk for place in places]
    filters = Filters(against=str(other.pk))
    assert find_case_page(build, Build.objects.exclude(pk=other.pk), filters, QueryDict(), 5).count == "0"


def test_disagreement_is_a_standing_label_of_an_expert_that_is_not_the_agents(build: Build) -> None:
    settled = [case for case in factories.cases(build) if case.label is not None]
    for case in settled[:2]:
        review.store_label(factories.erin(), case, 1 - (case.label or 0), "it is otherwise", EVIDENCE, 0)
    review.store_label(factories.erin(), settled[2], settled[2].label, "", EVIDENCE, 0)
    review.undo_latest_label(factories.erin(), settled[1], 1)
    shown = page(build, Filters(differs="experts"))
    assert [case.pk for case in shown.rows] == [settled[0].pk]
    hidden = find_case_page(build, Build.objects.none(), Filters(differs="experts"), QueryDict(), 5)
    assert (hidden.count, list(hidden.window.rows)) == ("0", [])


def test_what_left_the_filters_still_says_where_the_next_page_begins(build: Build, way: str) -> None:
    filters = Filters(stage="screening")
    first = page(build, filters)
    factories.settled(first.rows[1], 1)
    assert page(build, filters, first.next).rows[0].pk > first.rows[1].pk


def test_few_are_sorted_and_many_are_walked() -> None:
    assert case_lists.are_few(1_000, 412_080, 50)
    assert not case_lists.are_few(900, 4_120, 50)
    assert not case_lists.are_few(1_001, 10**9, 50)


def test_the_order_is_no_filter() -> None:
    assert not Filters(sort="score").narrow
    assert Filters(q="a b", sort="score").query == "q=a+b"
