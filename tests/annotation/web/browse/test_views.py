from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from tests import factories

pytestmark = pytest.mark.django_db


def test_a_reader_sees_the_builds_with_their_totals(ray: Client) -> None:
    build = factories.opened("the first build")
    factories.settled(factories.cases(build)[0], 1)

    page = ray.get(reverse("browse"))

    assert page.status_code == 200
    assert reverse("browse-build", args=[build.pk]) in page.content.decode()
    (row,) = page.context["page"].rows
    assert (row.name, row.pair_count) == ("the first build", 9)
    assert (row.tally.settled, row.tally.matches) == (1, 1)


def test_without_builds_it_says_where_they_come_from(ray: Client) -> None:
    assert "No build yet" in ray.get(reverse("browse")).content.decode()


def test_the_number_of_builds_does_not_change_the_number_of_queries(
    ray: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(4):
        factories.launched(f"build {number}")

    with django_assert_max_num_queries(6):
        ray.get(reverse("browse"))


def test_somebody_without_a_role_is_refused(nora: Client) -> None:
    assert nora.get(reverse("browse")).status_code == 403


def test_a_visitor_is_sent_to_the_login(client: Client, db: None) -> None:
    page = client.get(reverse("browse"))

    assert page.status_code == 302
    assert page["Location"].startswith(reverse("login"))


def test_only_reading_is_possible(ray: Client) -> None:
    assert ray.post(reverse("browse")).status_code == 405
