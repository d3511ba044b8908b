"""The page of a build by keyboard: its numbers lead to cases, and what is open in it stays open."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.e2e.conftest import Login, Watched
from tests.e2e.workbench import Workbench


def test_a_number_leads_to_its_cases_and_a_case_to_its_evidence(
    server: Workbench, watched: Watched, login: Login
) -> None:
    page = login("ada").new_page()
    page.goto(f"{server.url}/builds/{watched.build}/")
    unclear = page.get_by_role("link", name=re.compile(r"^\d+ unclear: see the cases"))
    number = unclear.inner_text()
    unclear.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".lede")).to_contain_text(f"{number} cases pass the filters")
    page.get_by_label("Label").select_option("match")
    page.get_by_role("button", name="Filter", exact=True).press("Enter")
    expect(page).to_have_url(re.compile("reached=unclear.*label=1"))
    page.locator("tbody a").first.click()
    expect(page).to_have_url(re.compile(r"/browse/cases/\d+/"))


def test_the_charts_table_opens_by_keyboard_and_stays_open_when_the_page_is_renewed(
    server: Workbench, watched: Watched, login: Login
) -> None:
    page = login("ada").new_page()
    page.goto(f"{server.url}/builds/{watched.build}/")
    page.locator("#charts-table-summary").press("Enter")
    expect(page.locator("#charts-table tbody tr").last).to_contain_text("192")
    page.evaluate("document.querySelector('[data-version]').dataset.mine = 'yes'")
    server.manage("shell", "-v", "0", "-c", f"{TOUCH}({watched.build})")
    expect(page.locator("[data-version][data-mine]")).to_have_count(0)
    expect(page.locator("#charts-table")).to_have_attribute("open", "")
    expect(page.locator("#charts-table-summary")).to_be_focused()


TOUCH = "from annotation.models import Tally; (lambda pk: Tally.objects.get(pk=pk).change())"
"""What grows the version of a build's totals, and so has its page sent anew."""


def test_all_of_it_is_there_without_javascript(server: Workbench, watched: Watched, login: Login) -> None:
    page = login("ada", java_script_enabled=False).new_page()
    page.goto(f"{server.url}/builds/{watched.build}/")
    for heading in ("Over time", "How far the cases got", "Compared with the paper"):
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
    page.locator("#charts-table-summary").click()
    expect(page.locator("#charts-table tbody tr").last).to_be_visible()
