"""Whoever decides where raters disagree has the form and the code in sight, and chooses by keyboard."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.e2e.conftest import Login
from tests.e2e.pages import press_tool
from tests.e2e.workbench import Workbench


def test_the_decision_is_above_the_fold_and_its_keys_choose(
    login: Login, server: Workbench, judged: dict[str, int]
) -> None:
    page = login("erin").new_page()
    page.set_viewport_size({"width": 1440, "height": 900})
    ids = judged["split"], judged["split_condition"]
    page.goto(f"{server.url}/adjudication/{ids[0]}/pairs/1/conditions/{ids[1]}/")
    for part in ("#case-title", ".panel-code", "#decide-note", "button.primary:has-text('Decide')"):
        box = page.locator(part).first.bounding_box()
        assert box is not None and box["y"] >= 0, part
        if part != ".panel-code":
            assert box["y"] + box["height"] <= 900, part
    page.keyboard.press("0")
    expect(page.get_by_role("radio", name="no match")).to_be_checked()
    page.keyboard.press("1")
    expect(page.get_by_role("radio", name="match", exact=False).first).to_be_checked()


def test_lines_are_marked_by_keys_or_by_selecting_code(
    login: Login, server: Workbench, judged: dict[str, int]
) -> None:
    page = login("erin").new_page()
    ids = judged["split"], judged["split_condition"]
    page.goto(f"{server.url}/adjudication/{ids[0]}/pairs/1/conditions/{ids[1]}/")
    marked = page.locator("#pane-code .line.is-reason")
    press_tool(page, "u")
    expect(page.locator("#lines")).to_be_focused()
    page.keyboard.type("2-3")
    expect(marked).to_have_count(2)
    page.get_by_role("button", name="Unmark lines 2-3").click()
    expect(marked).to_have_count(0)
    page.locator("#c-1 .src").select_text()
    page.get_by_role("button", name="Mark line 1").click()
    expect(page.locator("#lines")).to_have_value("1")
