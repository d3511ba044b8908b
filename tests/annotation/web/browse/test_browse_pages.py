"""What all pages of a build share: who may see them, what they remember, how many queries they take."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.models import Build, Case, Seen
from tests import factories

pytestmark = pytest.mark.django_db

PAGES = ("browse-build", "query", "matches", "case")
HOSTILE = "</script><script>alert('x')</script>\x00\u202e שלום"


@pytest.fixture
def case(db: None) -> Case:
    """A tested match, beside one settled without a test."""
    cases = factories.cases(factories.opened())
    factories.settled(cases[1], 1)
    return factories.examined(cases[0], 1)


def url(name: str, case: Case) -> str:
    if name == "case":
        return reverse(name, args=[case.pk])
    whose = [case.build_id, case.query_id] if name in {"query", "matches"} else [case.build_id]
    return reverse(name, args=whose)


@pytest.mark.parametrize("name", PAGES)
def test_readers_may_see_it(name: str, case: Case, ray: Client) -> None:
    assert ray.get(url(name, case)).status_code == 200


@pytest.mark.parametrize("name", PAGES)
def test_people_without_a_role_may_not(name: str, case: Case, nora: Client) -> None:
    assert nora.get(url(name, case)).status_code == 403


@pytest.mark.parametrize("name", ["query", "matches"])
@pytest.mark.parametrize("pk", [0, 2**63, 10**30])
def test_a_query_that_no_database_can_hold_does_not_exist(
    name: str, pk: int, case: Case, ray: Client
) -> None:
    assert ray.get(reverse(name, args=[case.build_id, pk])).status_code == 404


@pytest.mark.parametrize("name", PAGES)
def test_builds_that_are_not_visible_do_not_exist(
    name: str, case: Case, ray: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.web.browse.views.builds_visible_to", lambda user: Build.objects.none())

    assert ray.get(url(name, case)).status_code == 404


@pytest.mark.parametrize("name", ["query", "matches"])
def test_a_query_of_another_build_is_not_found(name: str, case: Case, ray: Client) -> None:
    other = factories.launched("another")

    assert ray.get(reverse(name, args=[other.pk, case.query_id])).status_code == 404


@pytest.mark.parametrize(("name", "pairs"), [("query", 3), ("matches", 2), ("case", 1), ("browse-build", 2)])
def test_pairs_whose_evidence_is_served_are_remembered(
    name: str, pairs: int, case: Case, ray: Client
) -> None:
    ray.get(url(name, case))
    ray.get(url(name, case))

    assert Seen.objects.filter(user__username="ray").count() == pairs


@pytest.mark.parametrize(
    ("name", "most"),
    [("browse-build", 11), ("build-corpus", 21), ("query", 14), ("matches", 14), ("case", 11)],
)
def test_the_number_of_queries_is_bounded(
    name: str, most: int, case: Case, ray: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(most):
        ray.get(url(name, case))


@pytest.mark.parametrize("name", PAGES)
def test_hostile_text_is_never_markup(name: str, ray: Client) -> None:
    factories.queries([f"find {HOSTILE}", "other"])
    factories.snippets([f'def f(x):\n    """{HOSTILE}"""\n    return x', "y = '" + "a" * 1_000_000 + "'"])
    first, second = factories.cases(factories.opened(k=2))[:2]
    report = factories.a_report(stdout=HOSTILE, detail=HOSTILE, suspicious=(HOSTILE,))
    case = factories.examined(first, 1, report, source=f"s = '''{HOSTILE}'''\nassert f(1) == 1\n")
    factories.settled(second, 1, note=HOSTILE)

    page = ray.get(url(name, case)).content.decode()

    assert "<script>alert" not in page
    assert "\x00" not in page
    assert "\u202e" not in page
    assert len(page) < 500_000


def test_a_query_search_finds_through_the_page(case: Case, ray: Client) -> None:
    page = ray.get(url("browse-build", case), {"q": "iso", "state": "open"}).content.decode()

    assert "parse an iso date" in page
    assert "flatten nested lists" not in page


def test_filters_that_nothing_passes_say_how_to_go_on(case: Case, ray: Client) -> None:
    assert "No query matches these filters" in ray.get(url("browse-build", case) + "?q=zzz").content.decode()


def test_a_build_that_still_mines_says_so(ray: Client) -> None:
    build = factories.launched()

    for name, words in (("browse-build", "No functions yet"), ("build-corpus", "Nothing to count yet")):
        assert words in ray.get(reverse(name, args=[build.pk])).content.decode()


def test_the_distribution_of_before_is_on_the_page_of_the_corpus(case: Case, ray: Client) -> None:
    before = reverse("distribution", args=[case.build_id])
    assert ray.get(before)["Location"] == reverse("build-corpus", args=[case.build_id])


def test_with_one_build_nothing_offers_to_compare(case: Case, ray: Client) -> None:
    link = f"{reverse('compare')}?second="
    assert link not in ray.get(url("browse-build", case)).content.decode()
    factories.opened("another")
    assert link in ray.get(url("browse-build", case)).content.decode()


def test_experts_are_led_from_a_case_to_its_review(case: Case, ray: Client, erin: Client) -> None:
    review = reverse("review-case", args=[case.pk])

    assert review in erin.get(url("case", case)).content.decode()
    assert review not in ray.get(url("case", case)).content.decode()


def test_failing_lines_frames_and_steps_are_linked_to_lines_that_exist(case: Case, ray: Client) -> None:
    page = ray.get(url("case", case)).content.decode()

    for anchor in ("t-2", "c-2"):
        assert f'href="#{anchor}"' in page
        assert f'id="{anchor}"' in page


def test_the_whole_trace_is_shown_on_request(ray: Client) -> None:
    trace = factories.a_report().trace * 200
    case = factories.examined(factories.cases(factories.opened())[0], 1, factories.a_report(trace=trace))

    assert "150 more steps not shown" in ray.get(url("case", case)).content.decode()
    assert "more steps not shown" not in ray.get(url("case", case) + "?trace=all").content.decode()
