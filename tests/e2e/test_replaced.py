"""Who works by keyboard stays where they are when a part of the page is replaced by what it is now."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.e2e.pages import until_keys_work
from tests.e2e.test_rating import page, run_a_test

__all__ = ["page"]  # a fixture
STRENGTH = "#run .strength"
POLLS = 'hx-trigger="every 100ms" hx-swap="outerHTML"'


@pytest.mark.parametrize("page", ["replaced"], indirect=True)
def test_the_focus_stays_where_it_was_and_what_was_closed_stays_closed(page: Page) -> None:
    run_a_test(page)
    until_keys_work(page)
    by_enter(page.locator(f"{STRENGTH} a"))
    expect(page.locator(STRENGTH)).to_be_focused()
    until_keys_work(page)
    page.route("**/strength/**", going_on)
    by_enter(page.locator(f"{STRENGTH} button"))
    expect(page.locator(STRENGTH)).to_contain_text("Strength: caught")
    expect(page.locator(STRENGTH)).to_be_focused()
    for one in (page.locator(f"{STRENGTH} li a.small").first, page.locator(f"{STRENGTH} summary")):
        one.focus()
        stays(page, one)
    page.keyboard.press("Enter")
    stays(page, page.locator(f"{STRENGTH} summary"))
    expect(page.locator(f"{STRENGTH} details")).not_to_have_attribute("open", "")


def by_enter(one: Locator) -> None:
    one.focus()
    one.press("Enter")


def going_on(route: Route) -> None:
    """The server's answer, which is asked for again and again also when it is complete."""
    answer = route.fetch()
    polled = f'<section hx-get="{route.request.url}" {POLLS} class="strength"'
    route.fulfill(response=answer, body=answer.text().replace('<section class="strength"', polled))


def stays(page: Page, one: Locator) -> None:
    """While the part is replaced three times."""
    where = page.evaluate("scrollY")
    for _ in range(3):
        with page.expect_response("**/strength/**"):
            pass
    expect(one).to_be_focused()
    assert page.evaluate("scrollY") == where
