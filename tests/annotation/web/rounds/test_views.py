"""The pages of rounds: what they say, where they lead, and whom they let merge."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.derived import round_merge
from annotation.models import Build, Case, Merge, Seen
from retrieval.models import Label
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def build() -> Build:
    """Three rounds: the first pair a match, the second apart, the third no match, the rest unjudged."""
    labels = ((1, 1, 0, None), (1, 0, 0, None), (1, 1, 0, None))
    return factories.said(factories.opened("thrice <b>", rounds=3), *labels)


def text(client: Client, route: str, *args: object, **query: str) -> str:
    answer = client.get(reverse(route, args=args), query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_page_says_alpha_the_rules_and_where_rounds_part(ray: Client, build: Build) -> None:
    page = text(ray, "rounds", build.pk)

    assert "Krippendorff" in page and "With fewer than 30 queries they are too short." in page
    assert "Majority" in page and "Unanimous" in page
    parted = Case.objects.filter(build=build).order_by("query", "rank", "round")[3:6]
    assert all(reverse("case", args=[case.pk]) in page for case in parted)
    assert "Review these pairs" not in page and "Merge …" not in page
    assert Seen.objects.filter(user=factories.ray(), pair=parted[0].pair_id).exists()


def test_experts_are_led_through_the_pairs_that_part(erin: Client, build: Build) -> None:
    page = text(erin, "rounds", build.pk)
    assert f"{reverse('review-next', args=[build.pk])}?show=parted" in page

    there = erin.get(reverse("review-next", args=[build.pk]), {"show": "parted"})
    case = Case.objects.filter(build=build).order_by("query", "rank", "round")[3]
    assert there["Location"] == f"{reverse('review-case', args=[case.pk])}?show=parted"
    shown = erin.get(there["Location"]).content.decode()
    assert "Rounds disagree, not labelled by you" in shown
    assert reverse("review-case", args=[case.pk + 1]) in shown


def test_a_build_of_one_round_has_no_way_to_merge(ada: Client) -> None:
    build = factories.said(factories.opened(), (1, 0))
    assert "Merge …" not in text(ada, "rounds", build.pk)
    assert "there is nothing to merge" in text(ada, "build-merge", build.pk)
    assert ada.post(reverse("build-merge", args=[build.pk]), {"rule": "majority"}).status_code == 409


def test_a_build_that_goes_on_says_so(ada: Client) -> None:
    build = factories.opened(rounds=2)
    assert "still running" in text(ada, "rounds", build.pk)
    assert "once the build is over" in text(ada, "build-merge", build.pk)


def test_a_build_without_cases_has_no_page(ada: Client) -> None:
    build = factories.launched(rounds=2)
    assert ada.get(reverse("rounds", args=[build.pk])).status_code == 404


def test_an_admin_sees_what_rules_would_give_and_merges_by_one(ada: Client, build: Build) -> None:
    assert text(ada, "build-merge", build.pk).count('type="radio"') == 4

    there = ada.post(reverse("build-merge", args=[build.pk]), {"rule": "unanimous"})
    assert there["Location"] == reverse("rounds", args=[build.pk])
    assert "under way" in text(ada, "rounds", build.pk)
    round_merge.advance_waiting_merges()
    row = Merge.objects.get()
    assert (row.asked_by, row.new_or_changed) == (factories.ada(), 2)
    assert Label.objects.filter(annotator=row.annotator).count() == 2
    assert "under way" not in text(ada, "rounds", build.pk)


def test_a_rule_that_is_none_is_refused(ada: Client, build: Build) -> None:
    assert ada.post(reverse("build-merge", args=[build.pk]), {"rule": "coin"}).status_code == 422
    assert not Merge.objects.exists()


def test_pages_of_a_query_and_a_case_lead_to_the_other_rounds(ray: Client, build: Build) -> None:
    first, second, third = Case.objects.filter(build=build).order_by("query", "rank", "round")[:3]
    query = text(ray, "query", build.pk, first.query_id)
    assert query.count("Code, ") == 3
    assert all(reverse("case", args=[case.pk]) in query for case in (first, second, third))
    case = text(ray, "case", second.pk)
    assert "in round 2" in case and reverse("case", args=[third.pk]) in case


def test_pages_of_a_build_count_each_pair_once(ray: Client, build: Build) -> None:
    assert "2 matches" in text(ray, "query", build.pk, Case.objects.filter(build=build)[0].query_id)
    page = text(ray, "build-corpus", build.pk)
    assert "first of 3 rounds" in page


def test_the_build_page_leads_to_its_rounds_only_where_there_are_several(ada: Client, build: Build) -> None:
    assert reverse("rounds", args=[build.pk]) in text(ada, "build", build.pk)
    other = factories.opened("other")
    assert reverse("rounds", args=[other.pk]) not in text(ada, "build", other.pk)


def test_lists_of_cases_name_the_round(ada: Client, build: Build) -> None:
    for route in ("build-cases", "build-abandoned"):
        page = text(ada, route, build.pk)
        assert all(f"round {number}" in page for number in (1, 2, 3)), route
        assert "round 1" not in text(ada, route, factories.said(factories.opened(route), (None,)).pk)


def test_the_figures_of_a_build_count_cases_of_all_rounds(ada: Client, build: Build) -> None:
    page = text(ada, "build", build.pk)
    assert "cases, 3 rounds" in page and "of the cases" in page


def test_counts_of_a_round_lead_to_its_cases(ada: Client, build: Build) -> None:
    page = text(ada, "rounds", build.pk)
    address = f"{reverse('build-cases', args=[build.pk])}?round=2&amp;"
    assert f"{address}stage=settled" in page and f"{address}label=1" in page
    cases = list(Case.objects.filter(build=build, round=2, label=1))
    listed = ada.get(reverse("build-cases", args=[build.pk]), {"round": "2", "label": "1"}).content.decode()
    assert "of round 2" in listed
    assert [f'value="{case.pk}"' in listed for case in cases] == [True]
    others = Case.objects.filter(build=build).exclude(round=2)
    assert not any(f'name="case" value="{case.pk}"' in listed for case in others)


def test_who_may_not_list_cases_sees_the_counts_of_rounds_alone(ray: Client, build: Build) -> None:
    assert "?round=" not in text(ray, "rounds", build.pk)


def test_the_tables_are_files(ray: Client, build: Build) -> None:
    """Three rounds that settle three pairs each: two, one and two matches."""
    page = reverse("rounds", args=[build.pk])
    assert "?table=rounds&amp;format=csv" in text(ray, "rounds", build.pk)
    rows = text(ray, "rounds", build.pk, table="rounds", format="csv").splitlines()
    assert rows[0].startswith("Round,Cases,Settled,Matches")
    assert [row.split(",")[2:4] for row in rows[1:4]] == [["3", "2"], ["3", "1"], ["3", "2"]]
    assert "Krippendorff" in text(ray, "rounds", build.pk, table="agreement", format="tex")
    assert text(ray, "rounds", build.pk, table="agreement", format="svg").startswith("<svg")
    assert "2,1,0,1" in text(ray, "rounds", build.pk, table="said", format="csv")
    assert ray.get(page, {"table": "prices", "format": "csv"}).status_code == 404
    assert Seen.objects.filter(user=factories.ray()).exists(), "a file tells of labels, too"
