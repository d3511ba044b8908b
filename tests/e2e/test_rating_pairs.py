"""What becomes of one pair's page when the next pair takes its place."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.pages import arrived
from tests.e2e.test_rating import other_pair, page, pair_on

__all__ = ["page"]  # a fixture

LISTENERS = """(() => {
  const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
  window.editors = 0;
  const counted = (how, step) => function (kind, ...more) {
    if (this === document && kind === "selectionchange") window.editors += step;
    return how.call(this, kind, ...more);
  };
  document.addEventListener = counted(add, 1);
  document.removeEventListener = counted(remove, -1);
})()"""
"""Each editor that is there listens once for what is selected, and so does the page itself."""


@pytest.mark.parametrize("page", ["edited"], indirect=True)
def test_an_editor_goes_with_its_pair(page: Page) -> None:
    page.add_init_script(LISTENERS)
    page.reload()
    page.wait_for_selector(".cm-content")
    first = page.evaluate("window.editors")
    assert first >= 1
    for _ in range(2):
        here = pair_on(page)
        page.keyboard.press("1")
        other_pair(page, here)
        page.wait_for_selector(".cm-content")
    page.wait_for_function(f"() => window.editors === {first}")


WATCH = """() => {
  const [place, plain] = [document.getElementById("rate-alert"), window.fetch];
  Object.assign(window, { alarms: [], beats: 0 });
  new MutationObserver(() => window.alarms.push(place.textContent)).observe(place, { childList: true });
  window.fetch = (to, how) => { window.beats += String(to).endsWith("/heartbeat/"); return plain(to, how); };
}"""
"""Counts heartbeats, and keeps what the page says of the reservation, however short it says it."""
BEAT = "() => { window.dispatchEvent(new Event('online')); return window.beats > %d }"
"""One heartbeat goes out when the one before has been told."""


@pytest.mark.parametrize("page", ["beating"], indirect=True)
def test_a_heartbeat_that_comes_late_says_nothing_of_the_next_pair(page: Page) -> None:
    first, held = pair_on(page), list[Route]()
    page.route("**/heartbeat/", lambda route: held.append(route))
    page.evaluate(WATCH)
    page.wait_for_function(BEAT % 0)
    late = arrived(page, held, 1)
    page.keyboard.press("1")
    other_pair(page, first)
    late.continue_()
    page.wait_for_function(BEAT % 1)
    assert not any(page.evaluate("window.alarms"))


@pytest.mark.parametrize("page", ["reached"], indirect=True)
def test_a_pair_that_is_done_says_when_the_connection_is_back(page: Page) -> None:
    number = pair_on(page)
    page.keyboard.press("1")
    other_pair(page, number)
    page.goto(page.url.replace(f"/pairs/{pair_on(page)}/", f"/pairs/{number}/"))
    alert = page.locator("#rate-alert")
    page.context.set_offline(True)
    expect(alert).to_contain_text("The connection is lost")
    page.context.set_offline(False)
    expect(alert).to_be_empty()
