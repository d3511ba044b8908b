"""The queue of written functions by keyboard: accept, edit, reject, undo; what is typed outlives a reload."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Login
from tests.e2e.launching import written
from tests.e2e.pages import press_tool, until_keys_work
from tests.e2e.workbench import Workbench


@pytest.fixture(scope="module")
def job(server: Workbench) -> int:
    return written(server.home, "by keyboard")["job"]


@pytest.fixture
def page(server: Workbench, login: Login, job: int) -> Iterator[Page]:
    """The first function that waits for Enzo."""
    one = login("enzo").new_page()
    one.goto(f"{server.url}/written/jobs/{job}/next/")
    yield one
    one.close()


def shown(page: Page) -> str:
    return page.locator("#case").get_attribute("data-case") or ""


def press(page: Page, key: str) -> None:
    """Press a key once the page takes one: it lets nobody decide what they can't have seen."""
    until_keys_work(page)
    page.keyboard.press(key)


def test_a_queue_is_gone_through_by_keyboard(page: Page, server: Workbench, job: int) -> None:
    first = shown(page)
    press(page, "1")
    expect(page.locator("#review-status")).to_contain_text("Accepted")
    expect(page.locator(f'#case:not([data-case="{first}"])')).to_be_visible()
    press(page, "z")
    expect(page.locator("#review-status")).to_contain_text("Undone")
    expect(page.locator(f'#case[data-case="{first}"]')).to_be_visible()
    press(page, "1")
    expect(page.locator(f'#case:not([data-case="{first}"])')).to_be_visible()

    denied = shown(page)
    press(page, "1")
    expect(page.locator("#label-problem")).to_contain_text("denied it. Give a reason")
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#reason")).not_to_be_focused()
    until_keys_work(page)
    press_tool(page, "t")
    expect(page.locator(".cm-content")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("def reverse(items:")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#label-problem")).to_contain_text("line 1")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.type("def reverse(items): return items[::-1]")
    expect(page.locator("[data-draft-state]")).to_have_text("Draft kept")
    page.reload()
    expect(page.locator(".cm-content")).to_contain_text("items[::-1]")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(page.locator('#run[data-state="done"]')).to_contain_text("passed")
    page.get_by_role("button", name="Accept with changes").click()
    expect(page.locator(f'#case:not([data-case="{denied}"])')).to_be_visible()

    expect(page.locator(".panel-verdict")).to_contain_text("Could not be judged")
    press(page, "0")
    expect(page.locator("#case-title")).to_have_text("Nothing to review")
    expect(page.locator("#case")).to_contain_text("1 accepted, 1 accepted with changes, 1 rejected")
