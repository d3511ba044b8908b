"""What a log-out leaves in a browser: nothing; after a login that ended by itself drafts stay, for one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.conftest import CONTEXT, Watched
from tests.e2e.pages import log_in
from tests.e2e.prepare import PASSWORD
from tests.e2e.workbench import PLAIN, Workbench, chromium_path

LEFT = "() => Object.keys(localStorage).filter((key) => key.startsWith('draft:'))"
KEPT = "() => Object.values(localStorage).join().includes('half a thought')"


@pytest.fixture
def remembering(browser: Browser) -> Iterator[BrowserContext]:
    """A browser whose back button brings pages from memory, as people's do; Playwright's does not."""
    other = browser.browser_type.launch(
        executable_path=chromium_path(),
        args=list(PLAIN),
        ignore_default_args=["--disable-back-forward-cache"],
    )
    yield other.new_context(**CONTEXT)
    other.close()


@pytest.fixture
def case_url(server: Workbench, watched: Watched) -> str:
    return f"{server.url}/review/cases/{watched.ids['screened']}/"


def opened(context: BrowserContext, server: Workbench, case_url: str, name: str) -> Page:
    """The case's page after a log-in of its own: other tests go on in theirs."""
    page = context.new_page()
    log_in(page, server.url, name, PASSWORD)
    page.goto(case_url)
    expect(page.locator("#reason")).to_be_visible()
    return page


def log_out(page: Page) -> None:
    page.locator(".topbar details.menu summary").click()
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login/")


def test_back_after_a_log_out_shows_the_log_in_page(
    remembering: BrowserContext, server: Workbench, case_url: str
) -> None:
    page = opened(remembering, server, case_url, "egon")
    log_out(page)
    page.go_back()
    page.wait_for_url("**/login/**")
    expect(page.get_by_label("Password")).to_be_visible()
    expect(page.locator("#reason")).to_have_count(0)


def test_what_was_just_typed_reaches_the_server_and_nothing_stays_in_the_browser(
    remembering: BrowserContext, server: Workbench, case_url: str
) -> None:
    page = opened(remembering, server, case_url, "egon")
    beside = remembering.new_page()
    beside.goto(case_url)
    page.locator("#reason").fill("typed a moment before leaving")
    log_out(page)
    assert page.evaluate(LEFT) == []
    expect(beside.get_by_label("Password")).to_be_visible()
    again = opened(remembering, server, case_url, "egon")
    expect(again.locator("#reason")).to_have_value("typed a moment before leaving")


def test_without_our_script_the_browser_is_emptied_as_well(
    remembering: BrowserContext, server: Workbench, case_url: str
) -> None:
    page = opened(remembering, server, case_url, "egon")
    page.evaluate("localStorage.setItem('draft:1:x#w', '{}')")
    with page.expect_navigation(url="**/login/"):
        page.evaluate("document.querySelector('form[action$=\"/logout/\"]').submit()")
    assert page.evaluate(LEFT) == []


def test_after_a_login_that_ended_by_itself_the_same_account_alone_gets_its_drafts(
    remembering: BrowserContext, server: Workbench, case_url: str
) -> None:
    page = opened(remembering, server, case_url, "egon")
    remembering.clear_cookies(name="sessionid")
    page.locator("#reason").fill("half a thought")
    expect(page.locator("[data-draft-state]").first).to_contain_text("You are logged out")
    other = opened(remembering, server, case_url, "etta")
    expect(other.locator("#reason")).not_to_have_value("half a thought")
    assert other.evaluate(KEPT), "it waits for its writer"
    remembering.clear_cookies(name="sessionid")
    own = opened(remembering, server, case_url, "egon")
    expect(own.locator("#reason")).to_have_value("half a thought")
