"""Two windows of one rater: neither loses what is typed in it to the other."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.pages import until_keys_work
from tests.e2e.test_rating import other_pair, page, pair_on

__all__ = ["page"]  # a fixture
OTHER = ".draft-other"


def second(page: Page) -> Page:
    """The same pair in another window."""
    one = page.context.new_page()
    one.goto(page.url)
    until_keys_work(one)
    return one


def write_test(page: Page, text: str) -> None:
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.type(text)


def kept(page: Page, where: str = "#label-form") -> None:
    expect(page.locator(f"{where} [data-draft-state]")).to_have_text("Draft kept")


@pytest.mark.parametrize("page", ["drafts"], indirect=True)
def test_what_is_typed_in_two_windows_is_kept_of_both(page: Page) -> None:
    page.wait_for_selector(".cm-content")
    other = second(page)
    other.wait_for_selector(".cm-content")
    write_notes_in_both(page, other)
    write_tests_in_both(page, other)
    send_from_one(page, other)


def write_notes_in_both(page: Page, other: Page) -> None:
    """The second window shows both texts, after a reload too, and then the first one in its turn."""
    page.locator("#notes").fill("typed in the first window")
    kept(page)
    other.locator("#notes").fill("typed in the second window")
    expect(other.locator(OTHER)).to_contain_text("choose which one to use")
    expect(other.locator(OTHER)).to_contain_text("typed in the first window")
    expect(other.locator("#notes")).to_have_value("typed in the second window")
    # a reload loses neither
    other.reload()
    expect(other.locator("#notes")).to_have_value("typed in the first window")
    expect(other.locator(OTHER)).to_contain_text("typed in the second window")
    other.get_by_role("button", name="Take it").click()
    expect(other.locator("#notes")).to_have_value("typed in the second window")
    kept(other)
    page.locator("#notes").press("End")
    page.keyboard.type(", and more")
    expect(page.locator(OTHER)).to_contain_text("typed in the second window")
    page.get_by_role("button", name="Keep this one").click()
    kept(page)
    expect(page.locator(OTHER)).to_have_count(0)
    page.evaluate("localStorage.clear()")
    page.reload()
    expect(page.locator("#notes")).to_have_value("typed in the first window, and more")


def write_tests_in_both(page: Page, other: Page) -> None:
    page.wait_for_selector(".cm-content")
    write_test(page, "assert turned([1]) == [1]")
    kept(page, "#test-panel")
    write_test(other, "assert turned([2]) == [2]")
    expect(other.locator(OTHER)).to_contain_text("assert turned([1]) == [1]")
    other.get_by_role("button", name="Take the other").click()
    expect(other.locator(".cm-content")).to_contain_text("assert turned([1]) == [1]")
    kept(other, "#test-panel")


def send_from_one(page: Page, other: Page) -> None:
    """What one window sends takes no draft of the other along."""
    number = pair_on(page)
    here = page.url.replace("/next/", f"/pairs/{number}/")
    other.locator("#reading").fill("in place")
    kept(other)
    page.locator('button[name=label][value="1"]').click()
    other_pair(page, number)
    page.evaluate("localStorage.clear()")
    page.goto(here)
    expect(page.locator("#reading")).to_have_value("in place")
    expect(page.locator("#notes")).to_have_value("typed in the first window, and more")
