"""A large extension of a live build judges a few random new pairs, and stops for a person to decide."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.builds.control.pause_resume import Action, ControlRefused, control_build
from annotation.builds.launch.launcher import launch_build
from annotation.builds.limits import canary
from annotation.builds.pipeline.advance import Tools
from annotation.derived.extension import execution, extension_plan
from annotation.jobs import worker
from annotation.llm import LLMError
from annotation.models import Build, Canary, Case, Extension, LLMCall, Tally
from annotation.models.builds.build import NANO
from annotation.schemas.derived.derived_builds import ExtensionWish
from annotation.stages import Stage
from retrieval.models import Candidate
from tests import factories
from tests.annotation.builds.pipeline.test_advance import Make
from tests.annotation.derived.extension.test_execution import order, price, recounted
from tests.annotation.jobs.test_worker import MATCH, in_process  # noqa: F401  (a fixture)
from tests.calls import get, post
from tests.fakes import FakeLLM

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("in_process")]

WISH = ExtensionWish(k=3, queries=3, seed=5)
"""Twelve new pairs: a third candidate for three queries, and three each for three others."""
CASES = 4


@pytest.fixture(autouse=True)
def small_scale(settings: Any) -> None:
    """Nine pairs are many, and four a canary; a key is there."""
    settings.CANARY_ABOVE, settings.CANARY_CASES = 8, CASES
    settings.ANTHROPIC_API_KEY = "a-key"


def run(tools: Tools, rounds: int = 5) -> None:
    """What a worker of each queue does in a while."""
    for _ in range(rounds):
        for queue in ("mining", "control", "llm", "sandbox"):
            worker.drain_queue(queue, tools)


def done(tools_with: Make, *answers: Any, **changes: Any) -> tuple[Build, Tools, FakeLLM]:
    """A live build of six pairs, which has no canary, with all of them settled."""
    price()
    tools, llm = tools_with(*(answers or (MATCH,)))
    build = launch_build(order(provider=Build.Provider.LIVE, **changes), factories.ada())
    run(tools)
    return again(build), tools, llm


def again(build: Build) -> Build:
    return Build.objects.select_related("tally").get(pk=build.pk)


def at_canary(tools_with: Make, *answers: Any) -> tuple[Build, Tools, FakeLLM]:
    """A build whose extension's canary is done."""
    build, tools, llm = done(tools_with, *answers)
    factories.extended(build, WISH, "more", factories.ada())
    run(tools)
    return again(build), tools, llm


def test_only_random_new_pairs_are_judged_then_the_build_waits_for_a_person(tools_with: Make) -> None:
    build, tools, llm = at_canary(tools_with)
    assert build.state == Build.State.CANARY
    assert "4 random pairs of 12 new ones are finished." in build.reason
    run(tools)
    assert len(llm.calls) == Case.objects.count() == 6 + CASES
    extension, row = Extension.objects.get(), Canary.objects.get()
    assert (extension.state, extension.pairs, extension.ended_at) == ("canary", CASES, None)
    assert (row.pairs, row.decided_at) == (12, None)
    assert row.done_at is not None
    new = Case.objects.filter(candidate__mining=extension.mining)
    assert set(row.drawn) == set(new.values_list("candidate", flat=True))
    assert build.events.get(event="canary done").note == "extension 1"
    recounted(build)


def test_the_draw_is_fixed_by_its_stored_seed(tools_with: Make) -> None:
    at_canary(tools_with)
    row = Canary.objects.get()
    drawn = row.drawn
    Case.objects.filter(candidate__in=drawn).delete()
    assert row.extension is not None
    found = execution.new_candidates(row.extension)
    assert canary.drawn_by(row, found) == drawn
    row.seed += 1
    assert canary.drawn_by(row, found) != drawn


def test_what_it_cost_is_its_own_and_stands_beside_the_build_before_it(tools_with: Make) -> None:
    build, _, _ = at_canary(tools_with)
    row = Canary.objects.get()
    costs = LLMCall.objects.filter(pk__gt=row.last_call).values_list("cost", flat=True)
    assert len(costs) == CASES
    assert row.spent == sum(costs) == build.tally.spent - row.began > 0
    assert row.before is not None and row.before["finished"] == 6
    assert row.before["shares"]["matches"] == [6, 6]
    assert row.before["cost"] == pytest.approx(row.began / 6)


def test_going_on_opens_every_other_new_pair_once_and_says_who(tools_with: Make) -> None:
    build, tools, llm = at_canary(tools_with)
    spent = Canary.objects.get().spent
    control_build(build, Action.GO_ON, factories.ada(), "looks right")
    assert worker.has_queued_work()
    run(tools)
    build, extension = again(build), Extension.objects.get()
    assert (build.state, build.tally.settled, len(llm.calls)) == (Build.State.DONE, 18, 18)
    assert (extension.state, extension.pairs) == ("opened", 12)
    assert extension.ended_at is not None
    row = Canary.objects.get()
    assert (row.decided_by, row.spent) == (factories.ada(), spent)
    assert build.events.get(event="continued after the canary").user == factories.ada()
    recounted(build)


def test_two_workers_open_the_rest_once(tools_with: Make) -> None:
    build, _, _ = at_canary(tools_with)
    control_build(build, Action.GO_ON)
    stale = execution.find_unfinished_extension(build)
    assert stale is not None
    for _ in range(2):
        assert execution.open_rest(build, stale, worker.add_cases)
    assert Case.objects.count() == 18
    assert Extension.objects.get().pairs == 12


def test_leaving_the_others_ends_the_build_with_what_it_has(tools_with: Make) -> None:
    build, tools, llm = at_canary(tools_with)
    with pytest.raises(ControlRefused, match="canary done"):
        factories.extended(build, WISH, "even more")
    control_build(build, Action.LEAVE, factories.ada(), "too dear")
    run(tools)
    build, extension = again(build), Extension.objects.get()
    assert (build.state, len(llm.calls)) == (Build.State.DONE, 6 + CASES)
    assert (extension.state, extension.pairs) == ("left", CASES)
    event = build.events.get(event="left the other pairs")
    assert (event.user, event.note) == (factories.ada(), "too dear")
    assert not extension_plan.why_not(build), "it can be extended again"
    factories.extended(build, ExtensionWish(k=3), "after all", skip_canary="seen already")
    run(tools)
    pairs = list(Case.objects.values_list("pair", flat=True))
    assert len(pairs) == len(set(pairs)) == len(llm.calls)
    recounted(build)


def test_the_builds_own_canary_has_no_others_to_leave(tools_with: Make) -> None:
    build, _, _ = done(tools_with, k=3, limit=None)
    assert build.state == Build.State.CANARY
    with pytest.raises(ControlRefused, match="continue, or cancel the build"):
        control_build(build, Action.LEAVE)
    assert again(build).state == Build.State.CANARY


def test_the_first_canary_stays_as_it_was(tools_with: Make, ada: Client) -> None:
    build, tools, _ = done(tools_with, k=2, limit=None)
    control_build(build, Action.GO_ON, factories.ada())
    run(tools)
    first = Canary.objects.of_whole_build(build).values().get()
    factories.extended(again(build), ExtensionWish(k=4), "deeper")
    run(tools)
    assert again(build).state == Build.State.CANARY
    assert Canary.objects.of_whole_build(build).values().get() == first
    assert Canary.objects.of_extension(build, 1).get().pairs > 0
    page = ada.get(reverse("build", args=[build.pk])).content.decode()
    assert "</abbr> of extension 1</h2>" in page
    assert reverse("build-canary", args=[build.pk]) in page
    assert ada.get(reverse("build-canary", args=[build.pk])).context["page"]["waits"] is False


def test_it_begins_when_nothing_else_is_open(tools_with: Make) -> None:
    price()
    tools, llm = tools_with(MATCH)
    build = launch_build(order(provider=Build.Provider.LIVE))
    for queue in ("mining", "control"):
        worker.drain_queue(queue, tools)
    factories.extended(again(build), WISH, "more")
    for queue in ("mining", "control", "control"):
        worker.drain_queue(queue, tools)
    assert (Extension.objects.get().state, Case.objects.count()) == ("mining", 6)
    run(tools)
    assert (again(build).state, len(llm.calls)) == (Build.State.CANARY, 6 + CASES)


def test_what_is_tried_again_beside_it_is_not_its_cost(tools_with: Make) -> None:
    build, tools, _ = at_canary(tools_with, LLMError("no", retryable=False), MATCH)
    row = Canary.objects.get()
    alone = row.spent
    control_build(build, Action.RETRY)
    run(tools)
    build = again(build)
    assert (build.state, build.tally.abandoned) == (Build.State.CANARY, 0)
    assert build.tally.spent > row.began + alone
    assert Canary.objects.get().spent == alone


def test_skipping_it_is_recorded(tools_with: Make) -> None:
    build, tools, llm = done(tools_with)
    factories.extended(build, WISH, "more", factories.ada(), skip_canary="same prompts as yesterday")
    run(tools)
    assert (again(build).state, len(llm.calls)) == (Build.State.DONE, 18)
    event = build.events.get(event="skipped the canary")
    assert (event.user, event.note) == (factories.ada(), "extension 1: same prompts as yesterday")
    assert not Canary.objects.exists()


def test_a_small_extension_needs_none(tools_with: Make) -> None:
    build, tools, llm = done(tools_with)
    factories.extended(build, ExtensionWish(queries=3), "six more")
    run(tools)
    assert (again(build).state, len(llm.calls)) == (Build.State.DONE, 12)
    assert not Canary.objects.exists()


def test_who_pays_nobody_needs_none(tools_with: Make) -> None:
    tools, llm = tools_with(MATCH)
    build = launch_build(order())
    run(tools)
    factories.extended(again(build), WISH, "more")
    run(tools)
    assert (again(build).state, len(llm.calls)) == (Build.State.DONE, 18)


def test_its_page_has_the_total_of_the_new_pairs_and_what_was_before(tools_with: Make, ada: Client) -> None:
    build, _, _ = at_canary(tools_with)
    Canary.objects.update(began=2 * NANO)
    Tally.objects.update(spent=6 * NANO, cap=10 * NANO)
    url = reverse("extension-canary", args=[build.pk, 1])
    page = ada.get(url).context["page"]
    projection, examples = page["projection"], [case for case, _ in page["examples"]]
    assert projection.total.value == pytest.approx(12 * NANO)
    assert (projection.cap, projection.verdict) == (8 * NANO, "over")
    assert [case.label for case in examples] == [1] * CASES
    html = ada.get(url).content.decode()
    assert "The $8.00 that the cap had left for them is not enough" in html
    assert "All 12 new pairs" in html and "Before the extension" in html
    assert 'id="do-go_on"' in html and 'id="do-leave"' in html
    listed = ada.get(reverse("build-cases", args=[build.pk]) + "?canary=finished&extension=1").context["page"]
    assert {case.pk for case in listed["cases"]} == {case.pk for case in examples}
    ada.post(reverse("build-control", args=[build.pk]), {"action": "go_on"})
    assert 'id="do-go_on"' not in ada.get(url).content.decode()
    assert ada.get(reverse("extension-canary", args=[build.pk, 2])).status_code == 404


def test_the_api_tells_its_figures_and_takes_the_decision(tools_with: Make, ada: Client) -> None:
    build, _, _ = done(tools_with)
    wish = {"k": 3, "queries": 3, "seed": 5}
    assert post(ada, f"builds/{build.pk}/extensions/estimate", wish)["canary"] == CASES
    assert post(ada, f"builds/{build.pk}/extensions/estimate", {"queries": 1})["canary"] == 0
    skipped = post(
        ada,
        f"builds/{build.pk}/extensions",
        wish | {"reason": "more", "skip_canary": "proven", "unconfirmed": True},
        201,
    )
    assert (skipped["state"], Canary.objects.count()) == ("mining", 0)
    assert build.events.get(event="skipped the canary").note == "extension 1: proven"


def test_the_api_has_the_figures(tools_with: Make, ada: Client) -> None:
    build, _, _ = at_canary(tools_with)
    found = get(ada, f"builds/{build.pk}/extensions/1/canary")
    assert (found["pairs"], found["cases"], found["waits_for_decision"]) == (12, CASES, True)
    assert found["measures"]["matches"]["part"] == CASES
    assert (found["compared_with"], found["compared_measures"]["finished"]) == (build.pk, 6)
    get(ada, f"builds/{build.pk}/extensions/2/canary", 404)
    assert post(ada, f"builds/{build.pk}/control", {"action": "leave"})["state"] == "running"
    assert get(ada, f"builds/{build.pk}/extensions/1/canary")["decided_by"] == "ada"


def test_the_command_says_that_it_comes_and_takes_a_reason_to_skip_it(tools_with: Make, capsys: Any) -> None:
    done(tools_with)
    common = {"k": 3, "queries": 3, "seed": 5, "reason": "more"}
    call_command("extend", "b", estimate=True, **common)
    assert "4 random cases go first" in capsys.readouterr().out
    call_command("extend", "b", yes=True, skip_canary="proven", **common)
    assert Build.objects.get().events.get(event="skipped the canary").note.startswith("extension 1: proven")
    assert not Canary.objects.exists()


def test_where_candidates_are_screened_together_whole_queries_are_drawn(tools_with: Make) -> None:
    from tests.annotation.builds.limits.test_canary import verdicts

    build, tools, llm = done(tools_with, verdicts, screen_by_query=True)
    assert len(llm.calls) == 3
    factories.extended(build, WISH, "more")
    run(tools)
    drawn = Candidate.objects.in_bulk(Canary.objects.get().drawn).values()
    new = Candidate.objects.filter(mining=Extension.objects.get().mining).exclude(
        pk__in=[c.pk for c in drawn]
    )
    known = Case.objects.filter(build=build).values("pair")
    assert not {one.query_id for one in drawn} & {one.query_id for one in new.exclude(pair__in=known)}
    control_build(again(build), Action.GO_ON)
    run(tools)
    assert len(llm.calls) == 3 + 6, "no query is asked twice"
    assert Case.objects.filter(stage=Stage.SETTLED).count() == 18
