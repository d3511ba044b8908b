"""Stops a build that gets too many replies that no agent can use.

Until a reply was usable at most two requests are in flight. Then the build stops after ten unusable replies
in a row, or when 20 of the last 100 are unusable. Each reply is counted in the build's totals, in the
transaction that stores it, so that several workers count alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from django.db import transaction
from django.utils import timezone

from annotation.agents import PARSERS, InvalidReply
from annotation.builds.limits import circuit_breaker, rate_limit
from annotation.llm import Reply
from annotation.models import Build, LLMCall, Tally
from annotation.models.builds.build import MOST_UNUSABLE_RUN

WINDOW: Final = 100
MOST_IN_WINDOW: Final = 20
FIRST_IN_FLIGHT: Final = 2
STOPPED: Final = "The model’s replies cannot be used"
"""How the reason begins of a build that has stopped for it."""
LONGEST_PROBLEM: Final = 300
HOW_ON: Final = "See the reply below, and how to continue."

Parser = Callable[[str], object]


def find_reply_problem(build: Build, agent: str, reply: Reply, parse: Parser | None = None) -> str | None:
    """Why no agent can use the reply, empty where one can; None where it is not counted.

    Only agents that ask a live model count: the drift check has a rule of its own. Without `parse` the reply
    is read as any reply to `agent` is.
    """
    if build.provider != Build.Provider.LIVE or agent not in PARSERS:
        return None
    reader = parse or PARSERS[agent]
    if reply.defect:
        return reply.defect
    try:
        reader(reply.text)
    except InvalidReply as problem:
        return str(problem)
    return ""


def note_unusable_reply(call: LLMCall) -> None:
    """Remember where among all replies this unusable one came; the caller holds the build's totals."""
    tally = Tally.objects.get(pk=call.build_id)
    places = [*tally.unusable_places, tally.usable_replies + tally.unusable_replies]
    Tally.objects.filter(pk=call.build_id).update(
        unusable_places=places[-MOST_IN_WINDOW:], last_unusable=call
    )


def why_stop(run: int, places: Sequence[int], share_accepted: bool) -> str:
    """Why a build with these replies stops; empty where it goes on.

    `run`: unusable ones since the last usable one. `places`: the numbers of the last MOST_IN_WINDOW unusable
    ones among all replies, rising.
    """
    if run >= MOST_UNUSABLE_RUN:
        return f"{STOPPED}: {run} in a row"
    if not share_accepted and len(places) >= MOST_IN_WINDOW and places[-1] - places[0] < WINDOW:
        return f"{STOPPED}: {MOST_IN_WINDOW} of the last {places[-1] - places[0] + 1}"
    return ""


def stop_if_due(build: Build, problem: str | None) -> None:
    """Pause the build where the rule says so; `problem` is what was wrong with the reply that just came."""
    if not problem:
        return
    tally = Tally.objects.get(pk=build.pk)
    if why := why_stop(tally.unusable_run, tally.unusable_places, tally.share_accepted):
        circuit_breaker.stop_build_for_person(build, describe_stop(why, problem))


def describe_stop(why: str, problem: str = "") -> str:
    """The reason of a build that has stopped."""
    last = f" The last one: {problem[:LONGEST_PROBLEM]}." if problem else ""
    return f"{why}.{last} {HOW_ON}"


def admit_first_call(build: Build) -> None:
    """Raises rate_limit.Full where no reply was usable yet and two other requests are in flight.

    The caller has reserved its own and holds the build's totals, so the count is right for all workers.
    """
    if build.provider != Build.Provider.LIVE or has_usable_reply(build):
        return
    reserved = LLMCall.objects.filter(build=build, status=LLMCall.Status.RESERVED)
    if reserved.filter(expires_at__gt=timezone.now()).count() > FIRST_IN_FLIGHT:
        raise rate_limit.Full(f"{FIRST_IN_FLIGHT} requests are in flight until a reply was usable")


def has_usable_reply(build: Build) -> bool:
    """Whether an agent could use any reply of the build's live model; asked no more once it is so."""
    if not build.looked_up.get("usable reply"):
        build.looked_up["usable reply"] = Tally.objects.filter(pk=build.pk, usable_replies__gt=0).exists()
    return bool(build.looked_up["usable reply"])


def forget_unusable_replies(build: Build) -> None:
    """Count from the start again, as a person resumes the build.

    Whoever resumes one that has stopped at the share accepts that share: ten in a row still stop it.
    """
    with transaction.atomic():
        tally = Tally.objects.select_for_update(no_key=True).get(pk=build.pk)
        stopped_at_share = bool(why_stop(0, tally.unusable_places, tally.share_accepted))
        accepted = tally.share_accepted or (stopped_at_share and tally.unusable_run < MOST_UNUSABLE_RUN)
        counters = {"unusable_run": 0, "unusable_places": [], "share_accepted": accepted}
        Tally.objects.filter(pk=build.pk).update(**counters)
