"""Reading, labelling and controlling need no script."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.e2e.conftest import Login, Watched
from tests.e2e.launching import Order, launch, wait_until_opened
from tests.e2e.pages import log_in
from tests.e2e.prepare import PASSWORD
from tests.e2e.workbench import Workbench


def test_a_reader_logs_in_and_browses(server: Workbench, watched: Watched, login: Login) -> None:
    page = login("", java_script_enabled=False).new_page()
    log_in(page, server.url, "ray", PASSWORD)
    expect(page.get_by_role("heading", level=1)).to_have_text("Data sets and leaderboards")
    page.goto(f"{server.url}/browse/")
    page.locator(f'a[href="/browse/{watched.build}/"]').first.click()
    page.get_by_role("searchbox").fill("empty strings")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("python remove empty strings from list")
    page.get_by_role("link", name="python remove empty strings from list").first.click()
    expect(page.locator("main")).to_contain_text("purge_empty_strings")


def test_an_expert_labels(server: Workbench, watched: Watched, login: Login) -> None:
    page = login("ebba", java_script_enabled=False).new_page()
    page.goto(f"{server.url}/review/cases/{watched.ids['case']}/")
    page.locator('button[name=label][value="0"]').click()
    expect(page.locator("#label-problem")).to_contain_text("Give a reason")
    page.locator("#reason").fill("It changes its argument.")
    page.locator('button[name=label][value="0"]').first.click()
    expect(page.locator("main")).to_contain_text("1 of 192 reviewed")
    page.goto(f"{server.url}/review/cases/{watched.ids['case']}/")
    expect(page.locator(".review-history")).to_contain_text("It changes its argument.")


def test_an_admin_sees_and_pauses_a_build(server: Workbench, watched: Watched, login: Login) -> None:
    ordering = login("ada").new_page()
    waiting = launch(
        ordering, server.url, Order("waits for answers", "exchange", limit=8, fresh=True)
    )  # not by replies of others
    wait_until_opened(ordering)
    page = login("ada", java_script_enabled=False).new_page()
    page.goto(f"{server.url}/builds/{watched.build}/")
    expect(page.locator(".funnel")).to_contain_text("192")
    page.goto(f"{server.url}/builds/{waiting}/")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("#state-heading")).to_contain_text(re.compile("paused", re.I))
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("#state-heading")).to_contain_text(re.compile("running|waiting for replies", re.I))
