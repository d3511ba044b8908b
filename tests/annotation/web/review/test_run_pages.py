"""Running a test again, editing a copy and running that: forms, states, reports beside each other."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.accounts.roles import Role
from annotation.builds.pipeline.execution import SandboxProvider, fulfil_one
from annotation.models import Case, Draft, ExecutionRequest, TestProgram
from annotation.review import drafts
from annotation.review.own_runs import own_tests
from sandbox.program import Limits
from sandbox.reports.report import Outcome
from sandbox.runner import SandboxUnavailable
from tests import factories
from tests.fakes import FakeSandbox, Ran

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
MINE = "assert reverse([]) == []\n"


@pytest.fixture
def case() -> Case:
    return factories.examined(factories.cases(factories.opened())[0], 1)


def ask(client: Client, case: Case) -> str:
    """Press "Run again"; the address of the run."""
    answer = client.post(reverse("review-run", args=[case.pk]))
    assert answer.status_code == 302
    return answer["Location"]


def work(*reports: Ran) -> None:
    assert fulfil_one(SandboxProvider(open=lambda: FakeSandbox(*reports)), Limits())


def fragment(client: Client, where: str) -> str:
    return client.get(where, headers=HTMX).content.decode()


def test_a_run_waits_and_polls_until_it_is_done(erin: Client, case: Case) -> None:
    where = ask(erin, case)
    waiting = fragment(erin, where)
    assert "Waiting for the sandbox" in waiting
    assert 'hx-trigger="every 250ms"' in waiting

    work(factories.a_report())
    done = fragment(erin, where)
    assert "hx-trigger" not in done
    assert "Same result as before." in done
    assert "Test run again: passed." in done


def test_a_run_that_differs_shows_how(erin: Client, case: Case) -> None:
    where = ask(erin, case)
    work(factories.a_report(Outcome.FAILED))
    done = fragment(erin, where)

    assert "Result changed" in done
    assert "- outcome: passed" in done
    assert "+ outcome: failed" in done
    assert done.index("<summary>") < done.index("Result changed") < done.index("- outcome: passed")


def test_a_sandbox_that_is_not_there_says_so_and_blames_no_code(erin: Client, case: Case) -> None:
    where = ask(erin, case)
    work(SandboxUnavailable("Install bubblewrap."))

    assert "Install bubblewrap." in fragment(erin, where)
    assert "says nothing about the code" in fragment(erin, where)


def test_without_javascript_the_page_reloads_itself_and_shows_both_reports(erin: Client, case: Case) -> None:
    where = ask(erin, case)
    assert 'http-equiv="refresh"' in erin.get(where).content.decode()
    work(factories.a_report())
    page = erin.get(where).content.decode()

    assert "refresh" not in page
    assert "Recorded execution" in page
    assert all(f'id="{anchor}"' in page for anchor in ("c-2", "t-2"))
    assert "Back to the pair" in page


def test_a_run_whose_case_is_not_named_is_shown_beside_the_case_with_its_test(
    erin: Client, case: Case
) -> None:
    where = ask(erin, case)
    work(factories.a_report())
    later = Case.objects.get(pk=case.pk)
    later.pk, later.round, later.program, later.execution = None, 2, None, None
    later.save(force_insert=True)
    assert "Test run again: passed." in fragment(erin, where.split("?")[0])


def test_when_no_worker_comes_the_page_says_what_to_start(erin: Client, case: Case) -> None:
    where = ask(erin, case)
    ExecutionRequest.objects.update(created_at=timezone.now() - timedelta(minutes=1))

    assert "Still waiting for the sandbox" in fragment(erin, where)


def test_the_queue_in_front_is_counted(erin: Client, case: Case) -> None:
    own_tests.run_own_test(factories.person("eve", Role.EXPERT), case, MINE, None)

    assert "1 before it" in fragment(erin, ask(erin, case))


def test_a_case_without_a_test_has_nothing_to_run(erin: Client) -> None:
    case = factories.settled(factories.cases(factories.opened())[0], 1)
    answer = erin.post(reverse("review-run", args=[case.pk]))

    assert answer["Location"] == reverse("review-case", args=[case.pk])
    assert "has no test. Write one" in erin.get(answer["Location"]).content.decode()
    assert not ExecutionRequest.objects.exists()


def test_too_many_waiting_runs_are_refused_in_words(erin: Client, case: Case) -> None:
    for number in range(own_tests.MOST_WAITING):
        own_tests.run_own_test(factories.erin(), case, f"assert {number} == {number}", None)
    answer = erin.post(reverse("review-run", args=[case.pk]))

    assert "are waiting for the sandbox" in erin.get(answer["Location"]).content.decode()


def test_the_editor_starts_with_a_copy_of_the_test(erin: Client, case: Case) -> None:
    where = reverse("review-test", args=[case.pk])

    assert "assert reverse([1, 2]) == [2, 1]" in erin.get(where).content.decode()
    assert fragment(erin, where).lstrip().startswith("<header")
    assert "<textarea" in fragment(erin, where)


def test_the_editor_goes_on_with_the_draft(erin: Client, case: Case) -> None:
    drafts.save_draft(factories.erin(), case.pair_id, Draft.Field.TEST, "assert reverse([9]) == [9]")

    assert "assert reverse([9]) == [9]" in fragment(erin, reverse("review-test", args=[case.pk]))


def test_without_a_test_one_can_be_written(erin: Client) -> None:
    case = factories.settled(factories.cases(factories.opened())[0], 1)

    assert "It defines: reverse" in fragment(erin, reverse("review-test", args=[case.pk]))


def test_an_edited_test_is_stored_as_ones_own_and_run(erin: Client, case: Case) -> None:
    sent = {"parent": case.program_id, "source": MINE}
    answer = erin.post(reverse("review-test", args=[case.pk]), sent)
    program = TestProgram.objects.get(author__username="erin")
    assert (program.parent_id, program.source.text) == (case.program_id, MINE)

    work(factories.a_report(Outcome.FAILED))
    done = fragment(erin, answer["Location"])
    assert "Edited test: failed." in done
    line = done.split('<p class="run-same">', 1)[1].split("</p>", 1)[0]
    assert line.index("Recorded:") < line.index("passed") < line.index("Mine:") < line.index("failed")
    assert "Its test program" in done
    assert 'id="r-1"' in done
    assert 'href="#r-2"' in done


def test_a_run_has_keys_of_its_own_to_step_through_its_trace(erin: Client, case: Case) -> None:
    where = ask(erin, case)
    assert "data-key" not in fragment(erin, where)
    work(factories.a_report())
    done = fragment(erin, where)
    trace = done.split('id="run-trace"', 1)[1]

    assert 'data-step-to="next" data-key="."' in trace
    assert 'data-step-to="previous" data-key=","' in trace
    assert 'id="run-trace"' in done.split('id="run-test"', 1)[1], "two parts, each for its tab"


@pytest.mark.parametrize("source", ["", "x" * 70_000])
def test_a_bad_test_is_shown_again(erin: Client, case: Case, source: str) -> None:
    answer = erin.post(reverse("review-test", args=[case.pk]), {"source": source}, headers=HTMX)

    assert answer.status_code == 422
    assert answer["HX-Retarget"] == "#test-panel"
    assert not ExecutionRequest.objects.exists()


def test_a_program_of_another_pair_is_no_parent(erin: Client, case: Case) -> None:
    other = factories.examined(factories.cases(case.build)[1], 1, source="assert parse_date\n")
    erin.post(reverse("review-test", args=[case.pk]), {"parent": other.program_id, "source": MINE})
    erin.post(reverse("review-run", args=[case.pk]), {"program": other.program_id})

    assert TestProgram.objects.get(author__username="erin").parent is None
    assert not ExecutionRequest.objects.filter(program=other.program).exists()


def test_a_run_is_in_everybodys_history(erin: Client, ada: Client, case: Case) -> None:
    where = ask(erin, case)
    work(factories.a_report())
    page = ada.get(reverse("review-case", args=[case.pk])).content.decode()

    assert "erin ran the test again" in page
    assert where in page
    assert ada.get(where).status_code == 200


def test_readers_run_nothing_and_see_no_run(erin: Client, ray: Client, case: Case) -> None:
    where = ask(erin, case)

    assert ray.post(reverse("review-run", args=[case.pk])).status_code == 403
    assert ray.post(reverse("review-test", args=[case.pk]), {"source": MINE}).status_code == 403
    assert ray.get(where).status_code == 403
    assert ExecutionRequest.objects.count() == 1


def test_a_poll_costs_few_queries(
    erin: Client, case: Case, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    where = ask(erin, case)
    fragment(erin, where)
    with django_assert_max_num_queries(9):
        fragment(erin, where)


def test_a_run_that_is_refused_says_so_in_the_place_of_the_run(
    erin: Client, case: Case, settings: Any
) -> None:
    for number in range(own_tests.MOST_WAITING):
        own_tests.run_own_test(factories.erin(), case, f"assert {number} == {number}", None)
    refused = erin.post(reverse("review-run", args=[case.pk]), headers=HTMX)
    said = refused.content.decode()
    assert refused.status_code == 422 and "are waiting for the sandbox" in said
    assert said.count('id="run"') == 1 and 'id="case"' not in said and "data-closes-run" in said

    ExecutionRequest.objects.update(state=ExecutionRequest.State.DONE)
    settings.RUNS_PER_MINUTE = own_tests.MOST_WAITING
    hasty = erin.post(reverse("review-run", args=[case.pk]), headers=HTMX)
    assert hasty.status_code == 429 and int(hasty["Retry-After"]) > 0
    assert "a minute are the most" in hasty.content.decode()
