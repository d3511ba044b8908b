"""Nothing typed is lost, nobody's label is overwritten unseen, and keys do what their owner wants."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import APIResponse, BrowserContext, Page, Route, expect

from tests.e2e.conftest import Login, Watched
from tests.e2e.launching import TESTED
from tests.e2e.pages import cancel_conversion, press_tool, until_keys_work
from tests.e2e.workbench import Workbench

REASON = "Half of it: 10 u n p z 0 1"


@pytest.fixture
def case_url(server: Workbench, watched: Watched) -> str:
    return f"{server.url}/review/cases/{watched.ids['case']}/"


@pytest.fixture
def edda(login: Login) -> BrowserContext:
    return login("edda")


@pytest.fixture
def page(edda: BrowserContext, case_url: str) -> Page:
    one = edda.new_page()
    one.goto(case_url)
    return one


@pytest.fixture
def own_keys(edda: BrowserContext, server: Workbench) -> Iterator[Page]:
    """The page of Edda's keys, which are the defaults again afterwards."""
    one = edda.new_page()
    one.goto(f"{server.url}/review/keys/")
    yield one
    one.goto(f"{server.url}/review/keys/")
    # Closed in the middle of a navigation, the page would at times never say that it is closed.
    with one.expect_navigation():
        one.get_by_role("button", name="Restore the defaults").click()
    one.close()


def case_on(page: Page) -> str:
    return page.locator("#case").get_attribute("data-case") or ""


def test_keys_are_dead_while_typing_and_the_reason_outlives_a_reload(page: Page) -> None:
    before = case_on(page)
    page.keyboard.press("e")
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type(REASON)
    page.reload()  # at once: before it can have reached the server
    expect(page.locator("#reason")).to_have_value(REASON)
    assert case_on(page) == before
    expect(page.locator("[data-draft-state]").first).to_have_text("Draft kept")
    page.evaluate("localStorage.clear()")
    page.reload()
    expect(page.locator("#reason")).to_have_value(REASON)


@pytest.mark.parametrize(
    ("key", "field"), [("e", "#reason"), ("; c", "#call-expression"), ("; t", ".cm-content")]
)
def test_an_escape_that_cancels_a_conversion_leaves_no_field(page: Page, key: str, field: str) -> None:
    until_keys_work(page)
    cancel_conversion(page, key, field)


def test_a_page_that_was_rendered_before_the_draft_arrived_shows_it(page: Page, case_url: str) -> None:
    drafts: list[Route] = []
    rendered: list[tuple[Route, APIResponse]] = []
    kept_before = page.locator("#reason").get_attribute("data-draft-at")
    page.route("**/draft/", lambda route: drafts.append(route))
    page.route(case_url, lambda route: rendered.append((route, route.fetch())))
    page.locator("#reason").fill("")
    page.locator("#reason").press_sequentially("Typed, then reloaded")
    page.evaluate("setTimeout(() => location.reload())")
    while not (drafts and rendered):
        page.wait_for_timeout(50)
    with page.expect_response("**/draft/"):
        drafts[0].continue_()
    page.wait_for_timeout(200)
    rendered[0][0].fulfill(response=rendered[0][1])
    expect(page.locator("[data-draft-state]").first).to_have_text("Restored from this browser")
    expect(page.locator("#reason")).to_have_value("Typed, then reloaded")
    assert page.locator("#reason").get_attribute("data-draft-at") == kept_before
    page.unroute_all(behavior="ignoreErrors")


def test_an_edited_test_outlives_a_reload(page: Page) -> None:
    press_tool(page, "t")
    expect(page.locator(".cm-content")).to_be_focused()
    page.keyboard.press("Control+Home")
    page.keyboard.type("# typed by Edda")
    page.keyboard.press("Enter")
    expect(page.locator("#test-panel [data-draft-state]")).to_have_text("Draft kept")
    page.reload()
    press_tool(page, "t")
    expect(page.locator(".cm-content")).to_contain_text("# typed by Edda")
    expect(page.locator(".cm-content")).to_contain_text(TESTED[1].rsplit("::", 1)[1])


def test_the_second_of_two_windows_is_shown_both_texts(login: Login, case_url: str) -> None:
    one, other = login("emil").new_page(), login("emil").new_page()
    for window in (one, other):
        window.goto(case_url)
    one.locator("#reason").fill("I saw it first")
    one.locator('button[name=label][value="1"]').click()
    expect(one.locator("#review-status")).to_contain_text("match")
    other.locator("#reason").fill("I saw it second")
    other.locator('button[name=label][value="unsure"]').click()
    clash = other.locator(".clash")
    expect(clash).to_contain_text("changed in another window")
    expect(clash).to_contain_text("I saw it first")
    expect(clash).to_contain_text("I saw it second")
    expect(other.locator("#reason")).to_have_value("I saw it second")


def test_keys_can_be_changed(own_keys: Page, page: Page) -> None:
    own_keys.get_by_label("Next pair").fill("j")
    own_keys.get_by_role("button", name="Store", exact=True).click()
    page.reload()
    before = case_on(page)
    page.keyboard.press("n")
    page.keyboard.press("Escape")  # what was typed is no text
    page.keyboard.press("j")
    expect(page.locator(f'#case:not([data-case="{before}"])')).to_be_visible()
    assert case_on(page) != before, "n does nothing any more, j goes on: to what is disputed, first of all"


def test_a_digit_of_a_scale_is_refused_for_anything_else(own_keys: Page, page: Page) -> None:
    following = own_keys.get_by_label("Next pair")
    following.fill("3")
    own_keys.get_by_role("button", name="Store", exact=True).click()
    problem = own_keys.locator("#problem-next")
    expect(problem).to_contain_text("“Relevance: 3, exact”")
    expect(following).to_have_value("3")
    page.reload()
    before = case_on(page)
    page.keyboard.press("3")
    page.wait_for_timeout(300)
    assert case_on(page) == before, "nothing was stored"
    own_keys.get_by_label("Relevance: 3, exact").fill("5")
    own_keys.get_by_label("Reuse my label for identical code").fill("6")
    own_keys.get_by_role("button", name="Store", exact=True).click()
    expect(problem).to_have_count(0)
    page.reload()
    page.keyboard.press("3")
    expect(page.locator(f'#case:not([data-case="{before}"])')).to_be_visible()


def test_keys_can_be_switched_off(own_keys: Page, page: Page) -> None:
    own_keys.get_by_label("Single-key shortcuts work").uncheck()
    own_keys.get_by_role("button", name="Store", exact=True).click()
    page.reload()
    before = case_on(page)
    for key in "n2e?;t":
        page.keyboard.press(key)
    page.wait_for_timeout(500)
    assert case_on(page) == before
    expect(page.locator("dialog[open], .cm-editor")).to_have_count(0)
    expect(page.locator("#reason")).not_to_be_focused()
