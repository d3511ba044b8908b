"""A large live build judges a few random pairs, stops, and goes on when a person says so."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection

from annotation.builds.control.pause_resume import Action, ControlRefused, control_build
from annotation.builds.launch.launcher import launch_build
from annotation.builds.launch.order import Order
from annotation.builds.limits import canary
from annotation.builds.pipeline import claims
from annotation.builds.pipeline.advance import Tools
from annotation.jobs import worker
from annotation.llm import LLMError, Request
from annotation.models import Build, Canary, Case, Tally
from annotation.stages import Stage
from retrieval.models import Candidate, Mining
from tests import factories
from tests.fakes import Answer, FakeLLM

pytestmark = pytest.mark.django_db

Make = Callable[..., tuple[Tools, FakeLLM]]
YES = {"verdict": 1, "explanation": "plain to see"}
DOWN = LLMError("the provider is overloaded (HTTP 529)", retryable=True, status=529)
CASES = 4


@pytest.fixture(autouse=True)
def small_scale(settings: Any) -> None:
    """Nine pairs are many, and four a canary; a key is there."""
    settings.CANARY_ABOVE, settings.CANARY_CASES = 8, CASES
    settings.ANTHROPIC_API_KEY = "a-key"


def order(**changes: Any) -> Order:
    plain = Order(
        name="large",
        queries=factories.queries(),
        snippets=factories.snippets(),
        encoders=("bow",),
        k=3,
        provider=Build.Provider.LIVE,
        model="a-model",
        unpriced=True,
    )
    return replace(plain, **changes)


def mined(**changes: Any) -> Build:
    """A launched build of nine pairs whose mining is done."""
    build = launch_build(order(**changes), factories.ada())
    Mining.objects.filter(pk=build.own_mining.pk).update(state=Mining.State.DONE)
    pool = [member.text for member in build.snippets.members.select_related("text")][:3]
    for member in build.queries.members.select_related("text"):
        for rank, snippet in enumerate(pool, start=1):
            factories.candidate(build.own_mining, member.text, snippet, rank)
    return build


def drain(tools: Tools, rounds: int = 6) -> None:
    """What a worker of each queue does in a while; pauses of cases are over."""
    for _ in range(rounds):
        Case.objects.update(next_attempt_at=None)
        for queue in ("control", "llm", "sandbox"):
            worker.drain_queue(queue, tools)


def done(tools_with: Make, *answers: Answer, **changes: Any) -> tuple[Build, Tools, FakeLLM]:
    """A build whose canary is done."""
    tools, llm = tools_with(*(answers or (YES,)))
    build = mined(**changes)
    drain(tools)
    build.refresh_from_db()
    return build, tools, llm


def test_only_random_pairs_are_judged_then_the_build_waits_for_a_person(tools_with: Make) -> None:
    build, tools, llm = done(tools_with)
    assert (build.state, build.get_state_display()) == (Build.State.CANARY, "canary done: waiting for you")
    assert "4 random pairs of 9 are finished." in build.reason
    assert len(llm.calls) == CASES
    drain(tools)
    assert (len(llm.calls), Case.objects.count()) == (CASES, CASES)
    row = Canary.objects.get(build=build)
    assert (row.pairs, row.rest_opened, row.decided_at) == (9, False, None)
    assert row.done_at is not None
    assert set(row.drawn) == set(Case.objects.values_list("candidate", flat=True))
    assert build.events.filter(event="canary done", user=None).count() == 1
    assert not worker.has_queued_work()


def test_the_draw_is_random_over_all_pairs_and_fixed_by_its_stored_seed() -> None:
    build = mined()
    candidates = Candidate.objects.filter(mining=build.mining).order_by("query_id", "rank")
    seen: dict[int, int] = dict.fromkeys(candidates.values_list("pk", flat=True), 0)
    for seed in range(200):
        Canary.objects.update(seed=seed)
        drawn = canary.draw_canary_candidates(build, candidates)
        assert drawn == canary.draw_canary_candidates(build, candidates)
        assert len(set(drawn)) == CASES
        for pk in drawn:
            seen[pk] += 1
    # Each of 9 pairs is expected 200 · 4/9 ≈ 89 times, with a standard deviation of 7.
    assert all(55 < times < 125 for times in seen.values())


def test_going_on_opens_every_other_pair_once_and_says_who(tools_with: Make) -> None:
    build, tools, llm = done(tools_with)
    control_build(build, Action.GO_ON, factories.ada(), "looks right")
    assert worker.has_queued_work()
    drain(tools)
    build.refresh_from_db()
    tally = Tally.objects.get(build=build)
    assert (build.state, tally.settled, len(llm.calls)) == (Build.State.DONE, 9, 9)
    assert Case.objects.values("candidate").distinct().count() == Case.objects.count() == 9
    row = Canary.objects.get(build=build)
    assert (row.decided_by, row.rest_opened) == (factories.ada(), True)
    event = build.events.get(event="continued after the canary")
    assert (event.user, event.note) == (factories.ada(), "looks right")


def test_each_drawn_pair_is_judged_in_all_rounds_and_so_is_the_rest(tools_with: Make) -> None:
    build, tools, llm = done(tools_with, rounds=2)
    assert len(llm.calls) == Case.objects.count() == CASES
    assert "2 random pairs of 9 are finished in 2 rounds each." in build.reason
    control_build(build, Action.GO_ON, factories.ada())
    drain(tools)
    assert Tally.objects.get(build=build).settled == len(llm.calls) == 18


def test_only_one_person_decides(tools_with: Make) -> None:
    build, _, _ = done(tools_with)
    control_build(build, Action.GO_ON, factories.ada())
    with pytest.raises(ControlRefused, match="it can't be sent on now"):
        control_build(build, Action.GO_ON, factories.erin())
    assert Canary.objects.get().decided_by == factories.ada()


@pytest.mark.parametrize("action", [Action.PAUSE, Action.RESUME])
def test_a_build_that_waits_for_a_decision_is_not_paused_or_resumed(action: Action, tools_with: Make) -> None:
    build, _, _ = done(tools_with)
    with pytest.raises(ControlRefused, match="canary done: waiting for you"):
        control_build(build, action)


def test_cancelled_after_its_canary_it_keeps_the_labels_and_begins_nothing_more(tools_with: Make) -> None:
    build, tools, llm = done(tools_with)
    control_build(build, Action.CANCEL, factories.ada())
    drain(tools)
    build.refresh_from_db()
    assert (build.state, len(llm.calls)) == (Build.State.CANCELLED, CASES)
    assert Case.objects.filter(stage=Stage.SETTLED).count() == CASES


def test_paused_and_resumed_in_between_it_is_still_the_canary_that_goes_on(tools_with: Make) -> None:
    tools, llm = tools_with(YES)
    build = mined()
    worker.drain_queue("control", tools)
    assert Case.objects.count() == CASES
    control_build(build, Action.PAUSE)
    drain(tools)
    assert llm.calls == []
    control_build(build, Action.RESUME)
    drain(tools)
    build.refresh_from_db()
    assert (build.state, len(llm.calls)) == (Build.State.CANARY, CASES)


def test_an_outage_during_the_canary_ends_in_the_canary(tools_with: Make) -> None:
    build, tools, _ = done(tools_with, *[DOWN] * 10, YES)
    assert build.state == Build.State.WAITING
    Build.objects.update(next_probe_at=build.created_at)
    drain(tools)
    build.refresh_from_db()
    assert (build.state, Tally.objects.get(build=build).settled) == (Build.State.CANARY, CASES)


def test_abandoned_cases_are_retried_before_the_decision(tools_with: Make) -> None:
    declined = LLMError("declined (stop reason 'refusal')", retryable=False)
    build, tools, _ = done(tools_with, declined, YES)
    assert (build.state, Tally.objects.get(build=build).abandoned) == (Build.State.CANARY, 1)
    assert "1 abandoned" in build.reason
    control_build(build, Action.RETRY, factories.ada())
    build.refresh_from_db()
    assert (build.state, build.reason) == (Build.State.RUNNING, "")
    drain(tools)
    build.refresh_from_db()
    assert (build.state, Tally.objects.get(build=build).settled) == (Build.State.CANARY, CASES)
    assert build.events.filter(event="canary done").count() == 2
    assert Case.objects.count() == CASES


def test_what_a_killed_worker_held_is_finished_before_the_canary_ends(tools_with: Make) -> None:
    tools, _ = tools_with(YES)
    build = mined()
    worker.drain_queue("control", tools)
    held = claims.claim_cases("llm", 1)
    drain(tools)
    build.refresh_from_db()
    assert (build.state, Tally.objects.get(build=build).settled) == (Build.State.RUNNING, CASES - 1)
    Case.objects.filter(pk=held[0].pk).update(lease_until=build.created_at)
    drain(tools)
    build.refresh_from_db()
    assert build.state == Build.State.CANARY


def test_a_case_retried_meanwhile_keeps_the_canary_from_ending(tools_with: Make) -> None:
    build, _, _ = done(tools_with, LLMError("no", retryable=False), YES)
    Build.objects.update(state=Build.State.RUNNING)
    stale = Build.objects.select_related("tally").prefetch_related(canary.prefetch_canary()).get()
    control_build(build, Action.RETRY)
    assert not canary.stop_at_canary(stale)
    assert Build.objects.get().state == Build.State.RUNNING


def test_a_worker_that_was_slow_does_not_stop_a_build_that_was_sent_on(tools_with: Make) -> None:
    build, _, _ = done(tools_with)
    Build.objects.update(state=Build.State.RUNNING)
    stale = Build.objects.select_related("mining", "tally").prefetch_related(canary.prefetch_canary()).get()
    Build.objects.update(state=Build.State.CANARY)
    control_build(build, Action.GO_ON, factories.ada())
    worker.look_after(stale)
    assert Build.objects.get().state == Build.State.RUNNING


@pytest.mark.django_db(transaction=True)
def test_however_many_workers_open_the_rest_each_pair_is_there_once(tools_with: Make) -> None:
    build, _, _ = done(tools_with)
    control_build(build, Action.GO_ON)

    def open_it() -> None:
        worker.open_rest(Build.objects.select_related("tally").get(pk=build.pk))
        connection.close()

    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tally = Tally.objects.get(build=build)
    assert (Case.objects.count(), tally.total, tally.screening) == (9, 9, 5)


def test_skipping_it_is_an_explicit_choice_that_is_recorded(tools_with: Make) -> None:
    build, _, llm = done(tools_with, skip_canary="the same prompts ran yesterday")
    assert (build.state, len(llm.calls)) == (Build.State.DONE, 9)
    event = build.events.get(event="skipped the canary")
    assert (event.user, event.note) == (factories.ada(), "the same prompts ran yesterday")
    assert not Canary.objects.exists()


def test_a_small_build_needs_none(tools_with: Make) -> None:
    build, _, llm = done(tools_with, limit=8)
    assert (build.state, len(llm.calls)) == (Build.State.DONE, 8)
    assert not Canary.objects.exists()


def test_what_counts_is_the_cases_of_all_rounds(tools_with: Make) -> None:
    build, _, llm = done(tools_with, limit=5, rounds=2)
    assert (build.state, len(llm.calls)) == (Build.State.CANARY, CASES)
    assert Canary.objects.get().pairs == 5


def verdicts(request: Request) -> dict[str, Any]:
    """Of each candidate in a request of the screener that judges them together."""
    count = sum(f"<candidate-{n}" in request.canonical() for n in range(1, 30))
    return {"verdicts": [{"candidate": n, "explanation": "so", "verdict": 1} for n in range(1, count + 1)]}


def test_where_candidates_are_screened_together_whole_queries_are_drawn(tools_with: Make) -> None:
    build, tools, llm = done(tools_with, verdicts, screen_by_query=True)
    assert build.state == Build.State.CANARY
    cases = Case.objects.filter(build=build)
    assert cases.count() == 6, "two queries of three candidates: as many as have four cases, or more"
    assert len(llm.calls) == cases.values("query").distinct().count() == 2
    first = list(Candidate.objects.in_bulk(Canary.objects.get().drawn[:2]).values())
    assert len({candidate.query_id for candidate in first}) == 2, "the first to read are of many queries"
    assert "6 pairs of random queries of 9 are finished." in build.reason
    control_build(build, Action.GO_ON)
    drain(tools)
    assert (len(llm.calls), Tally.objects.get(build=build).settled) == (3, 9), "no query is asked twice"


def test_each_query_is_as_likely_as_any_other() -> None:
    build = mined(screen_by_query=True)
    candidates = Candidate.objects.filter(mining=build.mining).order_by("query_id", "rank")
    seen = Counter[int]()
    for seed in range(200):
        Canary.objects.update(seed=seed)
        drawn = canary.draw_canary_candidates(build, candidates)
        assert (
            drawn == canary.draw_canary_candidates(build, candidates) and len(drawn) == len(set(drawn)) == 6
        )
        seen.update(drawn)
    # Each of 9 pairs is expected 200 · 2/3 ≈ 133 times, with a standard deviation of 7.
    assert len(seen) == 9 and all(105 < times < 160 for times in seen.values())


def test_a_build_that_pays_nobody_needs_none(tools_with: Make) -> None:
    build, _, llm = done(tools_with, provider=Build.Provider.EXCHANGE)
    assert (build.state, len(llm.calls)) == (Build.State.DONE, 9)


def test_the_limit_bounds_what_is_drawn_from_and_what_is_opened_after(
    tools_with: Make, settings: Any
) -> None:
    settings.CANARY_ABOVE = 5
    build, tools, _ = done(tools_with, limit=6)
    assert Canary.objects.get().pairs == 6
    control_build(build, Action.GO_ON)
    drain(tools)
    assert Case.objects.count() == 6


def test_no_claim_has_to_pass_over_what_is_not_to_be_claimed(tools_with: Make) -> None:
    """What is not to be claimed does not exist, so that no claim has to pass over it."""
    tools, _ = tools_with(YES)
    mined()
    worker.drain_queue("control", tools)
    assert (
        claims.find_claimable_cases("llm", Build.objects.get().created_at).count()
        == Case.objects.count()
        == CASES
    )
