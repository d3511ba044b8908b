"""An expert calls the candidate from the box under its code."""

from __future__ import annotations

import pytest
from playwright.sync_api import APIResponse, BrowserContext, Page, Route, expect

from tests.e2e.conftest import Login, Watched
from tests.e2e.pages import HEIGHTS, NARROW, arrived, overflow, press_tool, watched_page
from tests.e2e.workbench import Workbench

FIELD = "#call-expression"
LATEST = ".call.is-latest"


@pytest.fixture
def enzo(login: Login) -> BrowserContext:
    return login("enzo")


@pytest.fixture
def page(enzo: BrowserContext, server: Workbench, watched: Watched) -> Page:
    one = enzo.new_page()
    one.goto(f"{server.url}/review/cases/{watched.ids['case']}/")
    if not one.locator(FIELD).is_visible():
        one.locator(".call-fold summary").click()
    return one


def name_of(page: Page) -> str:
    """The candidate's function, as the field proposes it."""
    return (page.locator(FIELD).get_attribute("placeholder") or "").partition("(")[0]


def test_a_key_an_expression_and_enter_show_the_answer_in_place(page: Page) -> None:
    page.evaluate("window.isTheSame = true")
    press_tool(page, "c")
    expect(page.locator(FIELD)).to_be_focused()
    page.keyboard.press("Control+a")  # a text that another test has left behind
    page.keyboard.type(f"{name_of(page)}(['a', '', 'b'])")
    page.keyboard.press("Enter")
    expect(page.locator(f"{LATEST} .call-value")).to_contain_text("['a', 'b']")
    expect(page.locator("#call-said")).to_contain_text("gives ['a', 'b']")
    expect(page.locator(FIELD)).to_be_focused()
    assert page.evaluate("window.isTheSame") is True


def test_an_exception_leads_to_the_line_that_raised_it(page: Page) -> None:
    page.locator(FIELD).fill(f"{name_of(page)}(3)")
    page.keyboard.press("Enter")
    expect(page.locator(f"{LATEST} .call-value")).to_contain_text("TypeError")
    link = page.locator(f"{LATEST} .frames a").last
    link.click()
    expect(page.locator(f"{link.get_attribute('href')}.is-hit")).to_be_visible()


def test_an_answer_on_its_way_does_not_hide_the_next_call(page: Page) -> None:
    answers: list[tuple[Route, APIResponse]] = []
    asked: list[Route] = []
    page.route("**/review/calls/**", lambda route: answers.append((route, route.fetch())))
    page.locator(FIELD).fill("__import__('time').sleep(1.3)")  # longer than the page waits at first
    page.keyboard.press("Enter")
    while not answers:
        page.wait_for_timeout(50)
    page.route("**/review/cases/*/call/", lambda route: asked.append(route))
    page.locator(FIELD).fill("20 + 2")
    page.keyboard.press("Enter")
    while not asked:
        page.wait_for_timeout(50)
    page.unroute("**/review/calls/**")
    answers[0][0].fulfill(response=answers[0][1])
    expect(page.locator(f"{LATEST} .call-value")).to_contain_text("None")
    asked[0].continue_()
    expect(page.locator(f"{LATEST} .call-again")).to_have_text("20 + 2")


TYPE_ON = """() => document.addEventListener("htmx:beforeSwap", () => {
  const field = document.querySelector("#call-expression");
  field.value = "41 + 1";
  field.dispatchEvent(new Event("input", { bubbles: true }));
}, { once: true })"""
"""Somebody types the next call as the answer to this one arrives."""


def test_what_is_typed_while_a_call_runs_is_kept(page: Page) -> None:
    page.evaluate(TYPE_ON)
    page.locator(FIELD).fill("40 + 4")
    page.keyboard.press("Enter")
    expect(page.locator(f"{LATEST} .call-value")).to_contain_text("44")
    expect(page.locator(FIELD)).to_have_value("41 + 1")
    page.reload()
    expect(page.locator(FIELD)).to_have_value("41 + 1")


def test_what_can_not_be_asked_stays_in_the_field(page: Page) -> None:
    page.locator(FIELD).fill("x = 3")
    page.keyboard.press("Enter")
    expect(page.locator("#call-problem")).to_contain_text("has no value")
    expect(page.locator(FIELD)).to_have_value("x = 3")
    expect(page.locator(FIELD)).to_be_focused()


def test_a_call_that_runs_says_so_and_not_what_was_refused_before(page: Page) -> None:
    page.locator(FIELD).fill("x = 3")
    page.keyboard.press("Enter")
    expect(page.locator("#call-problem")).to_be_visible()
    held: list[Route] = []
    page.route("**/review/cases/*/call/", lambda route: held.append(route))
    page.locator(FIELD).fill("30 + 3")
    page.keyboard.press("Enter")
    expect(page.locator("#call-runs")).to_have_text("Running …")
    expect(page.get_by_role("status").filter(has_text="Running …")).to_be_visible()
    expect(page.locator("#call-problem")).to_have_count(0)
    arrived(page, held, 1).continue_()
    expect(page.locator(f"{LATEST} .call-again")).to_have_text("30 + 3")
    expect(page.locator("#call-runs")).to_be_empty()
    page.keyboard.press("Enter")  # and a connection that is lost leaves nothing running
    expect(page.locator("#call-runs")).to_have_text("Running …")
    arrived(page, held, 2).abort()
    expect(page.locator("#call-runs")).to_be_empty()
    page.locator(FIELD).fill("")


def test_earlier_calls_come_back_by_click_and_arrow_also_after_a_reload(page: Page) -> None:
    for expression in ("20 + 1", "20 + 2"):
        page.locator(FIELD).fill(expression)
        page.keyboard.press("Enter")
        expect(page.locator(f"{LATEST} .call-again")).to_have_text(expression)
    page.locator(FIELD).fill("half ty")
    page.reload()  # at once: before it can have reached the server
    expect(page.locator(FIELD)).to_have_value("half ty")
    page.get_by_role("link", name="20 + 1").click()
    expect(page.locator(FIELD)).to_have_value("20 + 1")
    page.keyboard.press("ArrowDown")
    expect(page.locator(FIELD)).to_have_value("20 + 2")
    page.locator(FIELD).fill("")


def test_the_page_of_a_case_has_the_box_too(
    enzo: BrowserContext, server: Workbench, watched: Watched
) -> None:
    page, noise = watched_page(enzo)
    page.goto(f"{server.url}/browse/cases/{watched.ids['case']}/")
    page.locator(FIELD).fill("40 + 2")
    page.keyboard.press("Enter")
    expect(page.locator(f"{LATEST} .call-value")).to_contain_text("42")
    page.set_viewport_size({"width": NARROW, "height": HEIGHTS[NARROW]})
    assert overflow(page) == ""
    assert noise.heard == []


def test_it_works_without_javascript(login: Login, server: Workbench, watched: Watched) -> None:
    page = login("enzo", java_script_enabled=False).new_page()
    page.goto(f"{server.url}/review/cases/{watched.ids['case']}/")
    if not page.locator(FIELD).is_visible():
        page.locator(".call-fold summary").click()
    page.locator(FIELD).fill("60 + 6")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Call the function")).to_be_visible()
    expect(page.locator(f"{LATEST} .call-value")).to_contain_text("66")
    expect(page.locator(FIELD)).to_have_value("60 + 6")
