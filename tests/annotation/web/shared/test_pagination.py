from __future__ import annotations

import pytest
from django.http import QueryDict

from annotation.models import Build
from annotation.web.shared.pagination import format_row_count, load_page_window
from retrieval.models import Member
from tests import factories

pytestmark = pytest.mark.django_db


def members(count: int) -> None:
    factories.queries([f"query {number % 3} {number:03}" for number in range(count)])


def walk(order: tuple[str, ...], size: int) -> list[list[int]]:
    """Every page's positions, following `next` from the first one."""
    pages, params = [], QueryDict()
    while True:
        page = load_page_window(Member.objects.all(), order, params, size)
        pages.append([row.position for row in page.rows])
        if not page.next:
            return pages
        params = QueryDict(page.next)


@pytest.mark.parametrize("order", [("position",), ("-position",), ("text__head", "position")])
def test_following_next_shows_every_row_once_in_order(order: tuple[str, ...]) -> None:
    members(7)

    pages = walk(order, 3)

    assert [len(page) for page in pages] == [3, 3, 1]
    everything = list(Member.objects.order_by(*order).values_list("position", flat=True))
    assert [position for page in pages for position in page] == everything


def test_the_way_back_shows_the_same_pages() -> None:
    members(7)
    first = load_page_window(Member.objects.all(), ("position",), QueryDict(), 3)
    second = load_page_window(Member.objects.all(), ("position",), QueryDict(first.next), 3)
    third = load_page_window(Member.objects.all(), ("position",), QueryDict(second.next), 3)

    back = load_page_window(Member.objects.all(), ("position",), QueryDict(third.previous), 3)
    start = load_page_window(Member.objects.all(), ("position",), QueryDict(back.previous), 3)

    assert list(back.rows) == list(second.rows)
    assert list(start.rows) == list(first.rows)
    assert (first.previous, start.previous, third.next) == ("", "", "")


def test_a_page_that_ends_with_the_last_row_has_no_next() -> None:
    members(3)

    assert load_page_window(Member.objects.all(), ("position",), QueryDict(), 3).next == ""


@pytest.mark.parametrize("place", ["after=999999", "after=x", "before=", "after=" + "9" * 40, "after=-1"])
def test_a_place_that_does_not_exist_leads_to_the_first_page(place: str) -> None:
    members(4)

    page = load_page_window(Member.objects.all(), ("position",), QueryDict(place), 3)

    assert [row.position for row in page.rows] == [0, 1, 2]
    assert page.previous == ""


def test_the_other_parameters_stay() -> None:
    members(4)

    page = load_page_window(Member.objects.all(), ("position",), QueryDict("q=a%26b&after=zzz"), 3)

    assert QueryDict(page.next).dict() == {"q": "a&b", "after": str(page.rows[-1].pk)}


def test_no_rows_make_an_empty_page() -> None:
    page = load_page_window(Build.objects.all(), ("-id",), QueryDict(), 3)

    assert (list(page.rows), page.previous, page.next) == ([], "", "")


def test_counting_stops_where_nobody_would_read_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.web.shared.pagination.MOST_COUNTED", 5)
    members(5)
    assert format_row_count(Member.objects.all()) == "5"

    assert format_row_count(Member.objects.filter(position__lt=4)) == "4"
    monkeypatch.setattr("annotation.web.shared.pagination.MOST_COUNTED", 4)
    assert format_row_count(Member.objects.all()) == "4+"
