"""One page leads to all reports, and shows nobody what is closed to them."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from tests import factories, studies
from tests.site import samples

pytestmark = pytest.mark.django_db
URL = "/reports/"


def read(client: Client) -> str:
    answer = client.get(URL)
    assert answer.status_code == 200
    return answer.content.decode()


def test_an_installation_with_nothing_says_so(ray: Client) -> None:
    page = read(ray)
    for words in ("No data set yet", "No benchmark yet", "No pins yet"):
        assert words in page


def test_every_report_is_a_link_away(ray: Client) -> None:
    case = factories.settled(factories.cases(factories.opened("zanzibar"))[0], 1)
    benchmark, pin = samples.published(case), samples.pin(case)
    page = read(ray)
    assert reverse("build-corpus", args=[case.build_id]) in page
    assert reverse("benchmark-corpus", args=[benchmark.pk]) in page
    assert reverse("benchmark-compare", args=[benchmark.pk]) in page
    assert reverse("pin", args=[pin.pk]) in page
    assert reverse("compare") + "?of=annotators" in page


def test_the_list_of_pins_of_before_is_here(ray: Client) -> None:
    assert ray.get("/pins/")["Location"] == f"{URL}#pins"


def test_a_build_that_is_closed_to_a_rater_is_not_listed(client: Client) -> None:
    case = factories.settled(factories.cases(factories.opened("zanzibar"))[0], 1)
    rita = studies.rater("rita", studies.study(pairs=[case.pair]))
    client.force_login(rita.user)
    assert "zanzibar" not in read(client)


def test_it_costs_no_query_a_build(
    ray: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for name in ("one", "two", "three"):
        factories.opened(name)
    with django_assert_max_num_queries(9):
        read(ray)
