"""From two annotators who differ to the review of their flips, without leaving the browser."""

from __future__ import annotations

from itertools import combinations

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Login, Watched
from tests.e2e.workbench import Workbench, python

ADDRESS = "/browse/compare/annotators/"


def choose_two_that_differ(page: Page, url: str) -> None:
    """Compare annotators by the form until two of them have flips."""
    page.goto(url + ADDRESS)
    values = page.locator("#annotators-first option").evaluate_all("all => all.map(one => one.value)")
    for first, second in combinations(filter(None, values), 2):
        page.locator("#annotators-first").select_option(first)
        page.locator("#annotators-second").select_option(second)
        with page.expect_navigation():
            page.get_by_role("button", name="Compare", exact=True).click()
        if page.get_by_role("heading", name="Send the flips to review").count():
            return
    raise AssertionError(f"no two of {len(values) - 1} annotators differ")


def test_flips_of_two_annotators_are_gone_through_in_review(
    server: Workbench, watched: Watched, login: Login
) -> None:
    python(server.home, "-m", "tests.e2e.merged", str(watched.build))
    page = login("elsa", viewport={"width": 390, "height": 844}).new_page()
    choose_two_that_differ(page, server.url)
    section = page.get_by_role("region", name="Send the flips to review")
    assert section.evaluate("it => it.scrollWidth <= it.clientWidth"), "nothing is cut off on a phone"
    link = section.get_by_role("link", name="Review the flips in the sample")
    with page.expect_navigation():
        link.click()
    case = page.locator("#case")
    expect(case).to_be_visible()
    assert "show=apart-" in page.url
    assert "another merge" not in page.locator("main").inner_text()
    lists = page.locator("summary", has_text="Two annotators disagree")
    expect(lists).to_be_visible()
