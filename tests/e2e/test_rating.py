"""A rater works by keyboard, and whatever happens to browser, connection or server, nothing typed is lost."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.conftest import CONTEXT, Login
from tests.e2e.homes import KeptHome
from tests.e2e.pages import cancel_conversion, log_in, press_tool, until_keys_work
from tests.e2e.prepare import PASSWORD
from tests.e2e.rated import RATERS
from tests.e2e.workbench import Workbench, serving
from tests.ports import free_port

COUNT = (
    "from annotation.models import Rating; "
    "print(Rating.objects.filter(assignment__enrolment__study={}).count())"
)
PHASES = (
    "from annotation.models import Rating; print(list(Rating.objects.filter("
    "assignment__enrolment__study={}).order_by('pk').values_list('phase', 'value', 'reason')))"
)
LAST = (
    "import json; from annotation.models import Rating; r = Rating.objects.filter("
    "assignment__enrolment__study={}).order_by('pk').last(); "
    "print(json.dumps([r.value, r.notes, r.tags, len(r.runs), len(r.calls), r.seconds > 0]))"
)


@pytest.fixture
def page(login: Login, server: Workbench, rated: dict[str, int], request: pytest.FixtureRequest) -> Page:
    """The first pair of the study that the test names, before its rater."""
    name = request.param
    one = login(RATERS[name][0]).new_page()
    one.goto(f"{server.url}/rate/{rated[name]}/next/")
    return one


def shell(server: Workbench, code: str) -> str:
    return server.manage("shell", "-v", "0", "-c", code).strip()


def pair_on(page: Page) -> str:
    return page.locator("#case").get_attribute("data-case") or ""


def other_pair(page: Page, than: str) -> None:
    expect(page.locator(f'#case:not([data-case="{than}"])')).to_be_visible()
    until_keys_work(page)


def run_a_test(page: Page) -> None:
    """By keyboard alone; it passes."""
    page.wait_for_selector(".cm-content")
    press_tool(page, "t")
    expect(page.locator(".cm-content")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("assert turned([1, 2, 3]) == [3, 2, 1]")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#run[data-state=done]")).to_contain_text("passed")


def label_with_everything(page: Page) -> None:
    """A test that runs, a call, a tag, notes, and then the label: by keyboard alone."""
    run_a_test(page)
    page.keyboard.press("Escape")
    press_tool(page, "c")
    page.keyboard.type("turned([])")
    page.keyboard.press("Enter")
    expect(page.locator(".call.is-latest .call-value")).to_contain_text("[]")
    page.keyboard.press("Escape")
    press_tool(page, "h")
    expect(page.locator("input[name=tags][value=partial]")).to_be_checked()
    page.keyboard.press("e")
    page.keyboard.type("works: 1 0 u")
    page.keyboard.press("Escape")
    page.keyboard.press("1")


@pytest.mark.parametrize("page", ["session"], indirect=True)
def test_a_whole_session_by_keyboard(page: Page, server: Workbench, rated: dict[str, int]) -> None:
    first = pair_on(page)
    label_with_everything(page)
    other_pair(page, first)
    stored = json.loads(shell(server, LAST.format(rated["session"])))
    assert stored == [1, "works: 1 0 u", ["partial"], 1, 1, True]
    expect(page.locator(".panel-history")).to_contain_text("match")
    page.keyboard.press("z")
    expect(page.locator(f'#case[data-case="{first}"]')).to_be_visible()
    expect(page.locator("#notes")).to_have_value("works: 1 0 u")
    expect(page.locator("input[name=tags][value=partial]")).to_be_checked()
    until_keys_work(page)
    page.keyboard.press("0")
    other_pair(page, first)
    second = pair_on(page)
    page.keyboard.press("/")
    expect(page.locator("#guidelines-dialog")).to_contain_text("does all that is asked")
    page.keyboard.press("Escape")
    expect(page.locator("#guidelines-dialog")).to_be_hidden()
    until_keys_work(page)
    page.keyboard.press("-")
    page.keyboard.type("needs a language that I don't know")
    page.keyboard.press("Enter")
    other_pair(page, second)
    page.keyboard.press("2")
    expect(page.get_by_role("heading", name="session")).to_be_visible()
    expect(page.locator("main")).to_contain_text("All done, thank you!")


@pytest.mark.parametrize("page", ["arranged"], indirect=True)
def test_an_escape_that_cancels_a_conversion_labels_nothing(page: Page) -> None:
    cancel_conversion(page, "e", "#notes")


@pytest.mark.parametrize("page", ["arranged"], indirect=True)
def test_the_key_of_an_own_test_leads_below_its_comments(page: Page) -> None:
    page.wait_for_selector(".cm-content")
    press_tool(page, "t")
    expect(page.locator(".cm-content")).to_be_focused()
    page.keyboard.type("assert 1 == 1")
    expect(page.locator(".cm-line").last).to_have_text("assert 1 == 1")
    expect(page.locator(".cm-line").first).to_contain_text("# You can call the function directly")


@pytest.mark.parametrize("page", ["stepped"], indirect=True)
def test_a_call_becomes_a_test_whose_run_is_stepped_through_and_tried(page: Page) -> None:
    page.wait_for_selector(".cm-content")
    press_tool(page, "c")
    page.keyboard.type("turned([1, 2, 3])")
    page.keyboard.press("Enter")
    expect(page.locator(".call.is-latest .call-value")).to_contain_text("[3, 2, 1]")
    page.keyboard.press("Escape")
    press_tool(page, "a")
    expect(page.locator(".cm-content")).to_contain_text("assert turned([1, 2, 3]) == [3, 2, 1]")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#run[data-state=done]")).to_contain_text("passed")
    page.keyboard.press("Escape")
    page.keyboard.press(".")
    expect(page.locator("#run [data-step-now]")).to_contain_text("Step 1, line")
    expect(page.locator(".panel-code .line.is-step")).to_have_count(1)
    until_keys_work(page)  # a link that has just come is followed to a page of its own until htmx has seen it
    press_tool(page, "k")
    expect(page.locator("#run .strength")).to_contain_text("How good is this test?")
    until_keys_work(page)  # a form that has just come is sent by htmx a moment later
    press_tool(page, "k")
    expect(page.locator("#run .strength")).to_contain_text("Strength: caught")


@pytest.mark.parametrize("page", ["rate_own"], indirect=True)
def test_an_assertion_goes_above_the_call_that_runs_the_tests(page: Page) -> None:
    page.wait_for_selector(".cm-content")
    press_tool(page, "t")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("def main():\n    assert turned([1]) == 0\n\n\nmain()\n")
    expect(page.locator("#test-panel [data-draft-state]")).to_contain_text("Draft kept")
    page.keyboard.press("Escape")
    press_tool(page, "c")
    page.keyboard.type("turned([1, 2])")
    page.keyboard.press("Enter")
    expect(page.locator(".call.is-latest .call-value")).to_contain_text("[2, 1]")
    page.keyboard.press("Escape")
    press_tool(page, "a")
    expect(page.locator(".cm-content")).to_contain_text("assert turned([1, 2]) == [2, 1]")
    lines = [line for line in page.locator(".cm-line").all_text_contents() if line.strip()]
    assert lines[-2:] == ["assert turned([1, 2]) == [2, 1]", "main()"]


PARTS = ("#pane-query", "#pane-code", "#test-panel")


def boxes(page: Page) -> list[Any]:
    return [page.locator(part).bounding_box() for part in PARTS]


@pytest.mark.parametrize("page", ["arranged"], indirect=True)
def test_columns_are_arranged_and_remembered_and_a_run_stands_below_its_test(page: Page) -> None:
    page.wait_for_selector(".cm-content")
    usual = boxes(page)
    divider = page.get_by_role("separator", name="Between the function and your label")
    divider.focus()
    with page.expect_response("**/review/layout/?page=rating"):
        page.keyboard.press("ArrowRight")
    moved, value = boxes(page), divider.get_attribute("aria-valuenow")
    assert moved[2]["x"] > usual[2]["x"] and moved[0]["width"] > usual[0]["width"]
    press_tool(page, "t")
    page.keyboard.press("Control+a")
    page.keyboard.type("assert turned([1, 2]) == [2, 1]")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#run[data-state=done]")).to_contain_text("passed")
    test, run = page.locator("#test-panel").bounding_box(), page.locator("#run").bounding_box()
    assert test is not None and run is not None
    assert run["y"] >= test["y"] + test["height"] - 1 and run["y"] + run["height"] <= 900
    page.keyboard.press("Escape")
    page.reload()
    assert page.locator("#test-panel").bounding_box()["x"] == pytest.approx(moved[2]["x"], abs=8)  # type: ignore[index]
    first = pair_on(page)
    page.keyboard.press("1")
    other_pair(page, first)
    divider.focus()
    page.keyboard.press("Enter")
    expect(divider).not_to_have_attribute("aria-valuenow", value or "")
    assert page.locator("#test-panel").bounding_box()["x"] == pytest.approx(usual[2]["x"], abs=1)  # type: ignore[index]
    expect(page.get_by_text("Your last labels")).to_be_visible()


@pytest.mark.parametrize("page", ["rate_agents"], indirect=True)
def test_one_tab_is_shown_at_a_time_and_a_test_begins_from_the_agents_one(page: Page) -> None:
    expect(page.locator("#panel-test")).to_contain_text("turned([1, 2])")
    expect(page.locator("#panel-own")).to_be_hidden()
    page.keyboard.press("8")
    expect(page.locator("#panel-trace")).to_be_visible()
    expect(page.locator("#panel-test")).to_be_hidden()
    page.keyboard.press("7")
    page.get_by_role("link", name="Start your test from it").click()
    expect(page.locator("#panel-own .cm-content")).to_contain_text("turned([1, 2])")
    expect(page.get_by_role("tab", name="Your test")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#panel-test")).to_be_hidden()


@pytest.mark.parametrize("page", ["rate_agents"], indirect=True)
def test_on_a_phone_the_labels_stay_and_cover_little(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    order = [page.locator(part).bounding_box() for part in ("#pane-query", "#pane-code", "#label-form")]
    tops = [box["y"] for box in order if box]
    assert tops == sorted(tops) and tops[0] < 300
    bar = page.locator(".label-buttons").bounding_box()
    assert bar is not None and bar["y"] + bar["height"] == pytest.approx(844, abs=1)
    assert bar["height"] <= 0.15 * 844
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 195, "height": 225})  # a zoom of 400 % in a window of 780 × 900 px
    assert page.evaluate("document.documentElement.scrollWidth") <= 195


@pytest.mark.parametrize("page", ["reveal"], indirect=True)
def test_the_blind_label_locks_before_anything_is_shown(
    page: Page, server: Workbench, rated: dict[str, int]
) -> None:
    assert "should_fail" not in page.content()
    page.keyboard.press("1")
    expect(page.locator("#locked")).to_contain_text("match")
    expect(page.locator(".panel-agents-test")).to_contain_text("test_should_fail")
    until_keys_work(page)
    page.keyboard.press("0")
    expect(page.locator("#label-problem")).to_contain_text("give the reason")
    page.locator("#reason").fill("The test shows that the order is kept.")
    before = pair_on(page)
    page.locator("#reason").press("Control+Enter")
    other_pair(page, before)
    expect(page.locator(".panel-history")).to_contain_text("no match")
    assert shell(server, PHASES.format(rated["reveal"])) == (
        "[('blind', 1, ''), ('revised', 0, 'The test shows that the order is kept.')]"
    )


@pytest.mark.parametrize("page", ["marked"], indirect=True)
def test_lines_are_marked_stored_and_undone_with_a_label(page: Page) -> None:
    marked = page.locator("#pane-code .line.is-reason")
    press_tool(page, "u")
    expect(page.locator("#lines")).to_be_focused()
    with page.expect_response("**/draft/"):
        page.keyboard.type("1-6")
    expect(marked).to_have_count(2)  # the docstring of lines 2 to 5 is hidden
    page.reload()
    until_keys_work(page)
    expect(page.locator("#lines")).to_have_value("1-6")
    page.locator("#c-7 .src").select_text()
    page.get_by_role("button", name="Mark line 7").click()
    expect(page.locator("#lines")).to_have_value("7")
    before = pair_on(page)
    page.locator("button[name=label][value='0']").click()
    other_pair(page, before)
    expect(page.locator("#lines")).to_have_value("")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(f'#case[data-case="{before}"]')).to_be_visible()
    expect(page.locator("#lines")).to_have_value("7")
    expect(marked).to_have_count(1)


@pytest.mark.parametrize("page", ["second_look"], indirect=True)
def test_a_second_look_shows_nothing_new_and_keeps_both_labels(
    page: Page, server: Workbench, rated: dict[str, int]
) -> None:
    page.keyboard.press("1")
    expect(page.locator("#locked")).to_contain_text("match")
    assert "should_fail" not in page.content() and not page.locator(".panel-agents-test").count()
    until_keys_work(page)
    page.keyboard.press("0")
    expect(page.locator("#label-problem")).to_contain_text("give the reason")
    page.locator("#reason").fill("It leaves the middle where it is.")
    before = pair_on(page)
    page.locator("#reason").press("Control+Enter")
    other_pair(page, before)
    assert shell(server, PHASES.format(rated["second_look"])) == (
        "[('blind', 1, ''), ('second_look', 0, 'It leaves the middle where it is.')]"
    )


@pytest.mark.parametrize("page", ["pairwise"], indirect=True)
def test_of_two_snippets_one_is_better(page: Page, server: Workbench, rated: dict[str, int]) -> None:
    expect(page.locator(".panel-code")).to_have_count(2)
    page.locator("#pane-other .call-fold > summary").click()
    page.locator("#call-expression-right").fill("turned([1, 2])")
    page.keyboard.press("Enter")
    expect(page.locator("#calls-right .call-value")).to_contain_text("[2, 1]")
    before = pair_on(page)
    page.keyboard.press("Escape")
    page.locator("#case-title").focus()
    page.keyboard.press("2")
    other_pair(page, before)
    assert shell(server, COUNT.format(rated["pairwise"])) == "1"


@pytest.mark.parametrize("page", ["tabs"], indirect=True)
def test_the_second_of_two_windows_is_shown_both_texts(page: Page) -> None:
    other = page.context.new_page()
    other.goto(page.url)
    page.locator("#notes").fill("I saw it first")
    page.locator('button[name=label][value="1"]').click()
    other_pair(page, pair_on(other))
    other.locator("#notes").fill("I saw it second")
    other.locator('button[name=label][value="0"]').click()
    clash = other.locator(".clash")
    expect(clash).to_contain_text("changed in another window")
    expect(clash).to_contain_text("I saw it first")
    expect(clash).to_contain_text("I saw it second")
    expect(other.locator("#notes")).to_have_value("I saw it second")


@pytest.mark.parametrize("page", ["sent"], indirect=True)
def test_what_was_sent_is_no_draft_any_more_and_can_be_restored(page: Page) -> None:
    number = pair_on(page)
    here = page.url.replace("/next/", f"/pairs/{number}/")
    for label, notes in (("1", "first thoughts"), ("0", "second thoughts")):
        page.goto(here)
        page.locator("#notes").fill(notes)
        page.locator(f'button[name=label][value="{label}"]').click()  # before the draft can have been kept
        other_pair(page, number)
    page.goto(here)
    expect(page.locator("#label-form [data-draft-state]")).to_have_text("")
    page.get_by_text("Earlier labels").click()
    page.get_by_role("button", name="Restore match").click()
    expect(page.locator("#review-status")).to_contain_text("Restored: match")
    expect(page.locator("#notes")).to_have_value("first thoughts")


@pytest.mark.parametrize("page", ["timed"], indirect=True)
def test_only_active_time_counts(page: Page) -> None:
    page.clock.install()
    page.reload()
    page.mouse.move(300, 300)
    page.clock.run_for(30_000)
    assert 29 <= seconds_on(page) <= 35
    page.clock.run_for(600_000)
    assert 59 <= (idle := seconds_on(page)) <= 65, "a minute after the last sign nobody is at work"
    page.mouse.move(320, 320)
    show(page, "hidden")
    page.clock.run_for(30_000)
    assert seconds_on(page) - idle < 5, "nobody works on a page that is not seen"
    show(page, "visible")
    page.mouse.move(340, 340)
    page.clock.run_for(20_000)
    assert 19 <= seconds_on(page) - idle <= 30


def seconds_on(page: Page) -> float:
    """What the form takes along."""
    return float(page.locator("#label-form [data-seconds]").input_value())


def show(page: Page, state: str) -> None:
    """As the browser says it of a window that is behind another one, or no longer is."""
    page.evaluate(
        "state => { Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });"
        " document.dispatchEvent(new Event('visibilitychange')) }",
        state,
    )


@pytest.mark.parametrize("page", ["offline"], indirect=True)
def test_a_lost_connection_loses_nothing_that_is_typed(page: Page) -> None:
    page.context.set_offline(True)
    page.locator("#notes").press_sequentially("typed in a tunnel")
    page.keyboard.press("Escape")
    press_tool(page, "i")
    expect(page.locator("#rate-alert")).to_contain_text("connection is lost")
    page.keyboard.press("1")
    expect(page.locator("#review-status")).to_contain_text("can't be reached")
    page.context.set_offline(False)
    expect(page.locator("#label-form [data-draft-state]")).to_have_text("Draft kept")
    page.evaluate("localStorage.clear()")
    page.reload()
    expect(page.locator("#notes")).to_have_value("typed in a tunnel")
    expect(page.locator("input[name=tags][value=inverse]")).to_be_checked()


@pytest.mark.parametrize("page", ["logged_out"], indirect=True)
def test_a_login_that_ends_while_typing_loses_nothing(page: Page, server: Workbench) -> None:
    here, number = page.url, pair_on(page)
    page.context.clear_cookies(name="sessionid")
    page.locator("#notes").press_sequentially("typed without a session")
    expect(page.locator("#label-form [data-draft-state]")).to_have_text(
        "You are logged out; kept in this browser"
    )
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.wait_for_url("**/login/**")
    page.get_by_label("Username").fill("rene")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(here)
    expect(page.locator("#notes")).to_have_value("typed without a session")
    page.keyboard.press("1")
    other_pair(page, number)


@pytest.fixture
def alone(prepared: KeptHome, tmp_path: Path) -> Path:
    """A home of its own with the studies, for a server that is killed."""
    prepared.copy_to(tmp_path)
    return tmp_path


def test_a_server_that_dies_in_the_middle_of_a_save_loses_nothing(
    alone: Path, rated: dict[str, int], browser: Browser
) -> None:
    home, study, port = alone, rated["stopped"], free_port()
    context: BrowserContext = browser.new_context(**CONTEXT)
    page = context.new_page()
    with serving(home, port) as server:
        log_in(page, server.url, RATERS["stopped"][0], PASSWORD)
        page.goto(f"{server.url}/rate/{study}/next/")
        number = pair_on(page)
        page.locator("#notes").fill("said while the server died")
        page.wait_for_timeout(1500)
        page.keyboard.press("Escape")
        os.kill(server.pid, signal.SIGSTOP)
        page.keyboard.press("1")
        page.wait_for_timeout(500)
        os.kill(server.pid, signal.SIGKILL)
        expect(page.locator("#review-status")).to_contain_text("Nothing is lost")
    with serving(home, port) as server:
        expect(page.locator("#notes")).to_have_value("said while the server died")
        page.keyboard.press("1")
        other_pair(page, number)
        stored: list[Any] = json.loads(shell(server, LAST.format(study)))
        assert stored[:2] == [1, "said while the server died"]
        assert shell(server, COUNT.format(study)) == "1"
    context.close()
