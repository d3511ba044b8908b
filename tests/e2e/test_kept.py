"""Forms without drafts: a login that ends while somebody types loses nothing, nothing comes back twice."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Login
from tests.e2e.prepare import PASSWORD
from tests.e2e.workbench import Workbench

FIRST = re.compile("^Label 1 is a match")
"""What new guidelines begin with."""
BACK = ".kept-back"


def log_in_again(page: Page, to: str = "/guidelines/new/") -> None:
    page.wait_for_url("**/login/**")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"**{to}")


def test_guidelines_that_were_sent_without_a_session_come_back(login: Login, server: Workbench) -> None:
    page = login("ada").new_page()
    page.goto(f"{server.url}/guidelines/new/")
    page.get_by_label("Name").fill("kept rules")
    page.locator("[name=text]").fill("A match does **all** that is asked.")
    page.context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Write version 1").click()
    log_in_again(page)
    expect(page.locator(BACK)).to_contain_text("It was not stored")
    expect(page.locator("[name=text]")).to_have_value("A match does **all** that is asked.")
    page.get_by_role("button", name="Write version 1").click()
    expect(page.locator("main")).to_contain_text("is written")
    page.goto(f"{server.url}/guidelines/new/")
    expect(page.locator("[name=text]")).to_have_value(FIRST)
    expect(page.locator(BACK)).to_have_count(0)


def test_what_came_back_can_be_dropped(login: Login, server: Workbench) -> None:
    page = login("ada").new_page()
    page.goto(f"{server.url}/guidelines/new/")
    page.locator("[name=text]").fill("half a thought")
    page.reload()
    expect(page.locator("[name=text]")).to_have_value("half a thought")
    page.get_by_role("button", name="Drop it").click()
    expect(page.locator("[name=text]")).to_have_value(FIRST)
    page.reload()
    expect(page.locator("[name=text]")).to_have_value(FIRST)


def test_a_refused_form_is_not_told_of_as_if_it_came_back(login: Login, server: Workbench) -> None:
    page = login("ada").new_page()
    page.goto(f"{server.url}/guidelines/new/")
    page.locator("[name=text]").fill("without a name")
    page.get_by_role("button", name="Write version 1").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.locator("[name=text]")).to_have_value("without a name")
    expect(page.locator(BACK)).to_have_count(0)


@pytest.mark.parametrize("path", ["/builds/new/", "/collections/upload/"])
def test_forms_of_builds_and_uploads_come_back_too(login: Login, server: Workbench, path: str) -> None:
    page = login("ada").new_page()
    page.goto(server.url + path)
    page.locator("main [name=name]").fill("half of a form")
    page.context.clear_cookies(name="sessionid")
    page.locator("form[data-kept] .button.primary:visible").click()
    log_in_again(page, path)
    expect(page.locator(BACK)).to_contain_text("It was not stored")
    expect(page.locator("main [name=name]")).to_have_value("half of a form")
