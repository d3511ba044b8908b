"""The documentation in a browser: under the server's policy, without a login, found by search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from scripts import build_docs
from tests.e2e.pages import HEIGHTS, NARROW, overflow, watched_page

if TYPE_CHECKING:
    from tests.e2e.conftest import Login
    from tests.e2e.workbench import Workbench


@pytest.fixture(scope="module", autouse=True)
def site() -> None:
    """What the server shows at /docs/."""
    build_docs.build()


def test_whoever_is_not_logged_in_searches_and_reads(server: Workbench, login: Login) -> None:
    page, noise = watched_page(login(""))
    page.goto(f"{server.url}/login/")
    page.get_by_role("contentinfo").get_by_role("link", name="Documentation").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Documentation")
    page.get_by_placeholder("Search").fill("leaderboard")
    page.keyboard.press("Enter")
    page.locator("#search-results").get_by_role("link", name="Metrics").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Metrics")
    page.get_by_role("link", name="To the workbench").click()
    expect(page.get_by_role("button", name="Log in")).to_be_visible()
    assert noise.heard == []


@pytest.mark.parametrize("path", ["", "running/", "decisions/", "search/?q=canary"])
def test_a_page_fits_a_phone(server: Workbench, login: Login, path: str) -> None:
    size = {"width": NARROW, "height": HEIGHTS[NARROW]}
    page, noise = watched_page(login("", viewport=size))
    page.goto(f"{server.url}/docs/{path}")
    expect(page.get_by_role("main").get_by_role("heading").first).to_be_visible()
    assert overflow(page) == ""
    assert noise.heard == []


def test_the_theme_changes_by_its_button(server: Workbench, login: Login) -> None:
    page, noise = watched_page(login(""))
    page.goto(f"{server.url}/docs/")
    expect(page.locator("body")).to_have_attribute("data-theme", "auto")
    page.locator(".content-icon-container .theme-toggle").click()
    expect(page.locator("body")).not_to_have_attribute("data-theme", "auto")
    assert noise.heard == []
