"""A build that costs money: the estimate, the confirmation, the canary, and the click that lets it go on."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e import paid
from tests.e2e.conftest import CONTEXT
from tests.e2e.homes import KeptHome
from tests.e2e.launching import wait_until
from tests.e2e.pages import NARROW, log_in, overflow
from tests.e2e.prepare import PASSWORD
from tests.e2e.workbench import Workbench
from tests.fake_messages import FakeMessages


@pytest.fixture(scope="module")
def paying(
    prepared: KeptHome, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Workbench, FakeMessages]]:
    home = tmp_path_factory.mktemp("paid")
    prepared.copy_to(home)
    with paid.paid(home) as both:
        yield both
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def page(browser: Browser, paying: tuple[Workbench, FakeMessages]) -> Iterator[Page]:
    context = browser.new_context(**CONTEXT)
    one = context.new_page()
    log_in(one, paying[0].url, "ada", PASSWORD)
    yield one
    context.close()


def asked(fake: FakeMessages) -> int:
    """The questions that were paid for."""
    return sum(call.path == "/v1/messages" and call.status == 200 for call in fake.calls)


def test_nothing_is_made_or_asked_until_somebody_confirms_the_estimate(
    page: Page, paying: tuple[Workbench, FakeMessages]
) -> None:
    server, fake = paying
    before = asked(fake)
    paid.order(page, server.url, "thought better of")
    expect(page.locator("#expected-cost")).to_contain_text("$")
    expect(page.get_by_text("Nothing has started yet.")).to_be_visible()
    page.set_viewport_size({"width": NARROW, "height": 844})
    assert overflow(page) == ""
    page.get_by_role("button", name="Back to the form").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("thought better of")
    expect(page.locator("input[name=provider][value=live]")).to_be_checked()
    page.goto(f"{server.url}/dashboard/")
    expect(page.get_by_text("thought better of")).to_have_count(0)
    assert asked(fake) == before


def test_a_large_live_build_shows_its_canary_and_one_click_lets_it_go_on(
    page: Page, paying: tuple[Workbench, FakeMessages]
) -> None:
    server, fake = paying
    before = asked(fake)
    paid.order(page, server.url, "large and live", "fresh")  # no other test has paid for it
    build = paid.confirm(page)
    wait_until(page, "canary done: waiting for you")
    assert asked(fake) - before == paid.CANARY, "nothing but the canary is paid for"
    page.locator("#see-canary").click()
    expect(page.get_by_role("heading", name="Canary of large and live")).to_be_visible()
    expect(page.locator(".lede")).to_contain_text("24 of 24 random pairs finished")
    expect(page.get_by_role("heading", name="20 cases to read")).to_be_visible()
    expect(page.locator("section", has=page.locator("#read-heading")).locator("tbody tr")).to_have_count(20)
    expect(page.get_by_role("heading", name=f"All {paid.PAIRS} pairs")).to_be_visible()
    page.set_viewport_size({"width": NARROW, "height": 844})
    assert overflow(page) == ""
    page.get_by_role("button", name="Continue with all pairs").click()
    page.wait_for_url(f"**/builds/{build}/**")
    page.goto(f"{server.url}/builds/{build}/")
    wait_until(page, "done")
    assert asked(fake) - before == paid.PAIRS, "each pair once"
    expect(page.get_by_text("ada continued the build")).to_be_visible()


def test_a_large_extension_shows_a_canary_of_its_own_and_one_click_lets_it_go_on(
    page: Page, paying: tuple[Workbench, FakeMessages]
) -> None:
    """The build is small and had none; six queries of eight candidates each are many."""
    server, fake = paying
    paid.order(page, server.url, "small, then more", "fresh", pairs=24)
    build = paid.confirm(page)
    wait_until(page, "done")
    before, new = asked(fake), 48
    page.goto(f"{server.url}/builds/{build}/extend/?queries=6&seed=3")
    expect(page.locator("#canary-first")).to_contain_text("24 random pairs go first")
    expect(page.get_by_label("Why the canary is skipped")).to_be_hidden()
    page.get_by_label("Skip the canary").check()
    expect(page.get_by_label("Why the canary is skipped")).to_be_visible()
    page.get_by_label("Skip the canary").uncheck()
    page.get_by_label("Why", exact=True).fill("more of the rare ones")
    page.get_by_role("button", name="Extend the build").click()
    page.wait_for_url(f"**/builds/{build}/")
    wait_until(page, "canary done: waiting for you")
    assert asked(fake) - before == paid.CANARY, "nothing but the canary is paid for"
    page.locator("#see-canary-1").click()
    expect(page.get_by_role("heading", name="Canary of extension 1 of small, then more")).to_be_visible()
    expect(page.get_by_role("heading", name=f"All {new} new pairs")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Before the extension")).to_be_visible()
    expect(page.get_by_role("heading", name="20 cases to read")).to_be_visible()
    page.set_viewport_size({"width": NARROW, "height": 844})
    assert overflow(page) == ""
    page.get_by_role("button", name="Continue with all new pairs").click()
    page.goto(f"{server.url}/builds/{build}/")
    wait_until(page, "done")
    assert asked(fake) - before == new, "each new pair once"
    expect(
        page.get_by_text("24 of 48 new pairs went first, as a canary; ada continued the build")
    ).to_be_visible()


def test_a_connection_test_says_what_the_server_can_do(
    page: Page, paying: tuple[Workbench, FakeMessages]
) -> None:
    server, fake = paying
    fake.batches.looks = 0
    page.goto(f"{server.url}/connection/")
    page.get_by_label("Try a batch too").check()
    page.get_by_role("button", name="Test the connection").click()
    expect(page.get_by_role("heading", name="What it can do")).to_be_visible(timeout=120_000)
    row = page.locator("tr", has=page.get_by_role("rowheader", name="batches", exact=True)).first
    expect(row).to_contain_text("yes")
    page.set_viewport_size({"width": NARROW, "height": 844})
    assert overflow(page) == ""
