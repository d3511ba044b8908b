from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.accounts.roles import Role, give_role
from annotation.models import Build, SandboxCheck
from annotation.web.dashboard import page as pages
from sandbox.protocol import Check
from tests import factories

pytestmark = pytest.mark.django_db


def test_home_of_an_admin_is_the_dashboard(ada: Client) -> None:
    answer = ada.get("/")
    assert (answer.status_code, answer["Location"]) == (302, reverse("dashboard"))


def test_people_without_a_role_are_told_whom_to_ask(nora: Client) -> None:
    answer = nora.get("/")
    assert answer.status_code == 403
    assert "You have no role yet" in answer.content.decode()


def test_strangers_are_sent_to_the_login(client: Client) -> None:
    answer = client.get(reverse("dashboard"))
    assert (answer.status_code, answer["Location"]) == (302, "/login/?next=/dashboard/")


@pytest.mark.parametrize("name", ["erin", "ray"])
def test_others_are_told_which_role_it_takes(name: str) -> None:
    browser = Client()
    browser.force_login(getattr(factories, name)())
    answer = browser.get(reverse("dashboard"))
    assert answer.status_code == 403
    assert "for the role admin" in answer.content.decode()


def test_a_new_role_works_at_once(nora: Client) -> None:
    give_role(factories.nora(), Role.READER)
    assert nora.get("/").status_code == 200


@pytest.mark.parametrize(
    ("name", "sections"),
    [
        ("ada", ["Your work", "Dashboard", "Collections", "Browse", "Benchmarks", "Studies", "Reports"]),
        ("erin", ["Your work", "Browse", "Benchmarks", "Studies"]),
        ("ray", ["Browse", "Benchmarks", "Studies", "Reports"]),
    ],
)
def test_navigation_shows_what_the_role_may_open(name: str, sections: list[str]) -> None:
    browser = Client()
    browser.force_login(getattr(factories, name)())
    page = browser.get("/nothing-here/").content.decode()
    links = page.split('aria-label="Main"')[1].split("</nav>")[0]
    known = ("Your work", "Dashboard", "Collections", "Browse", "Benchmarks", "Studies", "Reports")
    assert [section for section in known if section in links] == sections
    assert "aria-current" not in links, "home is the current page nowhere else"


@pytest.mark.parametrize("name", ["ada", "erin", "ray"])
def test_reports_are_a_click_away_and_in_one_place(name: str) -> None:
    """Experts have them in the menu of the account: the window of review has as many controls as it may."""
    browser = Client()
    browser.force_login(getattr(factories, name)())
    head = browser.get(reverse("browse")).content.decode().split("<main")[0]
    assert head.count(f'href="{reverse("reports")}"') == 1


def test_every_build_is_listed_with_state_and_totals(ada: Client) -> None:
    build = factories.opened("autumn")
    factories.settled(factories.cases(build)[0], 1)
    page = ada.get(reverse("dashboard")).content.decode()
    assert reverse("build", args=[build.pk]) in page
    assert "Running" in page
    assert "of 9" in page


def test_htmx_gets_the_list_alone_and_only_lists_that_move_ask_again(ada: Client) -> None:
    factories.opened()
    fragment = ada.get(reverse("dashboard"), headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in fragment
    assert 'hx-trigger="every 3s"' in fragment
    Build.objects.update(state=Build.State.DONE)
    assert "hx-trigger" not in ada.get(reverse("dashboard")).content.decode()


def test_without_builds_the_next_step_is_named(ada: Client) -> None:
    assert "Upload a collection" in ada.get(reverse("dashboard")).content.decode()
    factories.queries()
    factories.snippets()
    page = ada.get(reverse("dashboard"))
    assert page.context["page"]["can_launch"]


def test_reads_do_not_grow_with_the_number_of_builds(
    ada: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for name in "abcdef":
        factories.launched(name)
    with django_assert_num_queries(12):
        ada.get(reverse("dashboard"))


def test_health_says_what_it_has_not_tried(settings: object) -> None:
    assert pages.sandbox_fact().standing in {"info", "bad"}
    assert "No work was done yet" in pages.work_fact().found
    factories.settled(factories.cases(factories.opened())[0], 1)
    assert "Last step: " in pages.work_fact().found


def checked(failure: str = "", **columns: Any) -> None:
    rows = [
        Check("no network", ok=not failure, found="connecting: OSError"),
        Check("runc without a known weakness", False, "1.1.5 <b>", required=False, advice="Update it."),
    ]
    SandboxCheck.objects.create(
        **{"machine": "worker-1", "backend": "docker", "made_at": timezone.now()} | columns,
        checks=[asdict(row) for row in rows],
        failure=failure,
    )


def test_before_any_check_the_dashboard_says_so(ada: Client) -> None:
    assert "No machine has checked" in ada.get(reverse("dashboard")).content.decode()


def test_protections_and_advice_are_shown_with_their_time(ada: Client) -> None:
    checked()
    page = ada.get(reverse("dashboard")).content.decode()
    assert "docker on worker-1" in page
    assert "all 1 required protections hold" in page
    assert "1 note, checked" in page
    assert "1.1.5 &lt;b&gt; Update it." in page
    assert '<details class="protections">' in page


def test_the_sandbox_has_one_place_and_is_as_good_as_its_worst_check(ada: Client) -> None:
    checked()
    page = ada.get(reverse("dashboard")).content.decode()
    assert page.count(">Sandbox</abbr>") == 1 and "sandbox-heading" not in page
    assert pages.find_worst_standing(["good", "warn"]) == "warn"
    assert pages.find_worst_standing(["bad", "good"]) == "bad"
    assert pages.find_worst_standing([]) == "info"


def test_a_missing_protection_comes_first_and_is_open(ada: Client) -> None:
    checked(failure="a required protection is missing: no network")
    page = ada.get(reverse("dashboard")).content.decode()
    assert "nothing is executed" in page
    assert '<details class="protections" open>' in page
    assert page.index("✗</span> no network") < page.index("!</span> runc")


def test_a_check_that_is_overdue_is_no_good_news(ada: Client) -> None:
    checked(made_at=timezone.now() - timedelta(hours=3))
    page = ada.get(reverse("dashboard")).content.decode()
    assert "no recent sign" in page
    assert "required protections hold" not in page


def test_one_is_counted_as_one(ada: Client) -> None:
    factories.queries(["only one"])
    page = ada.get(reverse("dashboard")).content.decode()
    assert "1 query" in page
    assert "1 queries" not in page
