"""Pages of what tests are worth: strength, the table of tests by candidate, single runs."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.builds.pipeline.execution import SandboxProvider, fulfil_one
from annotation.models import Build, Case, Execution, Mutant, Seen, Trial
from annotation.review.own_runs import own_tests
from annotation.web.review.runs import NOBODY_CAME
from sandbox.program import Limits
from sandbox.reports.report import Outcome
from tests import factories, studies
from tests.annotation.review.own_runs.test_cross_tests import build, first_cases
from tests.fakes import FakeSandbox, Ran

__all__ = ["build"]  # a fixture
pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def case() -> Case:
    return factories.examined(factories.cases(factories.opened())[0], 1)


def work(*reports: Ran) -> None:
    provider = SandboxProvider(open=lambda: FakeSandbox(*reports))
    while fulfil_one(provider, Limits()):
        pass


def strength_of(case: Case) -> str:
    return reverse("review-strength", args=[case.program_id])


def fragment(client: Client, where: str) -> str:
    return client.get(where, headers=HTMX).content.decode()


def test_nothing_runs_before_somebody_asks(erin: Client, case: Case) -> None:
    shown = erin.get(reverse("review-case", args=[case.pk])).content.decode()

    assert "Check test strength" in shown
    assert 'data-key="; k"' in shown
    assert "Check test strength" in erin.get(strength_of(case)).content.decode()
    assert not Trial.objects.exists() and not Mutant.objects.exists()


def test_the_runs_are_counted_while_they_come(erin: Client, case: Case) -> None:
    answer = erin.post(strength_of(case), headers=HTMX)
    waiting = answer.content.decode()
    assert (answer.status_code, "0 of 3 runs done" in waiting) == (200, True)
    assert 'hx-trigger="every 500ms"' in waiting

    work(factories.a_report(Outcome.FAILED))
    done = fragment(erin, strength_of(case))
    assert "hx-trigger" not in done
    assert "Strength: caught 2 of 2" in done
    assert "That it passes means something." in done
    assert "return None" in done and "<button" not in done
    assert "Strength: caught 2 of 2" in erin.get(reverse("review-case", args=[case.pk])).content.decode()


def test_without_javascript_it_is_a_page(erin: Client, case: Case) -> None:
    answer = erin.post(strength_of(case))
    assert (answer.status_code, answer["Location"]) == (302, strength_of(case))
    assert 'http-equiv="refresh"' in erin.get(strength_of(case)).content.decode()
    work()
    shown = erin.get(strength_of(case)).content.decode()
    assert "caught 0 of 2" in shown
    assert "says nothing of what the code does" in shown


def test_a_test_that_fails_by_itself_is_told(erin: Client, case: Case) -> None:
    Execution.objects.update(outcome="failed")
    erin.post(strength_of(case))
    work(factories.a_report(Outcome.FAILED))

    assert "fails on the original code" in fragment(erin, strength_of(case))


def test_what_cannot_be_asked_is_said(erin: Client, case: Case) -> None:
    for number in range(own_tests.MOST_WAITING):
        mine = own_tests.save_test(factories.erin(), case, f"assert {number}", None)
        erin.post(reverse("review-strength", args=[mine.pk]))

    assert "is being checked for you" in erin.post(strength_of(case), headers=HTMX).content.decode()
    assert erin.post(strength_of(case)).status_code == 422


def test_where_no_worker_comes_it_says_so(erin: Client, case: Case) -> None:
    erin.post(strength_of(case))
    Trial.objects.update(created_at=timezone.now() - 2 * NOBODY_CAME)

    assert "Still waiting for the sandbox" in fragment(erin, strength_of(case))


def test_a_run_beside_a_fault_has_a_page(erin: Client, case: Case) -> None:
    erin.post(strength_of(case))
    work(factories.a_report(Outcome.FAILED))
    found = Trial.objects.filter(mutant__operator="return None").get()
    shown = erin.get(reverse("review-trial", args=[found.pk])).content.decode()

    assert "A test on a planted bug" in shown
    assert "failed" in shown


def test_a_raters_test_is_under_the_pages_of_its_study(erin: Client, case: Case) -> None:
    rae = studies.rater("rae", studies.study(pairs=[case.pair]))
    program = factories.program_for(case, "assert 1", author=rae.user, assignment=studies.assignment(rae))
    where = reverse("review-strength", args=[program.pk])
    theirs = Client()
    theirs.force_login(rae.user)

    assert [client.post(where).status_code for client in (erin, theirs)] == [404, 403]
    assert not Trial.objects.exists()


def crossed(build: Build) -> str:
    return reverse("crossing", args=[build.pk, first_cases(build)[0].query_id])


def test_the_table_says_how_many_runs_it_would_take(erin: Client, build: Build) -> None:
    shown = erin.get(crossed(build)).content.decode()

    assert "1 of 4 results are known." in shown
    assert "Run 3 tests" in shown
    assert Seen.objects.filter(user=factories.erin()).count() == 4
    assert not Trial.objects.exists()


def test_the_table_fills_and_cells_lead_to_their_runs(erin: Client, build: Build) -> None:
    waiting = erin.post(crossed(build), headers=HTMX).content.decode()
    assert "1 of 4 cells known, 3 to come" in waiting
    assert 'hx-trigger="every 1s"' in waiting
    work()

    done = fragment(erin, crossed(build))
    assert "All 4 results are known." in done and "hx-trigger" not in done
    assert "useless: every function passes it" in done
    for found in Trial.objects.all():
        where = reverse("review-trial", args=[found.pk])
        assert where in done
        shown = erin.get(where).content.decode()
        assert "finds this one under the name" in shown
    assert reverse("review-case", args=[first_cases(build)[0].pk]) in done


def test_without_javascript_the_table_is_asked_for_by_a_form(erin: Client, build: Build) -> None:
    answer = erin.post(crossed(build))

    assert (answer.status_code, answer["Location"]) == (302, crossed(build))
    assert 'http-equiv="refresh"' in erin.get(crossed(build)).content.decode()


def test_a_query_without_tests_says_so(erin: Client) -> None:
    made = factories.opened()
    where = reverse("crossing", args=[made.pk, factories.cases(made)[0].query_id])

    assert "No test yet" in erin.get(where).content.decode()


def test_a_run_that_failed_can_be_asked_for_again(erin: Client, build: Build) -> None:
    erin.post(crossed(build))
    Trial.objects.update(state=Trial.State.FAILED, message="<gone>")
    shown = erin.get(crossed(build)).content.decode()

    assert "Run 3 tests" in shown and "could not be run" in shown
    one = Trial.objects.earliest("id")
    assert "&lt;gone&gt;" in erin.get(reverse("review-trial", args=[one.pk])).content.decode()


def test_experts_are_led_there_and_readers_are_not(erin: Client, build: Build) -> None:
    query = reverse("query", args=[build.pk, first_cases(build)[0].query_id])
    reader = Client()
    reader.force_login(factories.ray())

    assert crossed(build) in erin.get(query).content.decode()
    assert crossed(build) not in reader.get(query).content.decode()
    assert (
        crossed(build) in erin.get(reverse("review-case", args=[first_cases(build)[0].pk])).content.decode()
    )
    assert reader.get(crossed(build)).status_code == 403


def test_names_that_a_candidate_lacks_are_on_its_page(erin: Client) -> None:
    case = next(one for one in factories.cases(factories.opened()) if "date." in one.pair.snippet.head)
    shown = erin.get(reverse("review-case", args=[case.pk])).content.decode()

    assert "1 name comes from outside the function" in shown
    assert 'title="standard library: datetime">date</span>' in shown
