"""What is typed beside a rating is kept, and the page says so when it is."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.pages import arrived
from tests.e2e.test_rating import page

__all__ = ["page"]  # a fixture
COPIES = "Object.keys(localStorage).filter(key => key.startsWith('draft:'))"
"""What a window has not yet got to the server."""


@pytest.mark.parametrize("page", ["keeping"], indirect=True)
def test_a_form_is_kept_only_when_each_of_its_fields_is(page: Page) -> None:
    state = page.locator("#label-form [data-draft-state]")
    held: list[Route] = []
    page.route("**/draft/", lambda route: held.append(route) if of_tags(route) else route.continue_())
    page.locator(".tags-fold > summary").click()
    page.locator("input[name=tags][value=partial]").check()
    page.locator("#notes").fill("typed while the tag is under way")
    page.wait_for_function(f"() => ({COPIES}).every(key => !key.includes(':notes'))")
    expect(state).not_to_have_text("Draft kept")
    arrived(page, held, 1).continue_()
    expect(state).to_have_text("Draft kept")


@pytest.mark.parametrize("page", ["keeping"], indirect=True)
def test_a_draft_that_did_not_arrive_is_sent_again_by_itself(page: Page) -> None:
    state = page.locator("#label-form [data-draft-state]")
    refusals = iter([503])
    page.route("**/draft/", lambda route: refused(route, next(refusals, 0)))
    page.locator("#reading").fill("typed while the server restarts")
    expect(state).to_contain_text("kept in this browser")
    expect(state).to_have_text("Draft kept")


@pytest.mark.parametrize("page", ["skipping"], indirect=True)
def test_why_a_pair_is_skipped_outlives_a_reload(page: Page) -> None:
    reason = page.locator("#skip-reason")
    page.locator(".rate-skip summary").click()
    expect(reason).to_be_focused()
    page.keyboard.type("needs its project")
    expect(page.locator(".rate-skip [data-draft-state]")).to_have_text("Draft kept")
    page.reload()
    expect(reason).to_have_value("needs its project")
    page.locator(".rate-skip summary").click()
    reason.press("Enter")
    expect(page.locator("#review-status")).to_contain_text("Skipped")
    expect(reason).to_have_value("")


def refused(route: Route, status: int) -> None:
    if status:
        route.fulfill(status=status)
    else:
        route.continue_()


def of_tags(route: Route) -> bool:
    return "field=choice" in (route.request.post_data or "")
