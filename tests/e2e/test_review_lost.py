"""Plain review: two people, a login that ends, a server that dies. No text is lost, no label overwritten."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from tests.e2e.conftest import CONTEXT, Login, Watched
from tests.e2e.homes import KeptHome
from tests.e2e.pages import HEIGHTS, NARROW, log_in, until_keys_work
from tests.e2e.prepare import PASSWORD
from tests.e2e.workbench import Workbench, serving
from tests.ports import free_port

LABELS = (
    "from annotation.models import Review; "
    "rows = Review.objects.filter(case={}, rater__username__in={}); "
    "print(sorted(rows.values_list('rater__username', 'revision', 'reason')))"
)
CASE = (
    "from annotation.models import Case; "
    "print(Case.objects.filter(build__name='rate_agents').earliest('pk').pk)"
)


@pytest.fixture
def case_url(server: Workbench, watched: Watched) -> str:
    return f"{server.url}/review/cases/{watched.ids['screened']}/"


def labels(server: Workbench, case: int, *people: str) -> str:
    return server.manage("shell", "-v", "0", "-c", LABELS.format(case, list(people))).strip()


def case_on(page: Page) -> str:
    return page.locator("#case").get_attribute("data-case") or ""


def stored(page: Page, before: str) -> None:
    expect(page.locator(f'#case:not([data-case="{before}"])')).to_be_visible()


def test_two_experts_on_one_case_keep_their_own_labels_and_texts(
    login: Login, server: Workbench, watched: Watched, case_url: str
) -> None:
    one, other = login("elsa").new_page(), login("enzo").new_page()
    again = other.context.new_page()
    for window in (one, other, again):
        window.goto(case_url)
        expect(window.locator("#reason")).to_be_visible()
    here = case_on(one)
    one.locator("#reason").fill("Elsa saw it first")
    other.locator("#reason").fill("Enzo saw it too")
    one.locator('button[name=label][value="1"]').click()
    stored(one, here)
    expect(other.locator("#reason")).to_have_value("Enzo saw it too")
    other.locator('button[name=label][value="1"]').click()
    stored(other, here)
    again.locator("#reason").fill("Enzo saw it in another window")
    with again.expect_response(lambda answer: answer.url.endswith("/label/")) as answered:
        again.locator('button[name=label][value="unsure"]').click()
    assert answered.value.status == 409
    expect(again.locator(".clash")).to_contain_text("Enzo saw it too")
    expect(again.locator(".clash")).to_contain_text("Enzo saw it in another window")
    expect(again.locator("#reason")).to_have_value("Enzo saw it in another window")
    assert labels(server, int(here), "elsa", "enzo") == (
        "[('elsa', 1, 'Elsa saw it first'), ('enzo', 1, 'Enzo saw it too')]"
    )


def test_what_is_typed_in_two_windows_is_kept_of_both(login: Login, case_url: str) -> None:
    page = login("erika").new_page()
    other = page.context.new_page()
    for window in (page, other):
        window.goto(case_url)
        until_keys_work(window)
    page.locator("#reason").fill("typed in the first window")
    expect(page.locator("#label-form [data-draft-state]")).to_have_text("Draft kept")
    other.locator("#reason").fill("typed in the second window")
    shown = other.locator(".draft-other")
    expect(shown).to_contain_text("choose which one to use")
    expect(shown).to_contain_text("typed in the first window")
    expect(other.locator("#reason")).to_have_value("typed in the second window")

    # on a phone the choice lies below the field, which shrinks when it is left
    other.set_viewport_size({"width": NARROW, "height": HEIGHTS[NARROW]})
    other.get_by_role("button", name="Keep this one").click()
    expect(other.locator("#label-form [data-draft-state]")).to_have_text("Draft kept")
    page.locator("#reason").fill("typed in the first window, and more")
    expect(page.locator(".draft-other")).to_contain_text("typed in the second window")
    page.get_by_role("button", name="Keep this one").click()
    expect(page.locator("#label-form [data-draft-state]")).to_have_text("Draft kept")

    # a label takes nothing of the other window along
    here = case_on(other)
    other.locator('button[name=label][value="1"]').click()
    stored(other, here)
    page.evaluate("localStorage.clear()")
    page.reload()
    expect(page.locator("#reason")).to_have_value("typed in the first window, and more")


def test_a_login_that_ends_while_typing_loses_nothing(login: Login, case_url: str) -> None:
    page = login("emma").new_page()
    page.goto(case_url)
    here = case_on(page)
    page.context.clear_cookies(name="sessionid")
    page.locator("#reason").fill("")
    page.locator("#reason").press_sequentially("typed without a session")
    page.locator('button[name=label][value="unsure"]').click()
    page.wait_for_url("**/login/**")
    page.get_by_label("Username").fill("emma")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"**/review/cases/{here}/**")
    expect(page.locator("#reason")).to_have_value("typed without a session")
    page.locator('button[name=label][value="unsure"]').click()
    stored(page, here)


def test_a_lost_connection_loses_nothing_and_the_label_is_stored_once(
    login: Login, server: Workbench, case_url: str
) -> None:
    page = login("evan").new_page()
    page.goto(case_url)
    here = case_on(page)
    page.context.set_offline(True)
    page.locator("#reason").press_sequentially("typed in a tunnel")
    page.locator('button[name=label][value="unsure"]').click()
    expect(page.locator("#review-status")).to_contain_text("can't be reached. Nothing is lost: try again")
    expect(page.locator("#reason")).to_have_value("typed in a tunnel")
    expect(page.locator('button[name=label][value="unsure"]')).to_be_enabled()
    assert labels(server, int(here), "evan") == "[]"
    page.context.set_offline(False)
    page.locator('button[name=label][value="unsure"]').click()
    stored(page, here)
    assert labels(server, int(here), "evan") == "[('evan', 1, 'typed in a tunnel')]"
    page.goto(case_url)
    expect(page.locator("[data-draft-state]").first).to_have_text("")


def test_a_label_whose_answer_is_lost_can_be_sent_again_and_is_stored_once(
    login: Login, server: Workbench, case_url: str
) -> None:
    page = login("esra").new_page()
    page.goto(case_url)
    here = case_on(page)

    def lose(route: Route) -> None:
        route.fetch()
        route.abort("connectionreset")

    page.route("**/label/", lose, times=1)
    page.locator("#reason").press_sequentially("the answer got lost")
    page.locator('button[name=label][value="unsure"]').click()
    expect(page.locator("#review-status")).to_contain_text("Nothing is lost: try again")
    assert labels(server, int(here), "esra") == "[('esra', 1, 'the answer got lost')]"
    expect(page.locator("#reason")).to_have_value("the answer got lost")
    page.locator('button[name=label][value="unsure"]').click()
    stored(page, here)
    assert labels(server, int(here), "esra") == "[('esra', 1, 'the answer got lost')]"
    page.goto(case_url)
    expect(page.locator("[data-draft-state]").first).to_have_text("")


@pytest.fixture
def alone(prepared: KeptHome, tmp_path: Path) -> Path:
    """A home of its own with a build whose cases are examined, for a server that is killed."""
    prepared.copy_to(tmp_path)
    return tmp_path


def test_a_server_that_dies_in_the_middle_of_a_save_loses_nothing(alone: Path, browser: Browser) -> None:
    port = free_port()
    context: BrowserContext = browser.new_context(**CONTEXT)
    page = context.new_page()
    with serving(alone, port) as server:
        case = int(server.manage("shell", "-v", "0", "-c", CASE))
        log_in(page, server.url, "evan", PASSWORD)
        page.goto(f"{server.url}/review/cases/{case}/")
        page.locator("#reason").fill("said while the server died")
        page.wait_for_timeout(1500)
        os.kill(server.pid, signal.SIGSTOP)
        page.locator('button[name=label][value="unsure"]').click()
        page.wait_for_timeout(500)
        os.kill(server.pid, signal.SIGKILL)
        expect(page.locator("#review-status")).to_contain_text("Nothing is lost")
    with serving(alone, port) as server:
        expect(page.locator("#reason")).to_have_value("said while the server died")
        page.locator('button[name=label][value="unsure"]').click()
        stored(page, str(case))
        assert labels(server, case, "evan") == "[('evan', 1, 'said while the server died')]"
    context.close()
