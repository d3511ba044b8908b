"""An expert's hour at the keyboard: log in, review ten pairs, take one back, change a test and run it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import Login, Watched
from tests.e2e.pages import press_tool, until_keys_work
from tests.e2e.prepare import PASSWORD
from tests.e2e.workbench import Workbench

EDITED = 'assert purge_empty_strings(["edited", "", "by hand"]) == ["edited"]'
MOST_TABS = 60


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until `wanted` has the focus."""
    for _ in range(MOST_TABS):
        if wanted.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"{MOST_TABS} tabs did not lead to {wanted}")


def case_on(page: Page) -> str:
    return page.locator("#case").get_attribute("data-case") or ""


def press(page: Page, key: str) -> None:
    """Press a key that leads to another case, once the page takes keys again, and wait for that case."""
    before = case_on(page)
    until_keys_work(page)
    page.keyboard.press(key)
    expect(page.locator(f'#case:not([data-case="{before}"])')).to_be_visible()


def agents_said(page: Page) -> str:
    """The agents' label as the page says it."""
    return page.locator(".verdict-line").inner_text().replace("\n", " ")


def key_of(page: Page, *, agree: bool) -> str:
    matched = "no match" not in agents_said(page)
    return "1" if matched == agree else "0"


def override(page: Page, reason: str) -> None:
    """Contradict the agents; the page asks for a reason, and takes it."""
    before = case_on(page)
    until_keys_work(page)
    page.keyboard.press(key_of(page, agree=False))
    expect(page.locator("#label-problem")).to_contain_text("Give a reason")
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.type(reason)
    page.keyboard.press("Control+Enter")
    expect(page.locator(f'#case:not([data-case="{before}"])')).to_be_visible()


def log_in_by_keyboard(page: Page, url: str, name: str) -> None:
    page.goto(f"{url}/")
    tab_to(page, page.get_by_label("Username"))
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your work", exact=True)).to_be_visible()


def test_an_expert_reviews_by_keyboard_alone(server: Workbench, watched: Watched, login: Login) -> None:
    page = login("").new_page()
    log_in_by_keyboard(page, server.url, "erin")
    tab_to(page, page.locator(f'a.button[href^="/review/builds/{watched.build}/"]').first)
    page.keyboard.press("Enter")
    page.wait_for_url("**/review/cases/*/**")

    for _ in range(4):
        press(page, key_of(page, agree=True))
    override(page, "The docstring promises more than this does.")
    press(page, "2")
    press(page, "n")
    press(page, "p")
    for _ in range(4):
        press(page, key_of(page, agree=True))
    expect(page.locator(".case-meta")).to_contain_text("10 of 192 reviewed")

    press(page, "z")
    expect(page.locator(".case-meta")).to_contain_text("9 of 192 reviewed")
    expect(page.locator("#review-status")).to_contain_text(re.compile("undone|taken back|withdrawn", re.I))


def test_an_edited_test_shows_its_own_trace(server: Workbench, watched: Watched, login: Login) -> None:
    page = login("erin").new_page()
    page.goto(f"{server.url}/review/cases/{watched.ids['case']}/")
    recorded = page.locator("#panel-trace .trace").inner_text()
    press_tool(page, "t")
    expect(page.locator(".cm-content")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type(EDITED)
    page.keyboard.press("Control+Enter")

    run = page.locator('#run[data-state="done"]')
    expect(run).to_be_visible(timeout=60_000)
    expect(run.locator(".assertions")).to_contain_text("failed")
    expect(run.locator(".assertions")).to_contain_text("['edited', 'by hand']")
    traced = run.locator(".trace tbody").inner_text()
    assert "by hand" in traced
    assert traced != recorded
    assert page.locator("#panel-trace .trace").inner_text() == recorded, "what was recorded stays beside"

    page.reload()
    expect(page.locator(".review-history")).to_contain_text("ran an edited test: failed")
