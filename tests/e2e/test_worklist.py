"""The list of pairs in a browser: a list is walked by keys, and ticked pairs are changed without a script."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.e2e.conftest import Login, Watched
from tests.e2e.pages import until_keys_work
from tests.e2e.workbench import Workbench


def test_a_list_is_walked_by_keys_in_its_order(server: Workbench, watched: Watched, login: Login) -> None:
    page = login("ebba").new_page()
    page.goto(f"{server.url}/review/builds/{watched.build}/list/?smart=untested&label=0")
    shown = page.locator("tbody a").evaluate_all("links => links.map(link => link.pathname)")
    page.get_by_role("link", name="Review this list").click()
    expect(page).to_have_url(re.compile(f"{shown[0]}\\?show=list-"))
    for place in shown[1:4]:
        until_keys_work(page)
        page.keyboard.press("n")
        expect(page).to_have_url(re.compile(f"{place}\\?show=list-"))
    page.locator(".case-nav summary").first.click()
    page.get_by_role("link", name="Back to the list").click()
    expect(page).to_have_url(re.compile(r"\?smart=untested&label=0$"))


def test_ticked_pairs_are_tagged_and_undone_without_a_script(
    server: Workbench, watched: Watched, login: Login
) -> None:
    page = login("ebba", java_script_enabled=False).new_page()
    page.goto(f"{server.url}/review/builds/{watched.build}/list/?q=list")
    row = page.locator("tbody tr").first
    tags = row.locator(".badge")
    before = tags.all_text_contents()  # other tests of this server may have tagged pairs of this list
    row.locator("input[type=checkbox]").check()
    page.get_by_label("Tag to add or remove").select_option("partial")
    page.get_by_role("button", name="Add tag").click()
    expect(page.locator("main")).to_contain_text("Tagged 1 pair: partial.")
    expect(tags).to_have_text([*before, "partial"])
    page.get_by_role("button", name="Undo my last change").click()
    expect(page.locator("main")).to_contain_text("Undone: tag added.")
    expect(tags).to_have_text(before)
