from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.http import QueryDict

from annotation.models import Build, Case, Review
from annotation.models.reviews.contradictions import refresh_contradictions
from annotation.web.browse.page import (
    CandidateCounts,
    Filters,
    bounds_of,
    filter_query_members,
    filters_of,
    queries_page,
)
from retrieval.models import Annotator, Label
from tests import factories

pytestmark = pytest.mark.django_db


def page(build: Build, query: str = "") -> dict[str, Any]:
    return queries_page(build, Build.objects.all(), QueryDict(query))


def texts(build: Build, query: str = "") -> list[str]:
    return [member.text.head for member, _ in page(build, query)["queries"]]


def review(case: Case, label: int | None, **columns: object) -> Review:
    made = Review.objects.create(
        pair=case.pair,
        case=case,
        rater=factories.erin(),
        revision=1,
        label=label,
        evidence="0" * 64,
        **columns,
    )
    refresh_contradictions(case.pair_id)
    return made


@pytest.fixture
def build() -> Build:
    """Three queries: 2 matches and 1 no match; 1 match, 1 abandoned, 1 open; 3 no matches."""
    made = factories.opened()
    cases = factories.cases(made)
    for case, label in ((cases[0], 1), (cases[1], 1), (cases[2], 0), (cases[3], 1)):
        factories.settled(case, label)
    factories.abandoned(cases[4])
    for case in cases[6:9]:
        factories.settled(case, 0)
    return made


def test_each_query_has_the_counts_of_its_candidates(build: Build) -> None:
    rows = [counts for _, counts in page(build)["queries"]]

    assert rows == [
        CandidateCounts(3, 2, 1, 0),
        CandidateCounts(3, 1, 0, 1),
        CandidateCounts(3, 0, 3, 0),
    ]
    assert [counts.unjudged for counts in rows] == [0, 2, 0]
    assert (rows[0].match_share, rows[1].judged_share) == (66.67, 33.33)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("found=0", [2]),
        ("found=1", [1]),
        ("found=2-4", [0]),
        ("found=1%2B", [0, 1]),
        ("found=5%2B", []),
        ("state=open", [1]),
        ("state=abandoned", [1]),
        ("state=settled", [0, 2]),
        ("q=ISO", [1]),
        ("q=%25", []),
        ("q=list&found=2-4", [0]),
        ("found=rubbish&state=rubbish&sort=rubbish", [0, 1, 2]),
        ("sort=matches", [0, 1, 2]),
        ("sort=text", [2, 1, 0]),
    ],
)
def test_filters_and_orders(build: Build, query: str, found: list[int]) -> None:
    assert texts(build, query) == [factories.QUERIES[number] for number in found]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL chooses by statistics")
@pytest.mark.parametrize("query", ["", "found=0", "sort=matches", "state=settled"])
def test_each_query_reads_only_its_own_cases(build: Build, query: str) -> None:
    plan = filter_query_members(build, Build.objects.all(), filters_of(QueryDict(query))).explain()

    assert "case_by_query" in plan
    assert "case_by_build_and_stage" not in plan


def test_an_expert_who_disagrees_is_found(build: Build) -> None:
    cases = factories.cases(build)
    review(cases[0], 1)
    review(cases[7], 1)

    assert texts(build, "differs=experts") == [factories.QUERIES[2]]
    assert texts(build, "differs=original") == []
    assert texts(build, "differs=any") == [factories.QUERIES[2]]


def test_unsure_and_withdrawn_reviews_disagree_with_nothing(build: Build) -> None:
    cases = factories.cases(build)
    review(cases[6], None)
    review(cases[7], 1, withdrawn=True)

    assert texts(build, "differs=experts") == []


def test_an_original_label_that_differs_is_found(build: Build) -> None:
    original = Annotator.objects.version("original", "CoSQA", {})
    cases = factories.cases(build)
    Label.objects.create(pair=cases[0].pair, annotator=original, value=0)
    Label.objects.create(pair=cases[6].pair, annotator=original, value=0)
    Label.objects.create(pair=cases[7].pair, annotator=original, value=3, scale="graded")

    assert texts(build, "differs=original") == [factories.QUERIES[0]]


def test_reviews_made_in_builds_that_are_not_visible_do_not_show(build: Build) -> None:
    review(factories.cases(build)[7], 1)

    shown = queries_page(build, Build.objects.none(), QueryDict("differs=experts"))

    assert shown["queries"] == []


def test_queries_without_candidates_are_not_listed() -> None:
    assert page(factories.launched())["queries"] == []


def test_a_count_chosen_by_a_link_is_on_the_menu(build: Build) -> None:
    assert ("3", "3") in page(build, "found=3")["options"]["matches"]


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("0", (0, 0)),
        ("2-4", (2, 4)),
        ("5+", (5, None)),
        ("", None),
        ("-1", None),
        ("2-", None),
        ("2-4+", None),
        ("²", None),
        ("9" * 30, None),
    ],
)
def test_bounds_are_read_or_refused(text: str, bounds: tuple[int, int | None] | None) -> None:
    assert bounds_of(text) == bounds


def test_a_search_is_cut_and_loses_what_no_database_takes() -> None:
    assert filters_of(QueryDict("q=a%00b")) == Filters(text="ab")
    assert len(filters_of(QueryDict("q=" + "x" * 5_000)).text) == 200


def test_queries_with_a_tagged_pair_are_a_slice(build: Build) -> None:
    cases = factories.cases(build)
    review(cases[4], 1, tags=["inverse"])
    review(cases[7], 0, tags=["partial", "test_wrong_reading"])

    assert texts(build, "tag=inverse") == texts(build)[1:2]
    assert texts(build, "tag=test_wrong_reading") == texts(build)[2:3]
    assert texts(build, "tag=unsafe") == []
    assert filters_of(QueryDict("tag=unsafe")).narrow
    assert len(texts(build, "tag=no-such-tag")) == 3


def test_tags_given_beside_a_build_that_is_closed_to_the_reader_are_no_slice(build: Build) -> None:
    review(factories.cases(build)[4], 1, tags=["inverse"])
    hidden = queries_page(build, Build.objects.none(), QueryDict("tag=inverse"))
    assert not hidden["queries"]


def test_a_tag_that_was_taken_back_is_no_slice(build: Build) -> None:
    first = review(factories.cases(build)[4], 1, tags=["inverse"])
    later = Review(pair=first.pair, case=first.case, rater=first.rater, revision=2, label=1)
    later.supersedes, later.evidence, later.tags = first, "0" * 64, ["unsafe"]
    later.save()
    assert texts(build, "tag=inverse") == [] and len(texts(build, "tag=unsafe")) == 1
