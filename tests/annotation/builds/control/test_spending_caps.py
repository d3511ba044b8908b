"""Caps: the project's holds for all live builds together, and changing one leaves a trace."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.agents import paper, screener
from annotation.builds.control import spending_caps
from annotation.builds.control.spending_caps import CapRefused
from annotation.builds.launch import launcher
from annotation.builds.launch.order import LaunchRefused, Order
from annotation.builds.limits import budget
from annotation.builds.pipeline.advance import Tools, advance_case
from annotation.derived.extension import extension_plan
from annotation.llm import Reply, Request, Usage
from annotation.models import Build, Case, LLMCall, Price, ProjectCapChange, ProjectTally, Tally
from annotation.stages import Stage
from annotation.web.money.page import Cap
from annotation.web.shared.words import format_dollars
from tests import factories
from tests.calls import post
from tests.fakes import FakeLLM

pytestmark = pytest.mark.django_db
Make = Callable[..., tuple[Tools, FakeLLM]]
YES = {"verdict": 1, "explanation": "plain to see"}


@pytest.fixture(autouse=True)
def price() -> Price:
    yesterday = timezone.now() - timedelta(days=1)
    return Price.objects.create(model="small-model", effective_from=yesterday, input=1, output=1)


def live(name: str = "first", **columns: Any) -> list[Case]:
    """The cases of a running build that is paid."""
    return factories.cases(factories.opened(name, provider=Build.Provider.LIVE, **columns))


def request_of(case: Case) -> Request:
    inputs = screener.ScreenerInputs(query=case.pair.query.text, code=case.pair.snippet.text)
    return paper.screener_request(inputs, case.build.model)


def reserved(case: Case) -> LLMCall:
    return budget.reserve_call(case, request_of(case), "live:anthropic")


def reply(tokens: int = 500) -> Reply:
    return Reply("{}", "small-model", Usage(tokens, 60), 0.1, "fake", "end_turn")


def money() -> tuple[int, int]:
    row = ProjectTally.objects.now()
    return row.reserved, row.spent


def project_cap(nanodollars: int) -> None:
    ProjectTally.objects.now()
    ProjectTally.objects.update(cap=nanodollars)


def test_the_projects_totals_follow_every_call_of_a_live_build() -> None:
    first, second = live()[:2]
    call = reserved(first)
    assert money() == (call.bound, 0)
    budget.settle_call(call, reply())
    assert money() == (0, 560_000)  # 500 + 60 tokens at a dollar a million
    budget.fail_call_attempt(reserved(second), "no answer")
    assert money() == (0, 560_000)


def test_what_is_lost_counts_at_its_bound_until_its_reply_turns_up() -> None:
    call = reserved(live()[0])
    LLMCall.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    budget.give_up_lost()
    assert money() == (0, call.bound)
    budget.settle_call(call, reply())
    assert money() == (0, 560_000)


def test_replies_from_files_are_nobodys_money() -> None:
    case = factories.cases(factories.opened())[0]
    budget.settle_call(budget.reserve_call(case, request_of(case), "exchange"), reply())
    assert money() == (0, 0)
    assert Tally.objects.get(pk=case.build_id).spent == 560_000  # its own totals still say what it would cost


def test_builds_share_the_cap_and_the_one_that_would_pass_it_pauses_with_the_reason(
    tools_with: Make,
) -> None:
    first, second = live()[0], live("second")[1]
    bound = budget.compute_request_cost_bound(request_of(first), Price.objects.get())
    project_cap(int(bound * 1.02))
    tools, llm = tools_with(YES)
    advance_case(first, tools)
    advance_case(second, tools)
    assert Case.objects.get(pk=first.pk).stage == Stage.SETTLED
    assert len(llm.calls) == 1
    stopped = Build.objects.get(name="second")
    assert stopped.state == Build.State.PAUSED
    assert "the project's cap of $0.00, which all live builds share, is used up" in stopped.reason
    assert stopped.events.filter(event="stopped for a person").exists()
    assert Case.objects.get(pk=second.pk).stage == Stage.SCREENING
    assert Tally.objects.get(pk=stopped.pk).reserved == 0
    assert money() == (0, 560_000)


def stopped_ones() -> list[Build]:
    """Two builds that stopped at the project's cap, and one that a person paused."""
    why = "the project's cap of $1.00, which all live builds share, is used up: …"
    made = [live(name)[0].build for name in ("first", "second", "third")]
    Build.objects.update(state=Build.State.PAUSED, reason=why)
    Build.objects.filter(name="third").update(reason="looking at it")
    return made[:2]


def running() -> list[str]:
    return sorted(Build.objects.filter(state=Build.State.RUNNING).values_list("name", flat=True))


def test_what_stopped_at_the_projects_cap_is_resumed_together(ada: Client) -> None:
    stopped = stopped_ones()
    page = ada.get(reverse("project-cap")).content.decode()
    assert "Resume 2 builds" in page
    ada.post(reverse("project-cap"), {"do": "resume"})
    assert running() == ["first", "second"]
    assert [build.events.get(event="resume").user for build in stopped] == [factories.ada()] * 2
    assert "stopped at this cap" not in ada.get(reverse("project-cap")).content.decode()


def test_over_the_api_too(ada: Client) -> None:
    stopped = stopped_ones()
    assert post(ada, "builds/resume", {})["builds"] == [build.pk for build in stopped]
    assert running() == ["first", "second"]
    assert post(ada, "builds/resume", {})["builds"] == []


def test_what_nobody_knows_is_summed_on_the_builds_page(ada: Client) -> None:
    case = live()[0]
    budget.give_up(reserved(case))
    lost = LLMCall.objects.get(status=LLMCall.Status.UNKNOWN)
    page = " ".join(ada.get(reverse("build", args=[case.build_id])).content.decode().split())
    assert (
        lost.cost
        and f"{format_dollars(lost.cost)} of that is unknown: for 1 request no answer came back" in page
    )


def test_what_calls_in_the_air_hold_is_waited_for() -> None:
    first, second = live()[0], live("second")[1]
    project_cap(int(budget.compute_request_cost_bound(request_of(first), Price.objects.get()) * 1.5))
    call = reserved(first)
    with pytest.raises(budget.BudgetHeld):
        reserved(second)
    assert money() == (call.bound, 0)
    assert Tally.objects.get(pk=second.build_id).reserved == 0


def test_a_cap_is_no_cap_without_a_price(settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    project_cap(10**9)
    order = Order(
        "new",
        factories.queries(),
        factories.snippets(),
        ("bm25",),
        provider="live",
        model="other",
        unpriced=True,
    )
    with pytest.raises(LaunchRefused, match="The project has a cap"):
        launcher.launch_build(order)


@pytest.mark.parametrize("state", [Build.State.RUNNING, Build.State.PAUSED, Build.State.WAITING])
def test_a_builds_cap_is_raised_and_that_is_recorded_with_who_and_why(state: str) -> None:
    build = factories.opened(cap=10**9, state=state)
    spending_caps.change_cap(build, Decimal("2.5"), factories.ada(), "worth it\x00")
    assert Tally.objects.get(build=build).cap == 2_500_000_000
    event = build.events.get(event="cap changed")
    assert (event.user, event.note) == (factories.ada(), "from $1.00 to $2.50: worth it␀")


def test_a_cap_can_be_taken_away() -> None:
    build = factories.opened(cap=10**9)
    spending_caps.change_cap(build, None, factories.ada(), "trusted")
    assert Tally.objects.get(build=build).cap is None


@pytest.mark.parametrize(
    ("dollars", "why", "said"),
    [
        (Decimal(2), "  ", "Say why"),
        (Decimal("0.5"), "less", r"\$0.75 are spent or reserved already"),
        (Decimal(-1), "less", "0 to 1,000,000"),
        (Decimal("NaN"), "less", "0 to 1,000,000"),
    ],
)
def test_a_wrong_cap_is_refused_and_the_old_one_stays(dollars: Decimal, why: str, said: str) -> None:
    build = factories.opened(cap=10**9)
    build.tally.change(spent=500_000_000, reserved=250_000_000)
    with pytest.raises(CapRefused, match=said):
        spending_caps.change_cap(build, dollars, factories.ada(), why)
    assert Tally.objects.get(build=build).cap == 10**9
    assert not build.events.filter(event="cap changed").exists()


def test_a_build_that_is_over_and_a_model_without_a_price_have_no_cap_to_change() -> None:
    done = factories.opened("done", state=Build.State.DONE)
    with pytest.raises(CapRefused, match="spends nothing any more"):
        spending_caps.change_cap(done, Decimal(1), factories.ada(), "more")
    unpriced = factories.opened("unpriced", provider=Build.Provider.LIVE, model="other")
    with pytest.raises(CapRefused, match="without a price"):
        spending_caps.change_cap(unpriced, Decimal(1), factories.ada(), "more")


def test_the_projects_cap_is_set_on_the_dashboard_with_a_reason(ada: Client) -> None:
    assert "Set a cap" in ada.get(reverse("dashboard")).content.decode()
    address = reverse("project-cap")
    assert ada.post(address, {"budget": "20", "reason": ""}).status_code == 422
    assert ada.post(address, {"budget": "20", "reason": "<b>the grant</b>"}).status_code == 302
    assert ada.post(address, {"budget": "50", "reason": "a second grant"}).status_code == 302
    told = ProjectCapChange.objects.values_list("before", "after", "reason", "user__username")
    assert list(told) == [
        (20 * 10**9, 50 * 10**9, "a second grant", "ada"),
        (None, 20 * 10**9, "<b>the grant</b>", "ada"),
    ]
    page = ada.get(address).content.decode()
    assert "$20.00 → $50.00" in page and "&lt;b&gt;the grant" in page
    assert "Change the cap" in ada.get(reverse("dashboard")).content.decode()


def test_a_cap_that_is_set_names_the_live_builds_that_it_does_not_hold(ada: Client) -> None:
    counted, free = (
        factories.opened(name, provider=Build.Provider.LIVE, model=model)
        for name, model in (("held", "small-model"), ("free", "unknown"))
    )
    factories.opened("over", provider=Build.Provider.LIVE, model="unknown", state=Build.State.DONE)
    address, words = reverse("project-cap"), "does not hold 1 build, as nobody has entered"
    page = ada.get(address).content.decode()
    assert words in page and "free (unknown)" in page and "held (" not in page and "over (" not in page
    assert words not in ada.get(reverse("dashboard")).content.decode()
    told = ada.post(address, {"budget": "20", "reason": "the grant"}, follow=True)
    assert [str(one).count(words) for one in told.context["messages"]] == [0, 1]
    assert ProjectCapChange.objects.get().reason == "the grant (not held by it: free (unknown))"
    assert words in ada.get(reverse("dashboard")).content.decode()
    Price.objects.create(model="unknown", effective_from=timezone.now(), input=1, output=1)
    assert words not in ada.get(reverse("dashboard")).content.decode()
    assert {counted.state, free.state} == {Build.State.RUNNING}


def test_under_the_projects_cap_a_build_without_a_price_is_not_extended() -> None:
    build = factories.opened(provider=Build.Provider.LIVE, model="unknown")
    assert extension_plan.why_not(build) == ""
    project_cap(10**9)
    assert "can't be kept without a price" in extension_plan.why_not(build)
    build.model = "small-model"
    assert extension_plan.why_not(build) == ""


def test_four_fifths_of_the_projects_cap_are_shown_where_they_matter(ada: Client) -> None:
    build = factories.opened(provider=Build.Provider.LIVE)
    project_cap(10**9)
    ProjectTally.objects.update(spent=790_000_000, reserved=20_000_000)
    for page in (reverse("dashboard"), reverse("build", args=[build.pk])):
        assert "more than 80 % is used" in ada.get(page).content.decode()


@pytest.mark.parametrize(
    ("cap", "gone", "word"),
    [
        (None, 5, "no cap"),
        (100, 79, "less than 80 % is used"),
        (100, 80, "more than 80 % is used"),
        (100, 100, "used up"),
        (0, 0, "used up"),
    ],
)
def test_how_a_cap_stands(cap: int | None, gone: int, word: str) -> None:
    assert Cap(cap, gone, 0).sign.word == Cap(cap, 0, gone).sign.word == word


def test_a_build_is_given_more_and_goes_on_in_one_step(ada: Client) -> None:
    build = factories.opened(cap=10**9, state=Build.State.PAUSED)
    address = reverse("build-cap", args=[build.pk])
    assert "Change it and resume" in ada.get(address).content.decode()
    assert ada.post(address, {"budget": "0", "reason": ""}).status_code == 422
    answer = ada.post(address, {"budget": "3", "reason": "worth it", "then": "resume"})
    assert answer["Location"] == reverse("build", args=[build.pk])
    build.refresh_from_db()
    assert build.state == Build.State.RUNNING
    assert list(build.events.values_list("event", flat=True)) == ["resume", "cap changed", "launched"]


def test_what_is_refused_is_said_on_the_form(ada: Client) -> None:
    build = factories.opened(cap=10**9)
    build.tally.change(spent=500_000_000)
    answer = ada.post(reverse("build-cap", args=[build.pk]), {"budget": "0.1", "reason": "less"})
    assert (answer.status_code, "spent or reserved already" in answer.content.decode()) == (422, True)


def test_a_cap_is_changed_over_the_api(ada: Client) -> None:
    build = factories.opened(cap=10**9)
    found = post(ada, f"builds/{build.pk}/cap", {"budget": "2.5", "reason": "worth it"})
    assert found == {"budget": "2.5", "reserved": "0", "spent": "0"}
    post(ada, f"builds/{build.pk}/cap", {"budget": "2.5"}, 422)
    Build.objects.update(state=Build.State.CANCELLED)
    problem = post(ada, f"builds/{build.pk}/cap", {"budget": None, "reason": "x"}, 409)
    assert problem["type"] == "urn:cosqa:cap-refused"


def spend_once(case: Case, salt: str) -> None:
    """One call of its own for the case, unless there is no money left."""
    inputs = screener.ScreenerInputs(query=case.pair.query.text, code=case.pair.snippet.text)
    asked = screener.build_screener_request(inputs, "small-model", salt=f"{salt} {case.pk}")
    for _ in range(100):
        try:
            call = budget.reserve_call(case, asked, "live")
        except (budget.BudgetHeld, budget.AlreadyAsked):
            continue
        except budget.OverBudget:
            return
        budget.settle_call(call, reply(tokens=200))
        return


@pytest.mark.django_db(transaction=True)
def test_builds_that_spend_at_once_keep_the_cap_and_lock_nobody_out() -> None:
    builds = [live(name) for name in ("first", "second", "third", "fourth")]
    bound = max(
        budget.compute_request_cost_bound(request_of(case), Price.objects.get()) for case in builds[0]
    )
    project_cap(2 * bound)
    faults, start = list[BaseException](), threading.Barrier(8)

    def spend(cases: list[Case], salt: str) -> None:
        start.wait()
        try:
            for case in cases:
                spend_once(case, salt)
        except BaseException as fault:
            faults.append(fault)
        finally:
            connection.close()

    threads = [
        threading.Thread(target=spend, args=(cases, salt)) for cases in builds for salt in ("one", "two")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    row = ProjectTally.objects.now()
    spent = sum(Tally.objects.values_list("spent", flat=True))
    assert (row.reserved, row.spent) == (0, spent)
    assert 0 < row.spent <= 2 * bound
