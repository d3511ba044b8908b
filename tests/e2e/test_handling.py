"""What hands do to pages: clicks that come twice, texts without end, the back button of the next person."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import pytest
from playwright.sync_api import APIResponse, BrowserContext, Error, Page, Route, expect

from tests.e2e.conftest import Login, Watched
from tests.e2e.pages import NARROW, WIDE, log_in, overflow, press_tool
from tests.e2e.prepare import PASSWORD
from tests.e2e.workbench import Workbench

LENGTHEN_THE_PROGRAM = """() => {
  const body = document.querySelector("#test-panel .code-body");
  const line = body.querySelector(".line").outerHTML + '<span class="visually-hidden">not reached</span>';
  body.innerHTML += line.repeat(400);
}"""
CUT_OFF = """() => [...document.querySelectorAll(
    ".panel, .panel-body, .panel-test, .code-scroll, .trace-scroll, .about-scroll"
  )]
  .filter((one) => one.scrollHeight > one.clientHeight + 2 && getComputedStyle(one).overflowY !== "visible")
  .map((one) => one.className)"""
BELOW_THE_FOLD = "document.scrollingElement.scrollHeight - window.innerHeight"


@pytest.fixture
def edda(login: Login) -> BrowserContext:
    return login("edda")


def opened(context: BrowserContext, server: Workbench, path: str) -> Page:
    page = context.new_page()
    page.set_viewport_size({"width": WIDE, "height": 900})
    page.goto(server.url + path)
    return page


def test_a_double_click_sends_a_form_once(edda: BrowserContext, server: Workbench) -> None:
    page = opened(edda, server, "/review/keys/")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.get_by_role("button", name="Restore the defaults").dblclick()
    expect(page.get_by_text("Your keys are stored.").first).to_be_visible()
    assert len(sent) == 1


def test_a_long_program_scrolls_in_its_panel_alone(
    edda: BrowserContext, server: Workbench, watched: Watched
) -> None:
    page = opened(edda, server, f"/review/cases/{watched.ids['case']}/")
    before = page.evaluate(BELOW_THE_FOLD)
    page.evaluate(LENGTHEN_THE_PROGRAM)
    assert page.evaluate(BELOW_THE_FOLD) == before


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_query_of_one_endless_word_breaks(
    edda: BrowserContext, server: Workbench, watched: Watched, width: int
) -> None:
    page = opened(edda, server, f"/review/cases/{watched.ids['case']}/test/")
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("document.querySelector('.lede').textContent = 'z'.repeat(3000)")
    assert overflow(page) == ""


def test_the_key_of_the_note_goes_on_behind_it(
    edda: BrowserContext, server: Workbench, watched: Watched
) -> None:
    page = opened(edda, server, f"/review/cases/{watched.ids['case']}/")
    page.locator("#reason").fill("one")
    page.keyboard.press("Escape")
    page.evaluate("document.querySelector('#reason').setSelectionRange(0, 0)")
    page.keyboard.press("e")
    page.keyboard.type(" two")
    expect(page.locator("#reason")).to_have_value("one two")
    page.locator("#reason").fill("")
    expect(page.locator("[data-draft-state]").first).to_have_text("")


def test_the_back_button_shows_the_next_person_the_log_in_page(login: Login, server: Workbench) -> None:
    page = opened(login(""), server, "/login/")
    log_in(page, server.url, "ray", PASSWORD)
    page.locator("header details.menu summary").click()
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login/**")
    page.go_back()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_the_trace_of_a_run_is_not_squeezed_out(
    edda: BrowserContext, server: Workbench, watched: Watched
) -> None:
    page = opened(edda, server, f"/review/cases/{watched.ids['case']}/")
    press_tool(page, "r")
    expect(page.locator("#run")).to_have_attribute("data-state", "done", timeout=20_000)
    page.evaluate(
        "document.querySelector('#run .report').append('long output '.repeat(2000))"
    )  # as of a program that prints much
    page.keyboard.press("8")
    shown = page.evaluate("document.querySelector('#run .trace-scroll').clientHeight")
    rows = page.evaluate("document.querySelector('#run .trace').offsetHeight")
    assert shown >= min(rows, 300)


def press_until(page: Page, key: str, seen: Sequence[object]) -> None:
    """Press a key until something was sent: on a busy machine the first may come before anybody listens."""
    for _ in range(10):
        press_tool(page, key)
        for _ in range(100):
            if seen:
                return
            page.wait_for_timeout(50)
    raise AssertionError(f"nothing was sent for the key {key}")


def test_a_run_that_is_asked_for_while_another_ones_answer_arrives_is_shown(
    edda: BrowserContext, server: Workbench, watched: Watched
) -> None:
    page = opened(edda, server, f"/review/cases/{watched.ids['case']}/")
    answers: list[tuple[Route, APIResponse]] = []
    asked: list[Route] = []
    page.route("**/review/executions/**", lambda route: answers.append((route, route.fetch())))
    press_until(page, "r", answers)
    page.unroute("**/review/executions/**")
    page.route("**/run/", lambda route: asked.append(route))
    press_until(page, "r", asked)
    with suppress(Error):  # nobody waits for it any more
        answers[0][0].fulfill(response=answers[0][1])
    with page.expect_response("**/review/executions/**") as second:
        asked[0].continue_()
    number = second.value.url.split("/executions/", 1)[1].split("/", 1)[0]
    newest = page.locator(f'#run[data-run="{number}"]')
    expect(newest).to_have_attribute("data-state", "done", timeout=20_000)


@pytest.mark.parametrize("width", [WIDE, 794])  # paper lying and standing
def test_paper_shows_all_that_the_panels_hold(
    edda: BrowserContext, server: Workbench, watched: Watched, width: int
) -> None:
    page = opened(edda, server, f"/review/cases/{watched.ids['case']}/")
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(media="print")
    assert page.evaluate(CUT_OFF) == []
