"""Queries without a match are counted and ordered, functions written and tested; and no label is anywhere."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from annotation.accounts.roles import Role
from annotation.builds.launch import launcher
from annotation.builds.launch.from_build import order_of
from annotation.builds.launch.order import LaunchRefused
from annotation.builds.pipeline import claims, file_exchange
from annotation.derived.missing_functions import accepted_functions, launch, unmatched_queries
from annotation.derived.missing_functions.estimate import estimate_writing_cost
from annotation.derived.missing_functions.orders import unmatched_queries_of_order
from annotation.jobs import worker
from annotation.llm import LLMError
from annotation.models import Build, Case, Filling, LLMCall, Price, Proposal, Review, Tally
from annotation.stages import Stage
from retrieval.models import Annotator, Collection, Label, Member
from tests import factories, filling
from tests.annotation.builds.pipeline.test_advance import Make
from tests.annotation.models.reviews.test_contradictions import say

pytestmark = pytest.mark.django_db
State = Proposal.State


def judged_nothing_new(before: int) -> None:
    assert Label.objects.count() == before
    assert not Collection.objects.filter(name__endswith=accepted_functions.ENDING).exists()


def test_queries_are_counted_by_how_they_stand() -> None:
    build = factories.opened("mixed")
    rows = factories.cases(build)
    first, second, third = dict.fromkeys(case.query_id for case in rows)
    for case in rows:
        if case.query_id == first:
            factories.settled(case, int(case.rank == 2))
        elif case.query_id == second:
            factories.settled(case, 0)
        elif case.rank == 1:
            factories.abandoned(case)
        else:
            factories.settled(case, 0)
    found = unmatched_queries.count_queries_by_match(build)
    assert (found.queries, found.matched, found.without, found.unjudged, found.open) == (3, 1, 1, 1, 0)
    assert [text.pk for text in unmatched_queries.without_match(build)] == [second]
    assert [text.pk for text in unmatched_queries.find_unjudged_queries(build)] == [third], (
        "abandoned is not the same as no match"
    )


def test_a_query_with_an_open_candidate_is_not_without_a_match() -> None:
    build = factories.opened("open")
    for case in factories.cases(build)[1:]:
        factories.settled(case, 0)
    found = unmatched_queries.count_queries_by_match(build)
    assert (found.without, found.open) == (2, 1)


def test_a_query_for_which_a_person_found_a_match_has_one() -> None:
    build = filling.source()
    case = Case.objects.filter(build=build).earliest("pk")
    Review.objects.create(
        pair=case.pair, case=case, rater=factories.erin(), revision=1, label=1, evidence="a" * 64
    )
    assert unmatched_queries.count_queries_by_match(build).matched == 1
    assert case.query_id not in unmatched_queries.without_match(build).values_list("pk", flat=True)


def test_a_match_that_experts_overrode_is_none_and_an_abandoned_pair_that_they_labelled_is_judged() -> None:
    build = filling.source(matched=1)
    erin, eve = factories.erin(), factories.person("eve", Role.EXPERT)
    overridden = Case.objects.get(build=build, label=1)
    lost = Case.objects.filter(build=build).exclude(query=overridden.query_id).earliest("pk")
    Case.objects.filter(pk=lost.pk).update(stage=Stage.ABANDONED, label=None, label_in_force=None)
    assert unmatched_queries.count_queries_by_match(build).unjudged == 1
    for person in (erin, eve):
        say(person, overridden, 0)
        say(person, lost, 0)
    found = unmatched_queries.count_queries_by_match(build)
    assert (found.matched, found.without, found.unjudged) == (0, 3, 0)


def test_every_function_is_tested_and_waits_for_an_expert(tools_with: Make) -> None:
    build = filling.source(matched=1)
    labels = Label.objects.count()
    tools, llm = tools_with(filling.writer())
    job = filling.job(build)
    assert Proposal.objects.filter(filling=job).count() == 2
    filling.work(tools)
    assert Proposal.objects.for_experts().filter(filling=job).count() == 2
    asked = [request.agent for request in llm.calls]
    assert sorted(asked) == ["arbiter"] * 2 + ["snippet_writer"] * 2 + ["test_writer"] * 2, "no screener"
    job.build.refresh_from_db()
    tally = Tally.objects.get(build=job.build)
    assert (job.build.state, tally.settled, tally.matches) == (Build.State.DONE, 2, 2)
    assert set(Case.objects.filter(build=job.build).values_list("stage", flat=True)) == {Stage.SETTLED}
    judged_nothing_new(labels)


def test_the_writer_is_told_what_was_found_and_did_not_match(tools_with: Make) -> None:
    tools, llm = tools_with(filling.writer())
    filling.job(filling.source(matched=2))
    filling.work(tools)
    said = llm.calls[0].messages[0].text
    assert "flatten nested lists" in said
    assert said.count("<code-") == 3 and "def reverse(items)" in said


def test_a_denied_function_is_written_anew_once_with_the_reason(tools_with: Make) -> None:
    tools, llm = tools_with(filling.writer(lambda said: int("# again" in said)))
    job = filling.job(filling.source(matched=2))
    filling.work(tools)
    first, second = Proposal.objects.filter(filling=job).order_by("number")
    assert (first.state, second.state) == (State.REPLACED, State.WRITTEN)
    assert second.case is not None and second.case.label == 1
    again = [request for request in llm.calls if request.agent == "snippet_writer"][1].messages[0].text
    assert "the test says so" in again and "def flat(rows)" in again


def test_a_function_that_is_denied_twice_goes_to_the_expert_all_the_same(tools_with: Make) -> None:
    tools, _ = tools_with(filling.writer(lambda said: 0))
    job = filling.job(filling.source(matched=2))
    filling.work(tools)
    [waiting] = Proposal.objects.for_experts().filter(filling=job)
    assert waiting.number == 2 and waiting.case is not None and waiting.case.label == 0
    job.build.refresh_from_db()
    assert job.build.state == Build.State.DONE


def test_when_the_same_is_written_again_the_expert_gets_the_denied_one(tools_with: Make) -> None:
    answer = filling.writer(lambda said: 0)
    same = {"explanation": "the same", "packages": [], "code": filling.CODES["flatten"]}
    tools, _ = tools_with(lambda r: same if r.agent == "snippet_writer" else answer(r))
    job = filling.job(filling.source(matched=2))
    filling.work(tools)
    first, second = Proposal.objects.filter(filling=job).order_by("number")
    assert (first.state, second.state) == (State.WRITTEN, State.FAILED)
    assert "again" in second.failure
    assert list(Proposal.objects.for_experts()) == [first]


def test_what_is_no_function_is_a_failure_with_its_reason_and_can_be_written_again(tools_with: Make) -> None:
    bad = {"explanation": "here", "packages": [], "code": "x = 1"}
    tools, _ = tools_with(bad)
    job = filling.job(filling.source(matched=2))
    filling.work(tools)
    proposal = filling.proposal(job, "flatten")
    assert proposal.state == State.FAILED and "exactly one function" in proposal.failure
    job.build.refresh_from_db()
    assert job.build.state == Build.State.DONE
    assert launch.write_again(job.build, factories.ada()) == 1
    tools, _ = tools_with(filling.writer())
    filling.work(tools)
    assert filling.proposal(job, "flatten").state == State.WRITTEN


def test_an_abandoned_check_goes_to_the_expert_with_its_reason(tools_with: Make) -> None:
    answer = filling.writer()
    tools, _ = tools_with(lambda r: answer(r) if r.agent != "test_writer" else "no program")
    job = filling.job(filling.source(matched=2))
    filling.work(tools)
    [waiting] = Proposal.objects.for_experts().filter(filling=job)
    assert waiting.case is not None and waiting.case.stage == Stage.ABANDONED and waiting.case.reason


def test_no_more_is_spent_than_the_cap(tools_with: Make) -> None:
    Price.objects.create(model="small-model", effective_from=timezone.now(), input=1, output=1)
    tools, _ = tools_with(filling.writer())
    job = filling.job(filling.source(), budget=Decimal("0.012"))
    filling.work(tools)
    job.build.refresh_from_db()
    tally = Tally.objects.get(build=job.build)
    assert job.build.state == Build.State.PAUSED and "budget" in job.build.reason
    assert 0 < tally.spent <= (tally.cap or 0) and not tally.reserved
    assert Proposal.objects.writing().exists(), "what was not paid waits for a person"


def test_the_same_query_is_never_ordered_twice(tools_with: Make) -> None:
    build = filling.source(matched=1)
    filling.job(build)
    assert unmatched_queries.count_queries_by_match(build).covered == 2
    with pytest.raises(LaunchRefused, match="no query to write for"):
        filling.job(build, name="once more")
    assert Build.objects.count() == 2 and Filling.objects.count() == 1


def test_queries_that_could_not_be_judged_are_written_for_by_choice_only() -> None:
    build = factories.opened("partly")
    for case in factories.cases(build):
        factories.abandoned(case) if case.rank == 1 else factories.settled(case, 0)
    Build.objects.filter(pk=build.pk).update(state=Build.State.DONE)
    build.refresh_from_db()
    with pytest.raises(LaunchRefused):
        filling.job(build)
    job = filling.job(build, unjudged=True)
    assert set(job.proposals.values_list("unjudged", flat=True)) == {True}


@pytest.mark.parametrize(
    ("columns", "word"),
    [
        ({"name": " "}, "name"),
        ({"name": "source"}, "already"),
        ({"model": ""}, "model"),
        ({"tries": 0}, "1 to 5"),
        ({"budget": Decimal(-1)}, "budget"),
        ({"provider": "live"}, "key|price|costs"),
    ],
)
def test_bad_orders_are_refused_before_anything_is_made(columns: dict[str, Any], word: str) -> None:
    build = filling.source()
    with pytest.raises(LaunchRefused, match=word):
        filling.job(build, **columns)
    assert Build.objects.count() == 1


def test_a_running_build_and_a_job_are_not_written_for() -> None:
    build = filling.source()
    job = filling.job(build)
    Build.objects.filter(pk=build.pk).update(state=Build.State.RUNNING)
    build.refresh_from_db()
    with pytest.raises(LaunchRefused, match="running"):
        filling.job(build, name="other")
    Build.objects.filter(pk=job.build.pk).update(state=Build.State.DONE)
    with pytest.raises(LaunchRefused, match="itself"):
        filling.job(Build.objects.get(pk=job.build.pk), name="other")


def test_the_price_is_known_before() -> None:
    Price.objects.create(model="small-model", effective_from=timezone.now(), input=1, output=5)
    build = filling.source(matched=1)
    asked = filling.order(build)
    queries = [pk for pk, _ in unmatched_queries_of_order(asked)]
    found = estimate_writing_cost(asked, queries)
    assert [stage.stage for stage in found.stages] == ["snippet_writer", "test_writer", "fixer", "arbiter"]
    assert found.cost is not None and 0 < found.cost.low < found.cost.expected < found.cost.high
    assert found.calls.low >= 6


def test_writing_waits_for_replies_by_file_as_cases_do(tools_with: Make) -> None:
    from annotation.llm.exchange import ExchangeLLM

    tools, _ = tools_with({})
    tools = type(tools)(llm_of=lambda build: ExchangeLLM(), sandbox=tools.sandbox, limits=tools.limits)
    job = filling.job(filling.source(matched=1))
    filling.work(tools)
    assert len(list(file_exchange.load_waiting_requests(job.build))) == 2
    assert not worker.has_queued_work(), "nobody but a person can go on"
    LLMCall.objects.update(status=LLMCall.Status.FAILED)
    assert claims.free_answered() == 2


def test_an_outage_costs_no_try_and_is_probed_by_a_function(tools_with: Make) -> None:
    job = filling.job(filling.source(matched=2))
    tools, _ = tools_with(LLMError("away", retryable=True))
    for _ in range(10):
        Proposal.objects.update(next_attempt_at=None)
        worker.drain_queue("llm", tools)
    job.build.refresh_from_db()
    assert job.build.state == Build.State.WAITING
    assert filling.proposal(job, "flatten").attempts == 0
    Build.objects.update(next_probe_at=timezone.now())
    Proposal.objects.update(next_attempt_at=None)
    tools, _ = tools_with(filling.writer())
    worker.drain_queue("llm", tools)
    job.build.refresh_from_db()
    assert job.build.state == Build.State.RUNNING
    assert filling.proposal(job, "flatten").state == State.WRITTEN


def test_a_writer_whose_lease_went_to_another_changes_nothing(tools_with: Make) -> None:
    job = filling.job(filling.source(matched=2))

    def late(request: object) -> dict[str, object]:
        Proposal.objects.update(lease=None)
        return {"explanation": "late", "packages": [], "code": filling.CODES["flatten"]}

    tools, _ = tools_with(late)
    worker.drain_queue("llm", tools)
    assert filling.proposal(job, "flatten").state == State.WRITING
    assert not Case.objects.filter(build=job.build).exists()
    assert Tally.objects.get(build=job.build).writing_test == 0


def test_the_annotator_says_who_wrote_and_its_switches() -> None:
    build = filling.source()
    config = filling.job(build).build.annotator.config
    assert config["snippet_tries"] == 2 and config["screener"] == "none"
    assert "snippet_writer" in config["agents"] and "screener" not in config["agents"]
    assert Annotator.objects.count() >= 2
    assert not Member.objects.filter(source_id__startswith="proposal").exists()


@pytest.mark.django_db(transaction=True)
def test_workers_bring_a_job_to_its_end_by_themselves(tools_with: Make) -> None:
    tools, _ = tools_with(filling.writer(lambda said: int("# again" in said)))
    job = filling.job(filling.source(matched=1))
    worker.until_idle({"llm": 2, "sandbox": 1, "control": 1}, tools)
    job.build.refresh_from_db()
    assert job.build.state == Build.State.DONE
    assert Proposal.objects.for_experts().filter(filling=job, number=2).count() == 2


def test_the_jobs_annotator_names_the_sandbox_and_its_limits_as_any_builds_does(settings: Any) -> None:
    build = filling.source()
    job = filling.job(build)
    usual = launcher.configure_annotator(order_of(build))[2]
    written_by = job.build.annotator.config
    assert {name: written_by[name] for name in ("limits", "sandbox")} == {
        name: usual[name] for name in ("limits", "sandbox")
    }
    settings.SANDBOX_IMAGE = "another:image"
    other = filling.job(filling.source("another"), name="in another image")
    assert other.build.annotator != job.build.annotator
