"""The panes of the review page, by keyboard: room, stepping, tags, calls as assertions, decisions."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.conftest import Login, Watched
from tests.e2e.pages import HEIGHTS, NARROW, WIDE, overflow, press_tool, until_keys_work
from tests.e2e.workbench import Workbench

NOW = "#pane-execution [data-step-now]"
FOCUSED = """() => {
  const here = document.activeElement;
  const place = here.closest("#label-form, [data-pane]")?.id ?? "";
  return [place, here.getAttribute("aria-label") ?? (here.id || here.textContent.trim())];
}"""
INSIDE = {
    "query": ("Show the query", "The query and what it may mean"),
    "code": ("Show the candidate", "Candidate, ", "call-expression", "Call"),
    "agent": ("Show what the agents said", "Each stage of the agents", "earlier step"),
    "test": ("Run again", "Edit|Continue editing", "Show the test program", "Test program, "),
    "execution": ("Show the execution", "What came out", "Previous step", "Next step", "Trace of"),
}
"""What is reached by Tab in each pane: its head, then what it shows, then what is done with it."""
PANES = ("#pane-query", "#pane-code", "#pane-history", "#pane-agent", "#test-panel", "#pane-execution")


@pytest.fixture
def elsa(login: Login) -> BrowserContext:
    return login("elsa", viewport={"width": WIDE, "height": HEIGHTS[WIDE]})


def opened(elsa: BrowserContext, server: Workbench, watched: Watched, name: str) -> Page:
    page = elsa.new_page()
    page.goto(f"{server.url}/review/cases/{watched.ids[name]}/")
    return page


@pytest.fixture
def page(elsa: BrowserContext, server: Workbench, watched: Watched) -> Page:
    return opened(elsa, server, watched, "case")


@pytest.fixture
def failed(elsa: BrowserContext, server: Workbench, watched: Watched) -> Page:
    return opened(elsa, server, watched, "failed")


def boxes(page: Page) -> list[Any]:
    return [page.locator(pane).bounding_box() for pane in (*PANES, "#pane-code .code-scroll")]


def height(page: Page, pane: str) -> float:
    box = page.locator(pane).bounding_box()
    assert box is not None
    return box["height"]


def test_a_closed_pane_stays_closed_on_the_next_page(page: Page) -> None:
    toggle = page.get_by_role("button", name="Show what the agents said")
    with page.expect_response("**/review/layout/"):
        toggle.press("Enter")
    expect(toggle).to_have_attribute("aria-expanded", "false")
    page.reload()
    expect(page.locator("#pane-agent-body")).to_be_hidden()
    with page.expect_response("**/review/layout/"):
        toggle.press("Enter")
    expect(page.locator("#pane-agent-body")).to_be_visible()


def test_a_divider_moves_by_arrow_keys_and_its_place_is_remembered(page: Page) -> None:
    divider = page.get_by_role("separator", name="Between agents and test program")
    usual, before = height(page, "#pane-agent"), divider.get_attribute("aria-valuenow")
    divider.focus()
    with page.expect_response("**/review/layout/"):
        page.keyboard.press("ArrowDown")
    moved = height(page, "#pane-agent")
    assert moved > usual
    assert divider.get_attribute("aria-valuenow") != before
    page.reload()
    assert height(page, "#pane-agent") == pytest.approx(moved, abs=8)
    divider.focus()
    with page.expect_response("**/review/layout/"):
        page.keyboard.press("Enter")
    assert height(page, "#pane-agent") == pytest.approx(usual, abs=8)


def test_without_javascript_all_panes_are_open(login: Login, server: Workbench, watched: Watched) -> None:
    context = login("elsa", java_script_enabled=False)
    page = opened(context, server, watched, "case")
    for pane in PANES:
        expect(page.locator(f"{pane} .panel-body").first).to_be_visible()
    expect(page.get_by_role("separator")).to_have_count(0)
    expect(page.locator(".steps-buttons")).to_be_hidden()


def test_the_candidate_is_stepped_through_by_keys(page: Page) -> None:
    page.keyboard.press(".")
    expect(page.locator(NOW)).to_contain_text("Step 1, line")
    page.keyboard.press(".")
    first = page.locator("#pane-execution tr.is-step")
    expect(first).to_have_attribute("aria-current", "step")
    line = first.get_attribute("data-line")
    expect(page.locator(f"#{line}")).to_have_attribute("aria-current", "step")
    expect(page.locator("#pane-code .line.is-step")).to_have_count(1)
    page.keyboard.press(",")
    expect(page.locator(NOW)).to_contain_text("Step 1, line")
    page.keyboard.press(",")
    expect(page.locator(NOW)).to_have_text("This was the first step.")


def test_one_variable_is_followed(page: Page) -> None:
    press_tool(page, "g")
    follow = page.locator("#pane-execution [data-follows]")
    expect(follow).to_be_focused()
    name = follow.locator("option").nth(1).inner_text()
    follow.select_option(name)
    page.keyboard.press("Escape")
    page.keyboard.press(".")
    expect(page.locator(NOW)).to_contain_text(f"Now {name} is")
    expect(page.locator("#pane-execution .change.is-followed").first).to_contain_text(name)


def test_one_key_leads_to_the_step_that_failed(failed: Page) -> None:
    press_tool(failed, "f")
    row = failed.locator("#pane-execution tr[data-failing]").first
    expect(row).to_have_class("is-step")
    expect(row.get_by_title("Here it went wrong")).to_be_visible()
    expect(failed.locator("#pane-code .line.is-step")).to_be_in_viewport()
    expect(failed.locator("#pane-execution .assertion.is-bad").first).to_be_visible()
    head = failed.locator("#pane-execution .trace thead th").first
    assert head.evaluate("""(head) => {
        const { x, y } = head.getBoundingClientRect();
        return head.contains(document.elementFromPoint(x + 8, y + 8));
    }"""), "the steps pass below the head of their table"


def test_tags_outlive_a_reload_and_are_the_reason_of_an_override(failed: Page) -> None:
    press_tool(failed, "b")
    press_tool(failed, "w")
    expect(failed.locator(".tag :checked")).to_have_count(2)
    failed.reload()  # at once: before they can have reached the server
    expect(failed.locator(".tag :checked")).to_have_count(2)
    address, case = failed.url, failed.locator("#case").get_attribute("data-case")
    failed.keyboard.press("1")
    expect(failed.locator(f'#case:not([data-case="{case}"])')).to_be_visible()
    failed.goto(address)
    mine = failed.locator("#pane-history .of-person").first
    expect(mine).to_contain_text("overrides the agents")
    expect(mine).to_contain_text("wrong edge case")
    expect(mine).to_contain_text("test: wrong expectation")


def test_a_call_becomes_an_assertion_and_nothing_jumps(page: Page) -> None:
    before = boxes(page)
    press_tool(page, "c")
    page.keyboard.press("Control+a")
    page.keyboard.type("purge_empty_strings(['', 'b'])")
    page.keyboard.press("Enter")
    expect(page.locator(".call.is-latest .call-value")).to_contain_text("['b']")
    assert boxes(page) == before
    page.keyboard.press("Escape")
    press_tool(page, "a")
    added = "assert purge_empty_strings(['', 'b']) == ['b']"
    expect(page.locator("#review-status")).to_contain_text(added)
    press_tool(page, "t")
    expect(page.locator(".cm-content")).to_contain_text(added)
    page.keyboard.press("Escape")
    press_tool(page, "a")
    expect(page.locator(".cm-line", has_text=added)).to_have_count(2)
    expect(page.locator(".cm-line", has_text=added).last).to_be_in_viewport()
    expect(page.locator("#test-panel [data-draft-state]")).to_have_text("Draft kept")


def test_a_run_of_ones_own_test_is_listed_with_what_it_changed(page: Page) -> None:
    press_tool(page, "t")
    page.locator(".cm-content").wait_for()
    page.keyboard.press("Control+End")
    page.keyboard.type("\nassert purge_empty_strings([]) == []")
    page.keyboard.press("Control+Enter")
    expect(page.locator('#run[data-state="done"]')).to_be_visible()
    expect(page.locator("#test-panel [data-draft-state]")).to_have_text("")
    page.reload()
    press_tool(page, "t")
    page.locator(".own-runs summary").first.click()
    expect(page.locator(".own-runs .difference.is-new").last).to_contain_text("purge_empty_strings([]) == []")


def test_the_last_decisions_are_a_key_away_and_can_be_changed(page: Page) -> None:
    address, case = page.url, page.locator("#case").get_attribute("data-case")
    page.keyboard.press("2")
    expect(page.locator(f'#case:not([data-case="{case}"])')).to_be_visible()
    expect(page.locator("#case-title")).to_be_focused()
    page.keyboard.press("d")
    latest = page.locator(".decision-list a").first
    expect(latest).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(f'#case[data-case="{case}"]')).to_be_visible()
    assert page.url == address
    expect(page.locator(".label-button.is-current")).to_contain_text("Unsure")
    until_keys_work(page)
    page.keyboard.press("z")
    expect(page.locator("#review-status")).to_contain_text("Undone")


def tabbed(page: Page) -> list[tuple[str, str]]:
    """Where Tab leads from the page's beginning to its end: (the part of the page, what is focused)."""
    page.locator("#content").focus()
    found: list[tuple[str, str]] = []
    while not found or found[-1][0] or "execution" not in dict(found):
        page.keyboard.press("Tab")
        where, what = page.evaluate(FOCUSED)
        found.append((where.replace("pane-", "").replace("-panel", ""), what))
        assert len(found) < 150
    return found


def test_the_focus_goes_down_the_page_as_it_is_read(page: Page) -> None:
    found = tabbed(page)
    order = list(dict.fromkeys(where for where, _ in found if where))
    assert order == ["label-form", "query", "code", "history", "agent", "test", "execution"]
    for pane, expected in INSIDE.items():
        inside = [what for where, what in found if where == pane]
        at = [next(n for n, what in enumerate(inside) if re.search(one, what)) for one in expected]
        assert at == sorted(at), (pane, inside)
        assert at[0] == 0, "the first thing in a pane is in its head"


def test_the_panes_fill_the_window_and_nothing_lies_below_it(page: Page) -> None:
    page.locator("#pane-execution table").first.wait_for()
    page.evaluate("document.querySelectorAll('#pane-execution details').forEach(one => { one.open = true })")
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight") == 0


def test_all_of_a_query_of_three_lines_is_seen(page: Page) -> None:
    text = "set the title of the current plot to the longest of the titles that are given in a list, " * 2
    page.locator("#case-title").evaluate("(title, text) => (title.textContent = text)", text)
    hidden = page.locator("#pane-query-body").evaluate("(body) => body.scrollHeight - body.clientHeight")
    assert hidden == 0


@pytest.mark.parametrize("name", ["case", "failed"])
def test_it_is_usable_on_a_phone(login: Login, server: Workbench, watched: Watched, name: str) -> None:
    context = login("elsa", viewport={"width": NARROW, "height": HEIGHTS[NARROW]})
    page = opened(context, server, watched, name)
    page.locator('.tag input[value="low_quality"]').check()
    page.locator('.tag input[value="low_quality"]').uncheck()
    page.get_by_role("button", name="Next step").click()
    expect(page.locator(NOW)).to_contain_text("Step 1, line")
    assert overflow(page) == ""
