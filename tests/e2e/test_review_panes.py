"""The review page, by keyboard: room, tabs, stepping, tags, calls as assertions, runs, decisions."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.conftest import Login, Watched
from tests.e2e.pages import CONTROLS, HEIGHTS, NARROW, WIDE, overflow, press_tool, until_keys_work
from tests.e2e.workbench import Workbench

NOW = "#panel-trace [data-step-now]"
FOCUSED = """() => {
  const here = document.activeElement;
  const parts = "#label-form, #pane-query, #pane-code, #verdict, .tab-list, #test-panel, .tab-panel";
  const part = here.closest(parts);
  const name = here.getAttribute("aria-label") ?? (here.id || here.textContent.trim());
  return [part?.id || part?.className || "", name];
}"""
INSIDE = {
    "pane-code": ("Wrap lines", "Function, ", "Try a call"),
    "verdict": ("Whole reason and details|Details",),
    "label-form": ("Match", "No match", "Unsure", "^reason$", "^Tags"),
    "test-panel": ("Run again", "Edit|Continue editing", "Test program, ", "About this test"),
}
"""What is reached by Tab in each part: its head, then what it shows, then what is done with it."""
PANELS = ("#panel-test", "#panel-trace", "#panel-history")


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
    return [
        page.locator(part).bounding_box() for part in ("#pane-query", "#pane-code", "#verdict", "#panel-test")
    ]


def width(page: Page, column: str) -> float:
    box = page.locator(f'[data-column="{column}"]').bounding_box()
    assert box is not None
    return box["width"]


def test_the_divider_moves_by_arrow_keys_and_its_place_is_remembered(page: Page) -> None:
    divider = page.get_by_role("separator")
    usual, before = width(page, "left"), divider.get_attribute("aria-valuenow")
    divider.focus()
    with page.expect_response("**/review/layout/"):
        page.keyboard.press("ArrowLeft")
    moved = width(page, "left")
    assert moved < usual
    assert divider.get_attribute("aria-valuenow") != before
    page.reload()
    assert width(page, "left") == pytest.approx(moved, abs=8)
    divider.focus()
    with page.expect_response("**/review/layout/"):
        page.keyboard.press("Enter")
    assert width(page, "left") == pytest.approx(usual, abs=8)


def test_without_javascript_test_trace_and_history_are_one_below_the_other(
    login: Login, server: Workbench, watched: Watched
) -> None:
    context = login("elsa", java_script_enabled=False)
    page = opened(context, server, watched, "case")
    for panel in PANELS:
        expect(page.locator(panel)).to_be_visible()
    tops = [page.locator(panel).bounding_box()["y"] for panel in PANELS]  # type: ignore[index]
    assert tops == sorted(tops)
    expect(page.get_by_role("separator")).to_have_count(0)
    expect(page.get_by_role("tab")).to_have_count(0)
    expect(page.locator(".steps-buttons")).to_be_hidden()
    unfold(page, ".call-fold")
    expect(page.locator("#call-expression")).to_be_visible()
    unfold(page, ".tags-fold")
    expect(page.locator(".tag").first).to_be_visible()


def unfold(page: Page, fold: str) -> None:
    """It is open already where an earlier test left a draft in it."""
    if page.locator(fold).get_attribute("open") is None:
        page.locator(f"{fold} summary").click()


def shown(page: Page) -> list[str]:
    return [panel for panel in PANELS if page.locator(panel).is_visible()]


def test_a_key_chooses_a_tab_and_it_stays_on_the_next_pair(page: Page) -> None:
    assert shown(page) == ["#panel-test"]
    page.keyboard.press("8")
    expect(page.get_by_role("tab", name="Trace")).to_have_attribute("aria-selected", "true")
    assert shown(page) == ["#panel-trace"]
    page.keyboard.press("9")
    expect(page.locator("#panel-history")).to_be_visible()
    assert shown(page) == ["#panel-history"]
    case = page.locator("#case").get_attribute("data-case")
    page.keyboard.press("n")
    expect(page.locator(f'#case:not([data-case="{case}"])')).to_be_visible()
    assert shown(page) == ["#panel-history"]
    page.reload()
    assert shown(page) == ["#panel-history"]
    page.keyboard.press("7")
    expect(page.locator("#panel-test")).to_be_visible()


def test_arrow_keys_move_along_the_tabs(page: Page) -> None:
    page.get_by_role("tab", name="Test").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Trace")).to_be_focused()
    expect(page.get_by_role("tabpanel", name="Trace")).to_be_visible()
    page.keyboard.press("End")
    expect(page.get_by_role("tabpanel", name="History")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tabpanel", name="Test")).to_be_visible()
    assert page.get_by_role("tab", name="Trace").get_attribute("tabindex") == "-1"


def test_a_link_to_what_is_behind_a_tab_brings_it_forward(failed: Page) -> None:
    failed.locator("#panel-test .assertion a", has_text="call ").first.click()
    assert shown(failed) == ["#panel-trace"]
    failed.locator('#panel-trace a[href^="#t-"]').first.click()
    assert shown(failed) == ["#panel-test"]
    expect(failed.locator("#test-panel .line.is-hit")).to_be_in_viewport()


def test_a_pair_without_a_test_is_code_and_verdict(
    elsa: BrowserContext, server: Workbench, watched: Watched
) -> None:
    page = opened(elsa, server, watched, "screened")
    expect(page.locator("#test-panel")).to_contain_text("Decided by reading; no test was run.")
    expect(page.get_by_role("tab")).to_have_count(0)
    press_tool(page, "t")
    expect(page.locator(".cm-content")).to_be_focused()


def test_a_function_of_thirty_lines_and_its_verdict_are_seen_at_once(failed: Page) -> None:
    failed.locator("#pane-code .code-body").evaluate("""(body) => {
      const line = body.querySelector(".line").outerHTML;
      body.innerHTML = line.repeat(30);
    }""")
    scroll = failed.locator("#pane-code .code-scroll")
    assert scroll.evaluate("(one) => one.scrollHeight - one.clientHeight") == 0
    for part in ("#case-title", ".verdict-line .sign", "#label-form button >> nth=0", "#reason"):
        expect(failed.locator(part)).to_be_in_viewport(ratio=1)
    assert failed.evaluate("document.documentElement.scrollHeight - innerHeight") == 0


@pytest.mark.parametrize("name", ["case", "failed", "screened"])
def test_the_first_window_has_few_controls(
    login: Login, server: Workbench, watched: Watched, name: str
) -> None:
    ella = login("ella", viewport={"width": WIDE, "height": HEIGHTS[WIDE]})  # who has no drafts and no labels
    page = opened(ella, server, watched, name)
    controls = page.evaluate(CONTROLS)
    assert 10 < len(controls) <= 30, "\n".join(controls)


def test_the_guidelines_are_one_key_away(page: Page) -> None:
    page.keyboard.press("/")
    dialog = page.get_by_role("dialog", name="Guidelines")
    expect(dialog).to_contain_text("Label 1 is a match")
    page.keyboard.press("Escape")
    expect(dialog).not_to_be_visible()


def test_a_comment_is_written_by_keys_and_stands_in_the_history(page: Page) -> None:
    press_tool(page, "y")
    field = page.get_by_label("Comment", exact=True)
    expect(field).to_be_focused()
    page.keyboard.type("0 is too strict here")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#panel-history .timeline")).to_contain_text("0 is too strict here")
    expect(page.locator("#comment-text")).to_have_value("")


def test_long_lines_are_wrapped_unless_somebody_wants_them_whole(page: Page) -> None:
    page.locator("#pane-code .src").last.evaluate("(line) => (line.textContent = 'word '.repeat(200))")
    scroll = page.locator("#pane-code .code-scroll")
    hidden = "(one) => one.scrollWidth - one.clientWidth"
    assert scroll.evaluate(hidden) == 0
    wrap = page.get_by_role("button", name="Wrap lines")
    wrap.click()
    assert scroll.evaluate(hidden) > 0
    page.reload()
    expect(wrap).to_have_attribute("aria-pressed", "false")
    wrap.click()
    expect(wrap).to_have_attribute("aria-pressed", "true")


def test_the_rest_of_a_wrapped_line_stands_deeper_than_its_beginning(
    login: Login, server: Workbench, watched: Watched
) -> None:
    context = login("emre", viewport={"width": NARROW, "height": HEIGHTS[NARROW]})
    page = opened(context, server, watched, "case")
    line = page.locator("#pane-code .src.in-4").first
    lefts = line.evaluate("""(line) => {
      line.textContent = "    " + "word ".repeat(30);
      const range = document.createRange();
      const leftOf = (at) => {
        range.setStart(line.firstChild, at);
        range.setEnd(line.firstChild, at + 1);
        return range.getBoundingClientRect();
      };
      const first = leftOf(4);
      let at = 5;
      while (leftOf(at).top === first.top || line.textContent[at] === " ") at += 1;
      return [leftOf(0).left, first.left, leftOf(at).left];
    }""")
    blank = (lefts[1] - lefts[0]) / 4
    assert lefts[2] - lefts[1] == pytest.approx(2 * blank, abs=1)


def test_a_warning_moves_no_label(elsa: BrowserContext, server: Workbench, watched: Watched) -> None:
    page = opened(elsa, server, watched, "screened")
    page.locator("#reason").fill("")
    button = page.locator("[data-overrides]")
    before = button.bounding_box()
    button.click()
    expect(page.locator("#label-problem")).to_be_visible()
    assert page.locator("[data-overrides]").bounding_box() == before


def test_what_is_said_covers_no_control(login: Login, server: Workbench, watched: Watched) -> None:
    page = opened(login("emre", viewport={"width": WIDE, "height": HEIGHTS[WIDE]}), server, watched, "case")
    page.locator('button[name=label][value="unsure"]').click()
    said = page.locator("#review-status p")
    expect(said).to_contain_text("Press z to undo")
    covered = said.evaluate("""(said) => {
      const { left, right, top, bottom } = said.getBoundingClientRect();
      return [...document.querySelectorAll("a, button, summary, input, textarea")].filter((one) => {
        const box = one.getBoundingClientRect();
        return box.width && box.left < right && box.right > left && box.top < bottom && box.bottom > top;
      }).map((one) => one.outerHTML);
    }""")
    assert covered == []


def test_the_candidate_is_stepped_through_by_keys(page: Page) -> None:
    page.keyboard.press(".")
    expect(page.locator(NOW)).to_contain_text("Step 1, line")
    page.keyboard.press(".")
    first = page.locator("#panel-trace tr.is-step")
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
    follow = page.locator("#panel-trace [data-follows]")
    expect(follow).to_be_focused()
    name = follow.locator("option").nth(1).inner_text()
    follow.select_option(name)
    page.keyboard.press("Escape")
    page.keyboard.press(".")
    expect(page.locator(NOW)).to_contain_text(f"Now {name} is")
    expect(page.locator("#panel-trace .change.is-followed").first).to_contain_text(name)


def test_one_key_leads_to_the_step_that_failed(failed: Page) -> None:
    expect(failed.locator("#panel-test .assertion.is-bad").first).to_be_visible()
    press_tool(failed, "f")
    row = failed.locator("#panel-trace tr[data-failing]").first
    expect(row).to_have_class("is-step")
    expect(row.get_by_title("It failed here")).to_be_visible()
    expect(failed.locator("#pane-code .line.is-step")).to_be_in_viewport()
    head = failed.locator("#panel-trace .trace thead th").first
    assert head.evaluate("""(head) => {
        const { x, y } = head.getBoundingClientRect();
        return head.contains(document.elementFromPoint(x + 8, y + 8));
    }"""), "the steps pass below the head of their table"


def test_tags_outlive_a_reload_and_are_the_reason_of_an_override(failed: Page) -> None:
    press_tool(failed, "b")
    press_tool(failed, "w")
    expect(failed.locator(".tag :checked")).to_have_count(2)
    expect(failed.locator(".tags-fold summary")).to_have_text("Tags, lines 2")
    failed.reload()  # at once: before they can have reached the server
    expect(failed.locator(".tag :checked")).to_have_count(2)
    address, case = failed.url, failed.locator("#case").get_attribute("data-case")
    failed.keyboard.press("1")
    expect(failed.locator(f'#case:not([data-case="{case}"])')).to_be_visible()
    failed.goto(address)
    mine = failed.locator("#panel-history .of-person").first
    expect(mine).to_contain_text("overrides the agents")
    expect(mine).to_contain_text("wrong edge case")
    expect(mine).to_contain_text("test: wrong expectation")


def test_a_call_becomes_an_assertion_and_nothing_jumps(page: Page) -> None:
    expect(page.locator("#call-expression")).to_be_hidden()
    press_tool(page, "c")
    expect(page.locator("#call-expression")).to_be_focused()
    before = boxes(page)
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
    while not found or found[-1][0] or "test-panel" not in dict(found):
        page.keyboard.press("Tab")
        found.append(tuple(page.evaluate(FOCUSED)))
        assert len(found) < 150
    return found


def test_the_focus_goes_down_the_page_as_it_is_read(page: Page) -> None:
    found = tabbed(page)
    order = list(dict.fromkeys(where for where, _ in found if where))
    assert order == ["pane-code", "verdict", "label-form", "tab-list", "panel-test", "test-panel"]
    for part, expected in INSIDE.items():
        inside = [what for where, what in found if where == part]
        at = [next(n for n, what in enumerate(inside) if re.search(one, what)) for one in expected]
        assert at == sorted(at), (part, inside)
        assert at[0] == 0, "the first thing in a part is in its head"


def test_the_page_fills_the_window_and_nothing_lies_below_it(page: Page) -> None:
    for key in "456":
        page.keyboard.press(key)
        page.evaluate("document.querySelectorAll('.desk details').forEach(one => { one.open = true })")
        assert page.evaluate("document.documentElement.scrollHeight - innerHeight") == 0


def test_all_of_a_query_of_three_lines_is_seen(page: Page) -> None:
    text = "set the title of the current plot to the longest of the titles that are given in a list, " * 2
    title = page.locator("#case-title")
    title.evaluate("(title, text) => (title.textContent = text)", text)
    assert title.evaluate("(title) => title.scrollHeight - title.clientHeight") == 0


def test_ones_own_run_takes_the_place_of_the_recorded_one(page: Page) -> None:
    press_tool(page, "r")
    run = page.locator('#run[data-state="done"]')
    expect(run).to_be_visible(timeout=60_000)
    expect(page.get_by_role("button", name="Mine")).to_have_attribute("aria-pressed", "true")
    expect(run).to_contain_text("Same result as before.")
    assert shown(page) == []
    page.keyboard.press("8")
    expect(page.locator("#run-trace .trace")).to_be_visible()
    page.keyboard.press(".")
    expect(page.locator("#run [data-step-now]")).to_contain_text("Step 1, line")
    assert page.locator("#pane-code .line.is-step").count() == 1
    page.get_by_role("button", name="Recorded").click()
    assert shown(page) == ["#panel-trace"]
    expect(run).to_be_hidden()
    page.keyboard.press(".")
    expect(page.locator(NOW)).to_contain_text("Step 1, line")
    page.get_by_role("button", name="Mine").click()
    run.get_by_role("link", name="Close").click()
    expect(page.get_by_role("button", name="Mine")).to_have_count(0)
    assert shown(page) == ["#panel-trace"]
    page.keyboard.press("7")


@pytest.mark.parametrize("name", ["case", "failed"])
def test_it_is_usable_on_a_phone(login: Login, server: Workbench, watched: Watched, name: str) -> None:
    context = login("elsa", viewport={"width": NARROW, "height": HEIGHTS[NARROW]})
    page = opened(context, server, watched, name)
    page.locator(".tags-fold summary").click()
    page.locator('.tag input[value="low_quality"]').check()
    page.locator('.tag input[value="low_quality"]').uncheck()
    page.get_by_role("tab", name="Trace").click()
    page.get_by_role("button", name="Next step").click()
    expect(page.locator(NOW)).to_contain_text("Step 1, line")
    assert overflow(page) == ""


@pytest.mark.parametrize(
    "path", ["/work/", "/review/cases/{failed}/", "/review/builds/{build}/list/", "/browse/"]
)
def test_a_zoom_of_400_percent_needs_no_sideways_scroll(
    login: Login, server: Workbench, watched: Watched, path: str
) -> None:
    page = login("ella", viewport={"width": 195, "height": 225}).new_page()  # of 780 × 900 px
    page.goto(server.url + path.format(**{**watched.ids, "build": watched.build}))
    assert overflow(page) == ""


@pytest.mark.parametrize(("width", "height"), [(NARROW, HEIGHTS[NARROW]), (720, 450)], ids=["phone", "zoom"])
def test_in_a_small_window_the_labels_stay_in_reach(
    login: Login, server: Workbench, watched: Watched, width: int, height: int
) -> None:
    page = opened(login("erika", viewport={"width": width, "height": height}), server, watched, "failed")
    bar = page.locator(".label-buttons").bounding_box()
    assert bar is not None
    assert bar["height"] <= 0.15 * height
    assert bar["y"] + bar["height"] == height
    page.mouse.wheel(0, 10_000)
    for name in ("Match", "No match", "Unsure"):
        expect(page.locator(".label-button", has_text=re.compile(rf"^\W*{name}"))).to_be_in_viewport(ratio=1)
    parts = ("#case-title", "#pane-code", ".verdict-line", "#reason", ".tab-list", "#panel-test")
    tops = [page.locator(part).bounding_box()["y"] for part in parts]  # type: ignore[index]
    assert tops == sorted(tops)
    assert overflow(page) == ""
    page.locator(".label-button", has_text="Match").first.click()
    expect(page.locator("#reason")).to_be_focused()
    expect(page.locator("#reason")).to_be_in_viewport()
    expect(page.locator(".tag").first).to_be_visible()
