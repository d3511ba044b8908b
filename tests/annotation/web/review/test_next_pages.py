"""Your work's list of builds, and the way from case to case."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.models import Basis, Case, Tally
from annotation.studies.exposure import seen_among
from tests import factories
from tests.annotation.web.review.test_label_pages import send

pytestmark = pytest.mark.django_db


@pytest.fixture
def cases() -> list[Case]:
    """Nine cases: seven settled, one abandoned, one open."""
    found = factories.cases(factories.opened())
    return [*(factories.settled(case, 1) for case in found[:7]), factories.abandoned(found[7]), found[8]]


def follow(client: Client, build: int, **query: str | int) -> str:
    answer = client.get(reverse("review-next", args=[build]), query)
    assert answer.status_code == 302, answer.content.decode()
    return answer["Location"]


def test_the_list_says_how_far_one_is(erin: Client, cases: list[Case]) -> None:
    page = erin.get(reverse("work")).content.decode()

    assert "first" in page
    assert ">Start<" in page
    assert "?show=unsettled" in page


@pytest.mark.parametrize("where", ["review", "rate", "adjudication", "proposals"])
def test_the_addresses_of_the_lists_lead_to_your_work(erin: Client, where: str) -> None:
    answer = erin.get(reverse(where))
    assert answer.status_code == 302 and answer["Location"].startswith(f"{reverse('work')}#")


def test_the_list_costs_the_same_for_many_builds(
    erin: Client, cases: list[Case], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with CaptureQueriesContext(connection) as one:
        erin.get(reverse("work"))
    for name in ("second", "third", "fourth"):
        factories.opened(name)
    with django_assert_max_num_queries(len(one)):
        erin.get(reverse("work"))


def test_begin_after_and_before_lead_along_the_list(erin: Client, cases: list[Case]) -> None:
    build = cases[0].build_id

    assert follow(erin, build) == reverse("review-case", args=[cases[0].pk])
    assert follow(erin, build, after=cases[0].pk) == reverse("review-case", args=[cases[1].pk])
    assert follow(erin, build, before=cases[1].pk) == reverse("review-case", args=[cases[0].pk])
    assert follow(erin, build, before=cases[0].pk) == reverse("review-case", args=[cases[0].pk])


def test_another_list_is_named_in_the_address(erin: Client, cases: list[Case]) -> None:
    there = follow(erin, cases[0].build_id, show="unsettled")

    assert there == reverse("review-case", args=[cases[7].pk]) + "?show=unsettled"


def test_a_list_may_be_empty(erin: Client, cases: list[Case]) -> None:
    answer = erin.get(reverse("review-next", args=[cases[0].build_id]), {"show": "unsure"})

    assert "Nothing left in this list" in answer.content.decode()


@pytest.mark.parametrize("query", [{"show": "x"}, {"after": "x"}, {"after": "9" * 30}, {"before": "-1"}])
def test_odd_addresses_begin_at_the_beginning(erin: Client, cases: list[Case], query: dict[str, str]) -> None:
    assert follow(erin, cases[0].build_id, **query) == reverse("review-case", args=[cases[0].pk])


def test_readers_have_no_list(ray: Client, cases: list[Case]) -> None:
    assert ray.get(reverse("work")).status_code == 403
    assert ray.get(reverse("review-next", args=[cases[0].build_id])).status_code == 403


def seen_pairs(cases: list[Case]) -> set[int]:
    """What Erin may know of these cases' pairs, by the ids of the pairs."""
    return {pair for _, pair in seen_among([factories.erin().pk], [case.pair_id for case in cases])}


def dispute(case: Case) -> None:
    """Have the readers differ on a case, which then comes first."""
    Case.objects.filter(pk=case.pk).update(basis=Basis.DISPUTED)
    Tally.objects.filter(build=case.build_id).update(disputed=1)


def test_a_list_by_query_and_rank_tells_of_no_pair_that_it_has_not_shown(
    erin: Client, cases: list[Case]
) -> None:
    erin.get(reverse("review-next", args=[cases[0].build_id]), follow=True)
    assert seen_pairs(cases) == {cases[0].pair_id}


@pytest.mark.parametrize("show", ["", "waiting", "disputed"])
def test_where_disputed_pairs_come_first_the_list_tells_of_all_pairs(
    show: str, erin: Client, cases: list[Case]
) -> None:
    dispute(cases[5])
    there = follow(erin, cases[0].build_id, **({"show": show} if show else {}))
    assert there.partition("?")[0] == reverse("review-case", args=[cases[5].pk])
    assert seen_pairs(cases) == {case.pair_id for case in cases}


def test_the_next_case_after_a_label_tells_the_same(erin: Client, cases: list[Case]) -> None:
    dispute(cases[5])
    assert send(erin, cases[0], "1").headers["Location"] == reverse("review-case", args=[cases[5].pk])
    assert seen_pairs(cases) == {case.pair_id for case in cases}


@pytest.mark.parametrize("show", ["all", "reviewed", "unsure"])
def test_lists_of_ones_own_tell_of_no_pair(show: str, erin: Client, cases: list[Case]) -> None:
    dispute(cases[5])
    erin.get(reverse("review-next", args=[cases[0].build_id]), {"show": show})
    assert seen_pairs(cases) == set()
