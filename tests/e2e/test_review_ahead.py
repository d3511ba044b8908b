"""The next pair, fetched ahead: painted before its label is stored, and taken back where it can't be."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Request, Response, Route, expect

from tests.e2e.conftest import Login, Watched
from tests.e2e.pages import until_keys_work
from tests.e2e.rated import RATERS
from tests.e2e.workbench import Workbench

FETCHED = "fetched-ahead"


@pytest.fixture
def page(login: Login, server: Workbench, watched: Watched) -> Page:
    """A pair before an expert who has no other tests, once the pair behind it is fetched."""
    one = login("emre").new_page()
    open_pair(one, f"{server.url}/review/cases/{watched.ids['case']}/?show=all")
    return one


def is_fetched(answer: Response) -> bool:
    """Whether this is the next pair, to which its address led."""
    asked = answer.request.redirected_from
    return asked is not None and FETCHED in asked.headers


def open_pair(page: Page, address: str) -> None:
    with page.expect_response(is_fetched):
        page.goto(address)
    until_keys_work(page)


def case_on(page: Page) -> str:
    return page.locator("#case").get_attribute("data-case") or ""


def agreeing(page: Page) -> str:
    """The digit of what the agents said; the other one needs a reason."""
    disagreeing = page.locator("button[name=label][data-overrides]")
    return "0" if disagreeing.count() and disagreeing.get_attribute("value") == "1" else "1"


def held_labels(page: Page) -> list[Route]:
    """From now on a label waits here until the test lets it go."""
    held: list[Route] = []
    page.route("**/label/", lambda route: held.append(route))
    return held


def wait_until_held(page: Page, held: list[Route], count: int = 1) -> None:
    while len(held) < count:
        page.wait_for_timeout(20)


def other_case(page: Page, than: str) -> str:
    expect(page.locator(f'#case[data-case]:not([data-case="{than}"])')).to_be_visible()
    return case_on(page)


def pair_is(page: Page, case: str) -> None:
    expect(page.locator(f'#case[data-case="{case}"]')).to_be_visible()


def fetched_by(page: Page) -> list[Request]:
    """The requests from now on."""
    sent: list[Request] = []
    page.on("request", lambda request: sent.append(request))
    return sent


def test_the_next_pair_is_painted_before_the_label_is_stored(page: Page) -> None:
    here, address = case_on(page), page.url
    held = held_labels(page)
    page.locator("#reason").fill("seen twice")
    page.keyboard.press("Escape")
    page.keyboard.press(agreeing(page))
    following = other_case(page, here)
    expect(page.locator("#case-title")).to_be_focused()
    assert page.url == address, "a reload would show whether the label was stored"
    wait_until_held(page, held)
    held[0].continue_()
    expect(page.locator("#review-status")).to_contain_text("Saved: ")
    expect(page).to_have_url(re.compile(rf"/review/cases/{following}/"))
    expect(page.locator("#label-side form")).to_have_attribute("action", f"/review/cases/{here}/undo/")
    expect(page.locator("#label-form [data-draft-state]")).to_have_text("")
    page.go_back()
    pair_is(page, here)
    expect(page.locator(".label-button.is-current")).to_have_count(1)
    expect(page.locator("#reason")).to_have_value("seen twice")
    page.go_forward()
    pair_is(page, following)


@pytest.mark.parametrize("how", ["stale", "broken", "offline"])
def test_a_label_that_is_not_stored_brings_its_pair_back_with_all_that_was_typed(
    page: Page, how: str
) -> None:
    here, address = case_on(page), page.url
    held = held_labels(page)
    page.locator("#reason").fill(f"typed before it was {how}")
    page.keyboard.press("Escape")
    page.keyboard.press(agreeing(page))
    following = other_case(page, here)
    wait_until_held(page, held)
    page.locator("#reason").fill(f"for the next pair, {how}")
    data = held[0].request.post_data or ""
    if how == "stale":
        held[0].continue_(post_data=re.sub(r"evidence=\w+", "evidence=0", data))
    elif how == "broken":
        held[0].fulfill(status=500, body="")
    else:
        held[0].abort("internetdisconnected")
    pair_is(page, here)
    assert page.url == address
    said = {
        "stale": "The agents continued with this pair while you were reading",
        "broken": "The server answered 500",
        "offline": "Nothing is lost: try again",
    }[how]
    expect(page.locator("#label-problem" if how == "stale" else "#review-status")).to_contain_text(said)
    expect(page.locator("#reason")).to_have_value(f"typed before it was {how}")
    expect(page.locator("#label-form fieldset")).to_be_enabled()
    page.unroute("**/label/")
    page.locator(f'#label-form .label-buttons [value="{agreeing(page)}"]').click()
    pair_is(page, following)
    expect(page.locator("#reason")).to_have_value(f"for the next pair, {how}")
    page.locator("#reason").fill("")
    expect(page.locator("[data-draft-state]").first).to_have_text("")


def test_a_login_that_ended_brings_the_pair_back_after_the_login(page: Page) -> None:
    here = case_on(page)
    page.locator("#reason").fill("without a session")
    page.context.clear_cookies(name="sessionid")
    page.keyboard.press("Escape")
    page.locator(f'#label-form .label-buttons [value="{agreeing(page)}"]').click()
    page.wait_for_url(f"**/login/?next=/review/cases/{here}/**")


def test_a_second_label_waits_until_the_first_is_stored(page: Page) -> None:
    first = case_on(page)
    held = held_labels(page)
    page.keyboard.press(agreeing(page))
    second = other_case(page, first)
    page.locator(f'#label-form .label-buttons [value="{agreeing(page)}"]').click()
    expect(page.locator("#review-status")).to_contain_text("Your last label is still being saved")
    assert (case_on(page), len(held)) == (second, 1)
    held[0].continue_()
    wait_until_held(page, held, 2)
    assert f"/review/cases/{second}/label/" in held[1].request.url
    held[1].continue_()
    other_case(page, second)
    expect(page.locator("#label-side form")).to_have_attribute("action", f"/review/cases/{second}/undo/")


def test_a_pair_that_another_window_has_labelled_is_not_labelled_over(page: Page) -> None:
    here = case_on(page)
    other = page.context.new_page()
    page.keyboard.press("n")
    following, address = other_case(page, here), page.url
    page.keyboard.press("p")
    with page.expect_response(is_fetched):
        pair_is(page, here)
    page.wait_for_timeout(200)
    other.goto(address)
    other.locator('button[name=label][value="unsure"]').click()
    other_case(other, following)
    until_keys_work(page)
    page.keyboard.press("Escape")
    page.keyboard.press(agreeing(page))
    pair_is(page, following)
    expect(page.locator("#review-status")).to_contain_text("Saved: ")
    until_keys_work(page)
    page.locator(f'#label-form .label-buttons [value="{agreeing(page)}"]').click()
    expect(page.locator(".clash")).to_contain_text("changed in another window")
    pair_is(page, following)


def test_next_paints_what_was_fetched_and_asks_for_nothing_else(page: Page) -> None:
    here = case_on(page)
    sent = fetched_by(page)
    with page.expect_response(is_fetched):
        page.keyboard.press("n")
        following = other_case(page, here)
    expect(page).to_have_url(re.compile(rf"/review/cases/{following}/"))
    asked = [one for one in sent if "/review/builds/" in one.url]
    assert asked and all(FETCHED in one.headers for one in asked)


def test_a_label_that_needs_a_reason_does_not_go_on(page: Page) -> None:
    here = case_on(page)
    held = held_labels(page)
    page.locator("#reason").fill("")
    page.keyboard.press("Escape")
    page.keyboard.press("1" if agreeing(page) == "0" else "0")
    wait_until_held(page, held)
    assert case_on(page) == here
    held[0].continue_()
    expect(page.locator("#label-problem")).to_be_visible()
    expect(page.locator("#reason")).to_be_focused()


def test_a_slow_answer_shows_a_line_that_moves_nothing(page: Page) -> None:
    asked: list[Route] = []
    page.route("**/review/builds/**", lambda route: asked.append(route))
    before = page.locator("#case").bounding_box()
    page.locator(".case-nav a", has_text="Previous").click()
    wait_until_held(page, asked)
    page.wait_for_timeout(300)
    line = page.evaluate("getComputedStyle(document.documentElement, '::before').opacity")
    assert (line, page.locator("#case").bounding_box()) == ("1", before)
    asked[0].continue_()
    expect(page.locator("html[data-waiting]")).to_have_count(0)


def test_nothing_is_fetched_ahead_in_a_study(login: Login, server: Workbench, rated: dict[str, int]) -> None:
    page = login(RATERS["rate_own"][0]).new_page()
    sent = fetched_by(page)
    page.goto(f"{server.url}/rate/{rated['rate_own']}/next/")
    expect(page.locator("#case[data-case]")).to_be_visible()
    page.wait_for_timeout(1000)
    assert page.locator("[data-ahead]").count() == 0
    assert not [one for one in sent if FETCHED in one.headers]
