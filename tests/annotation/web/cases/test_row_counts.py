"""The exact number of a list's rows: for who asks, within a time."""

from __future__ import annotations

import time

import pytest
from django.db import OperationalError, connection
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from annotation.models import Case, Seen
from annotation.web.cases.row_counts import Number, at_most, count_rows_exactly, number_of
from annotation.web.shared import pagination
from tests import factories

pytestmark = pytest.mark.django_db
FOREVER = (
    "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000000000)"
    " SELECT COUNT(*) FROM numbers"
)
HTMX = {"HX-Request": "true", "HX-Target": "number"}


@pytest.fixture(autouse=True)
def counted_to_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pagination, "MOST_COUNTED", 2)


def address(name: str) -> str:
    return reverse(name, args=[factories.opened().pk])


def test_a_number_that_is_known_asks_for_nothing() -> None:
    assert number_of("12", Case.objects.all(), QueryDict("count=exact")) == Number("12")


def test_it_is_counted_when_asked_for_and_the_rest_of_the_address_stays() -> None:
    factories.opened()
    rows = Case.objects.all()
    assert number_of("2+", rows, QueryDict("q=a&after=3")).ask == "q=a&after=3&count=exact"
    assert number_of("2+", rows, QueryDict("count=exact")) == Number("9", asked=True)


def test_what_takes_too_long_is_stopped_and_the_connection_works_on() -> None:
    began = time.monotonic()
    with pytest.raises(OperationalError), at_most(0.2), connection.cursor() as cursor:
        cursor.execute(FOREVER)
    assert time.monotonic() - began < 60
    assert count_rows_exactly(Case.objects.all()) == 0


def test_then_the_list_says_so_and_can_be_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_long(_: object) -> int:
        raise OperationalError("canceling statement due to statement timeout")

    monkeypatch.setattr("django.db.models.query.QuerySet.count", too_long)
    assert count_rows_exactly(Case.objects.all()) is None
    assert number_of("2+", Case.objects.all(), QueryDict("count=exact")) == Number("2+", "count=exact", True)


def test_another_failure_of_the_database_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> int:
        raise OperationalError("disk I/O error")

    monkeypatch.setattr("django.db.models.query.QuerySet.count", broken)
    with pytest.raises(OperationalError, match="disk"):
        count_rows_exactly(Case.objects.all())


@pytest.mark.parametrize(("name", "number"), [("build-cases", "9"), ("browse-build", "3")])
def test_a_list_offers_it_as_a_link_and_answers_with_the_number_alone(
    ada: Client, name: str, number: str
) -> None:
    url = address(name)
    page = ada.get(url).content.decode()
    assert '2+ <a class="button quiet small" href="?count=exact"' in page
    fragment = ada.get(url, {"count": "exact"}, headers=HTMX).content.decode()
    assert fragment.strip() == f'<span tabindex="-1" autofocus>{number}</span>'
    whole = ada.get(url, {"count": "exact"}).content.decode()
    assert f"autofocus>{number}</span>" in whole and "Count all" not in whole


def test_a_number_alone_shows_no_pair(ada: Client) -> None:
    ada.get(address("build-cases"), {"count": "exact"}, headers=HTMX)
    assert not Seen.objects.exists()


def test_the_next_page_does_not_count_again() -> None:
    assert pagination.query_string(QueryDict("count=exact&q=a"), "after", 7) == "q=a&after=7"
