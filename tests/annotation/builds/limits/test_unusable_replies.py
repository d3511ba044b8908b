"""When a build stops by itself because no agent can use its replies, and how it is resumed."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.agents import screener
from annotation.builds.control import pause_resume
from annotation.builds.control.pause_resume import Action
from annotation.builds.limits import budget, rate_limit, unusable_replies
from annotation.builds.limits.unusable_replies import MOST_IN_WINDOW, STOPPED, WINDOW, why_stop
from annotation.llm import Reply, Usage
from annotation.models import Build, Case, LLMCall, Tally
from annotation.models.builds.build import MOST_UNUSABLE_RUN
from tests import factories

pytestmark = pytest.mark.django_db
NUMBERS = itertools.count()
GOOD = json.dumps({"explanation": "yes", "verdict": 1})
PROSE = "I would say <b>yes</b>, it does."


def stops_at(usable: list[bool]) -> int | None:
    """The rule by the definition: after which reply the build stops; None where it never does."""
    for place in range(1, len(usable) + 1):
        last, window = usable[:place][-MOST_UNUSABLE_RUN:], usable[:place][-WINDOW:]
        in_a_row = len(last) == MOST_UNUSABLE_RUN and not any(last)
        if not usable[place - 1] and (in_a_row or window.count(False) >= MOST_IN_WINDOW):
            return place
    return None


REPLIES = st.lists(
    st.one_of(st.just([True]), st.just([False]), st.integers(1, 40).map(lambda many: [True] * many)),
    max_size=60,
).map(lambda parts: [usable for part in parts for usable in part])


@given(REPLIES)
def test_the_rule_stops_exactly_where_its_definition_does(usable: list[bool]) -> None:
    run, places, stopped = 0, list[int](), None
    for place, good in enumerate(usable, start=1):
        run = 0 if good else run + 1
        places = places if good else [*places, place][-MOST_IN_WINDOW:]
        if not good and why_stop(run, places, share_accepted=False):
            stopped = place
            break
    assert stopped == stops_at(usable)


def live(used: int = 1) -> Build:
    """A running live build whose model has given so many usable replies."""
    build = factories.opened(f"live {next(NUMBERS)}", provider=Build.Provider.LIVE)
    Tally.objects.filter(pk=build.pk).update(usable_replies=used)
    return Build.objects.select_related("tally").get(pk=build.pk)


def reserve(build: Build) -> LLMCall:
    """Ask something that nobody has asked before."""
    pair = screener.ScreenerInputs(f"question {next(NUMBERS)}", "def f(): pass")
    case = Case.objects.filter(build=build).select_related("build__tally").first()
    assert case is not None
    return budget.reserve_call(case, screener.build_screener_request(pair, build.model), "live:test")


def settle(call: LLMCall, text: str) -> None:
    """Store a reply as a worker does, and look whether the build stops."""
    reply = Reply(text, call.model, Usage(10, 5), 0.1, "", "end_turn")
    problem = unusable_replies.find_reply_problem(call.build, call.agent, reply)
    budget.settle_call(call, reply, problem)
    unusable_replies.stop_if_due(call.build, problem)


def is_stopped(build: Build) -> bool:
    found = Build.objects.get(pk=build.pk)
    assert found.reason.startswith(STOPPED) or found.state == Build.State.RUNNING
    return found.state == Build.State.PAUSED


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(REPLIES)
def test_a_build_stops_exactly_where_the_rule_does(usable: list[bool]) -> None:
    build = live(used=0)
    stopped = None
    for place, good in enumerate(usable, start=1):
        settle(reserve(build), GOOD if good else PROSE)
        if is_stopped(build):
            stopped = place
            break
    assert stopped == stops_at(usable)


def test_until_a_reply_was_usable_two_requests_are_in_flight_at_most() -> None:
    build = live(used=0)
    first, _ = reserve(build), reserve(build)
    with pytest.raises(rate_limit.Full, match="until a reply was usable"):
        reserve(build)
    settle(first, PROSE)
    reserve(build)  # in the place of the first
    with pytest.raises(rate_limit.Full):
        reserve(build)
    assert Tally.objects.get(pk=build.pk).reserved == 0  # the model has no price here
    settle(LLMCall.objects.filter(build=build, status="reserved")[0], GOOD)
    for _ in range(5):
        reserve(build)


def test_a_new_build_of_unusable_replies_pays_for_eleven_calls_at_most() -> None:
    """Ten are settled, and one more is in flight when the tenth comes; nothing is asked after it."""
    build = live(used=0)
    in_flight = [reserve(build), reserve(build)]
    for _ in range(MOST_UNUSABLE_RUN):
        settle(in_flight.pop(0), PROSE)
        try:
            in_flight.append(reserve(build))
        except budget.RepliesUnusable:
            break
    assert is_stopped(build)
    assert LLMCall.objects.filter(build=build).count() == 11
    settle(in_flight.pop(0), PROSE)
    with pytest.raises(budget.RepliesUnusable, match="11 in a row"):
        reserve(build)


def test_later_ten_in_a_row_and_what_is_in_flight_are_paid() -> None:
    build = live()
    calls = [reserve(build) for _ in range(25)]
    for call in calls[:MOST_UNUSABLE_RUN]:
        assert not is_stopped(build)
        settle(call, PROSE)
    assert is_stopped(build)
    with pytest.raises(budget.RepliesUnusable):
        reserve(build)
    for call in calls[MOST_UNUSABLE_RUN:]:
        settle(call, GOOD)  # what is in flight is kept, usable or not
    assert Tally.objects.get(pk=build.pk).usable_replies == 16


def test_a_fifth_of_the_last_hundred_stops_and_a_person_can_accept_that_share() -> None:
    build = live(used=0)
    # Two of three are usable: the 20th unusable one is reply 60.
    answers = itertools.cycle([GOOD, GOOD, PROSE])
    for _ in range(60):
        assert not is_stopped(build)
        settle(reserve(build), next(answers))
    assert is_stopped(build)
    assert "20 of the last 58" in Build.objects.get(pk=build.pk).reason
    pause_resume.control_build(Build.objects.get(pk=build.pk), Action.RESUME, None, "it is a small model")
    for _ in range(90):
        settle(reserve(build), next(answers))
    settle(reserve(build), GOOD)
    for _ in range(MOST_UNUSABLE_RUN):
        assert not is_stopped(build)
        settle(reserve(build), PROSE)
    assert is_stopped(build)  # ten in a row stop it all the same


def test_who_resumes_gets_ten_more_tries() -> None:
    build = live()
    for _ in range(MOST_UNUSABLE_RUN):
        settle(reserve(build), PROSE)
    pause_resume.control_build(Build.objects.get(pk=build.pk), Action.RESUME)
    assert not Tally.objects.get(pk=build.pk).share_accepted
    for _ in range(MOST_UNUSABLE_RUN):
        assert not is_stopped(build)
        settle(reserve(build), PROSE)
    assert is_stopped(build)


def test_the_reason_says_what_was_wrong_and_the_call_is_kept_for_its_reply() -> None:
    build = live()
    for _ in range(MOST_UNUSABLE_RUN):
        settle(reserve(build), PROSE)
    found = Build.objects.select_related("tally__last_unusable__reply").get(pk=build.pk)
    assert found.reason == (
        "The model’s replies cannot be used: 10 in a row. The last one: the answer holds no JSON object. "
        "See the reply below, and how to continue."
    )
    assert found.tally.last_unusable is not None and found.tally.last_unusable.reply is not None
    assert found.tally.last_unusable.reply.text == PROSE


def test_a_reply_that_was_cut_off_is_unusable_whatever_it_says() -> None:
    reply = Reply(GOOD, "m", Usage(1, 1), 0.1, "", "max_tokens", defect="the reply was cut off")
    assert unusable_replies.find_reply_problem(live(), "screener", reply) == "the reply was cut off"


@pytest.mark.parametrize("provider", [Build.Provider.EXCHANGE, Build.Provider.RECORDED])
def test_replies_from_files_are_not_counted(provider: str) -> None:
    build = factories.opened(f"by file {provider}", provider=provider)
    reply = Reply(PROSE, "m", Usage(1, 1), 0.1, "", "end_turn")
    assert unusable_replies.find_reply_problem(build, "screener", reply) is None


def test_a_reply_is_counted_once_however_often_it_is_stored() -> None:
    build, text = live(), PROSE
    call = reserve(build)
    for _ in range(3):
        settle(call, text)
    assert Tally.objects.get(pk=build.pk).unusable_run == 1
