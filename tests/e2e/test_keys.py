"""Keys can't harm: text that misses its field is kept and offered, and stores no label."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterator

import pytest
from playwright.sync_api import FloatRect, Page, Request, Route, expect

from tests.e2e.conftest import Login, Watched
from tests.e2e.pages import press_tool, until_keys_work
from tests.e2e.workbench import Workbench
from tests.sizes import WHOLE

SENTENCES, PARTS = (500, 10) if WHOLE else (40, 2)
GAPS_MS = 50, 1500
UNDER_WAY = ".htmx-request, .htmx-swapping, .htmx-settling, [data-saving]"
HOUR_MS = 3_600_000
LONG_AGO_MS = 5000
"""No key is part of what was typed before so long a pause."""
PRESS_AS_IT_COMES = """key => {
  const here = document.querySelector("#case").dataset.case;
  const press = ({ detail }) => {
    if (detail.target?.id !== "case" || document.querySelector("#case").dataset.case === here) return;
    document.removeEventListener("htmx:afterSettle", press);
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  };
  document.addEventListener("htmx:afterSettle", press);
}"""
"""In the moment in which another pair is painted, on however slow a machine."""
FIRST_WORDS = ("no", "zero", "unused", "empty", "None", "path", "prints", "edge", "docstring", "The", "gives")
FIRST_SIGNS = tuple("-?./;(nzped")
WORDS = (
    *("it", "only", "strips", "10", "empty", "strings", "and", "returns", "None", "test", "0.5", "-1", "1st"),
    *("1", "0", "2", "3", "n", "z", "p", "e", "d", ";", ",", ".", "?", "; i", ";r", "x1", "y=0", "p2", "'a'"),
)


@pytest.fixture
def page(login: Login, server: Workbench, watched: Watched) -> Page:
    """A pair with a test, before an expert who has no other tests."""
    one = login("elke").new_page()
    one.goto(f"{server.url}/review/cases/{watched.ids['case']}/?show=all")
    until_keys_work(one)
    return one


def case_on(page: Page) -> str:
    return page.locator("#case").get_attribute("data-case") or ""


def other_case(page: Page, than: str) -> str:
    """Wait for another pair, and for the moment in which a label comes too soon."""
    expect(page.locator(f'#case:not([data-case="{than}"])')).to_be_visible()
    until_keys_work(page)
    return case_on(page)


def agreeing(page: Page) -> str:
    """The digit of what the agents said; the other one needs a reason."""
    disagreeing = page.locator('button[name=label][title*="needs a reason"]').get_attribute("value")
    return "0" if disagreeing == "1" else "1"


def empty_note(page: Page) -> None:
    """Take out what another test has left as a note."""
    page.locator("#reason").fill("")
    page.keyboard.press("Escape")


def stored_labels(page: Page) -> list[str]:
    """The addresses of all requests that store a label, from now on."""
    sent: list[str] = []

    def note(request: Request) -> None:
        if request.method == "POST" and request.url.endswith(("/label/", "/as-before/")):
            sent.append(request.url)

    page.on("request", note)
    return sent


def stop_the_clock(page: Page) -> None:
    """From now on the page's time goes on only by `run_for`."""
    page.clock.install(time=0)
    page.reload()
    page.clock.pause_at(HOUR_MS)


def test_a_reason_that_comes_after_the_next_pair_is_offered_to_the_pair_before(page: Page) -> None:
    labelled, address = case_on(page), page.url
    page.keyboard.press(agreeing(page))
    following = other_case(page, labelled)
    sent = stored_labels(page)
    page.keyboard.type("unused argument 10", delay=40)
    asked = page.get_by_role("alert").filter(has_text="You typed “unused argument 10”.")
    expect(asked).to_contain_text("Add it as a note to the pair before?")
    assert (case_on(page), sent) == (following, [])
    expect(page.locator(".tag :checked")).to_have_count(0)
    asked.get_by_role("button", name="Add to the pair before").click()
    expect(page.locator(f'#case[data-case="{labelled}"]')).to_be_visible()
    expect(page.locator("#reason")).to_be_focused()
    expect(page.locator("#reason")).to_have_value(re.compile("unused argument 10$"))
    expect(page.locator("#missed-text")).to_be_empty()
    page.keyboard.press("Control+Enter")
    other_case(page, labelled)
    page.goto(address)
    expect(page.locator("#panel-history .of-person").first).to_contain_text("unused argument 10")


def test_lines_are_marked_by_keys_or_by_selecting_code_and_outlive_a_reload(page: Page) -> None:
    marked = page.locator("#pane-code .line.is-reason")
    press_tool(page, "u")
    expect(page.locator("#lines")).to_be_focused()
    page.locator("#lines").fill("")  # what the label of an earlier try has left
    with page.expect_response("**/draft/"):
        page.keyboard.type("1-2")
    expect(marked).to_have_count(2)
    page.reload()
    until_keys_work(page)
    expect(page.locator("#lines")).to_have_value("1-2")
    expect(marked).to_have_count(2)
    page.get_by_role("button", name="Unmark lines 1-2").click()
    expect(marked).to_have_count(0)
    page.locator("#c-2 .src").select_text()
    page.get_by_role("button", name="Mark line 2").click()
    expect(page.locator("#lines")).to_have_value("2")
    labelled = case_on(page)
    disagreeing = "1" if agreeing(page) == "0" else "0"
    page.locator(f"button[name=label][value='{disagreeing}']").click()
    other_case(page, labelled)
    page.goto(f"{page.url.partition('/review/')[0]}/review/cases/{labelled}/")
    expect(page.locator("#panel-history .of-person").first).to_contain_text("line 2")


def test_text_outside_a_field_is_offered_to_the_pair_on_the_screen_and_can_be_dropped(page: Page) -> None:
    here = case_on(page)
    empty_note(page)
    page.keyboard.type("It strips", delay=30)
    expect(page.locator("#missed-text .is-typed")).to_contain_text("It strips")
    page.keyboard.press("Backspace")
    page.keyboard.press("Enter")
    asked = page.get_by_role("alert").filter(has_text="You typed “It strip”.")
    expect(asked).to_contain_text("Add it as a note to this pair?")
    asked.get_by_role("button", name="Drop").click()
    expect(page.locator("#missed-text")).to_be_empty()
    page.keyboard.type("xyz", delay=30)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Add to this pair").click()
    expect(page.locator("#reason")).to_have_value("xyz")
    assert case_on(page) == here
    page.locator("#reason").fill("")
    expect(page.locator("[data-draft-state]").first).to_have_text("")


def test_text_that_is_offered_outlives_a_reload_until_it_is_dropped(page: Page) -> None:
    empty_note(page)
    page.keyboard.type("first words", delay=30)
    page.keyboard.press("Enter")
    page.keyboard.type("and more", delay=30)
    page.reload()  # while it is being typed
    asked = page.get_by_role("alert").filter(has_text="You typed “first words and more”.")
    expect(asked).to_contain_text("Add it as a note to this pair?")
    page.keyboard.press("n")
    page.reload()
    asked.get_by_role("button", name="Drop").click()
    page.reload()
    until_keys_work(page)
    expect(page.locator("#missed-text")).to_have_count(0)


def test_what_is_typed_before_the_reason_is_asked_for_goes_into_it(
    page: Page, server: Workbench, watched: Watched
) -> None:
    page.goto(f"{server.url}/review/cases/{watched.ids['failed']}/")
    here = case_on(page)
    held: list[Route] = []
    page.route("**/label/", lambda route: held.append(route))
    stop_the_clock(page)  # however slow the machine is, no pause ends the text
    page.keyboard.press("1" if agreeing(page) == "0" else "0")
    page.keyboard.type("next 10 are ")
    while not held:
        page.wait_for_timeout(20)
    page.clock.resume()
    held[0].continue_()
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.type("lost")
    expect(page.locator("#reason")).to_have_value("next 10 are lost")
    expect(page.locator("#label-problem")).to_be_visible()
    assert case_on(page) == here
    page.locator("#reason").fill("")
    expect(page.locator("[data-draft-state]").first).to_have_text("")


def test_a_digit_for_a_pair_that_nobody_can_have_seen_says_so(page: Page) -> None:
    sent = stored_labels(page)
    page.evaluate(PRESS_AS_IT_COMES, "1")
    page.keyboard.press(agreeing(page))
    expect(page.locator("#review-status")).to_contain_text("1 was not saved. Press it again.")
    assert len(sent) == 1
    following = case_on(page)
    until_keys_work(page)
    page.keyboard.press(agreeing(page))
    other_case(page, following)
    assert len(sent) == 2


def test_a_digit_after_another_key_waits_and_is_then_obeyed(page: Page) -> None:
    here, sent = case_on(page), stored_labels(page)
    page.route("**/review/builds/**", lambda route: route.abort())  # nothing is fetched ahead
    stop_the_clock(page)
    page.keyboard.press(".")
    page.keyboard.press(agreeing(page))
    expect(page.locator(".label-button.is-held")).to_be_visible()
    page.clock.run_for(1500)
    assert not sent
    page.clock.run_for(200)
    page.clock.resume()
    other_case(page, here)
    assert len(sent) == 1


@pytest.fixture
def labelled_after_a_move(page: Page) -> tuple[str, str, list[str]]:
    """A digit right after `n`, by the test's clock: the pair that it labels, the next one, what was sent."""
    sent = stored_labels(page)
    stop_the_clock(page)
    fetch_ahead(page)
    before = press(page, "n")
    expect(page.locator(f'#case:not([data-case="{before}"])')).to_be_visible()
    fetch_ahead(page)
    page.clock.run_for(200)
    here = press(page, agreeing(page))
    expect(page.locator(f'#case:not([data-case="{here}"])')).to_be_visible()
    expect(page.locator("#review-status")).to_contain_text("… saved in a moment")
    return here, case_on(page), sent


def fetch_ahead(page: Page) -> None:
    """Let the page fetch the next pair, whatever its clock says."""
    with page.expect_response(lambda answer: answer.ok and answer.request.redirected_from is not None):
        page.clock.run_for(200)
    page.wait_for_timeout(100)


def test_a_digit_right_after_a_move_goes_on_at_once_and_is_sent_when_no_text_follows(
    page: Page, labelled_after_a_move: tuple[str, str, list[str]]
) -> None:
    here, following, sent = labelled_after_a_move
    page.clock.run_for(1500)
    assert (case_on(page), sent) == (following, [])
    page.clock.run_for(200)
    expect(page.locator("#review-status")).to_contain_text("Saved: ")
    assert [f"/cases/{here}/label/" in address for address in sent] == [True]
    assert case_on(page) == following


def test_a_click_ends_the_wait_of_a_digit(
    page: Page, labelled_after_a_move: tuple[str, str, list[str]]
) -> None:
    _, following, sent = labelled_after_a_move
    page.locator("#case-title").click()
    expect(page.locator("#review-status")).to_contain_text("Saved: ")
    assert (case_on(page), len(sent)) == (following, 1)


def test_a_window_that_closes_sends_the_digit_that_waits(
    page: Page, labelled_after_a_move: tuple[str, str, list[str]], server: Workbench
) -> None:
    here, _, _ = labelled_after_a_move
    page.goto(f"{server.url}/history/")
    page.goto(f"{server.url}/review/cases/{here}/")
    expect(page.locator("#your-label")).not_to_contain_text("none yet")


def test_a_saved_label_covers_neither_the_progress_nor_a_control(page: Page) -> None:
    here = press(page, agreeing(page))
    other_case(page, here)
    said = page.locator("#review-status .status-text")
    expect(said).to_contain_text("Saved: ")
    box = said.bounding_box()
    assert box is not None
    for part in page.locator("#case-progress, #case :is(a, button, summary, input, textarea)").all():
        other = part.bounding_box() if part.is_visible() else None
        assert other is None or not overlap_of(box, other), part.text_content()


def overlap_of(one: FloatRect, other: FloatRect) -> bool:
    across = min(one["x"] + one["width"], other["x"] + other["width"]) - max(one["x"], other["x"])
    down = min(one["y"] + one["height"], other["y"] + other["height"]) - max(one["y"], other["y"])
    return across > 1 and down > 1


@pytest.mark.parametrize("key", ["Escape", "x", "n"])
def test_what_follows_such_a_digit_takes_it_back(
    page: Page, labelled_after_a_move: tuple[str, str, list[str]], key: str
) -> None:
    here, _, sent = labelled_after_a_move
    page.clock.run_for(1400)
    page.keyboard.press(key)
    expect(page.locator(f'#case[data-case="{here}"]')).to_be_visible()
    expect(page.locator("#label-form fieldset")).to_be_enabled()
    page.clock.run_for(5000)
    assert (case_on(page), sent) == (here, [])


def press(page: Page, key: str) -> str:
    """Press a key; the pair that was shown."""
    here = case_on(page)
    page.keyboard.press(key)
    return here


def test_right_after_a_label_a_lone_letter_moves_and_others_say_why_not(page: Page) -> None:
    following = other_case(page, press(page, agreeing(page)))
    page.keyboard.press("e")
    expect(page.locator("#review-status")).to_contain_text("“e” came right after a label")
    page.keyboard.press("e")
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press(agreeing(page))
    other_case(page, following)
    page.keyboard.press("p")
    expect(page.locator(f'#case[data-case="{following}"]')).to_be_visible()


def test_the_sheet_opens_at_its_top_and_fits(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.keyboard.press("?")
    sheet = page.locator("#keys-dialog")
    expect(sheet).to_be_focused()
    seen = sheet.evaluate("one => [one.scrollTop, one.scrollHeight <= one.clientHeight]")
    assert seen == [0, True]
    columns = {round(box["x"]) for part in sheet.locator("dl").all() if (box := part.bounding_box())}
    assert len(columns) == 3
    page.keyboard.press("Escape")
    press_tool(page, "h")
    expect(page.locator("input[name=tags][value=partial]")).to_be_checked()
    press_tool(page, "h")
    expect(page.locator("input[name=tags][value=partial]")).not_to_be_checked()


# Sentences at drawn moments. The next pair comes from the server, but no label is stored there, so there is
# always a next one. The clock is the test's.


def sentence(draw: random.Random) -> str:
    """Words, or any characters, that do not begin with a label's digit."""
    if draw.random() < 0.3:
        text = "".join(draw.choices(string.ascii_letters + string.digits + " .,;-/?'", k=draw.randint(3, 15)))
        return text.lstrip("0123 ") or "n 1"
    return " ".join([draw.choice((*FIRST_WORDS, *FIRST_SIGNS)), *draw.choices(WORDS, k=draw.randint(1, 5))])


def sentences(draw: random.Random, count: int) -> Iterator[tuple[str, list[float]]]:
    """So many, each with the moments between its keys; first one that once stored a label."""
    yield ". 1st", [900, 1363, 389, 263, 133]
    for _ in range(count):
        typed = sentence(draw)
        gaps = [max(GAPS_MS[0], draw.uniform(*GAPS_MS) * draw.choice((1, 0.2))) for _ in typed]
        yield typed, gaps


def press_at(page: Page, key: str, gap: float) -> None:
    page.clock.run_for(round(gap))
    page.keyboard.press(key)


def settle(page: Page) -> None:
    """Let what was asked for arrive: the server has a clock of its own."""
    for _ in range(200):
        page.clock.run_for(50)
        if page.evaluate(f"!document.querySelector('{UNDER_WAY}')"):
            return
        page.wait_for_timeout(10)
    raise AssertionError("the page does not settle")


def come_to_rest(page: Page) -> None:
    """Nothing is being typed, nothing is open, and nothing has the focus."""
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.clock.run_for(LONG_AGO_MS)
    settle(page)


def begin_at_any_moment(page: Page, draw: random.Random) -> int:
    """Do nothing, label or move, as somebody does before they type; how many labels were meant."""
    done = draw.choice(["", "label", "label", "n", "p"])
    if not done:
        return 0
    press_at(page, draw.choice("012") if done == "label" else done, LONG_AGO_MS)
    if draw.random() < 0.7:
        settle(page)
    return done == "label"


@pytest.fixture
def endless(page: Page, server: Workbench, watched: Watched) -> Page:
    """The page with the test's clock, on which a label is followed by the next pair and not stored."""

    def next_pair(route: Route) -> None:
        case = route.request.url.split("/")[-3]
        following = f"{server.url}/review/builds/{watched.build}/?after={case}&show=all"
        route.fulfill(response=page.context.request.get(following, headers={"HX-Request": "true"}))

    page.route("**/label/", next_pair)
    stop_the_clock(page)
    return page


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("part", range(PARTS))
def test_no_sentence_stores_a_label_at_whatever_moment_it_is_typed(
    endless: Page, watched: Watched, part: int
) -> None:
    page, draw, meant, sent = endless, random.Random(part), 0, stored_labels(endless)
    for typed, gaps in sentences(draw, SENTENCES // PARTS):
        if not page.locator("#case[data-case]").count():
            page.go_back()
        come_to_rest(page)
        meant += begin_at_any_moment(page, draw)
        for key, gap in zip(typed, gaps, strict=True):
            press_at(page, key, gap)
        assert len(sent) <= meant, (typed, gaps, sent[meant:])
    come_to_rest(page)
    assert meant > 0 and len(sent) == meant, "each label that was meant was sent, and no other"
