"""Why a live build has stopped by itself: one reply as it came, what was expected, and how to continue."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from annotation.builds.limits.unusable_replies import STOPPED
from annotation.models import Build, LLMCall, Tally
from annotation.models.builds.build import MOST_UNUSABLE_RUN

LONGEST_SHOWN: Final = 4_000
AFTER_UNUSABLE: Final = (
    "Correct the server, then resume: the build pauses again after ten more. Retry the abandoned pairs too.",
    "Use another model: cancel this build, and launch one that names it.",
    "Where replies are cut off, launch with a larger max_tokens in its sampling.",
)
AFTER_SHARE: Final = (
    "Or resume as it is: this share is then accepted, and only ten in a row stop the build again."
)
AFTER_OTHER_MODEL: Final = (
    "Set the server back to the first model, then resume.",
    "Or launch a new build for the other model: this one, resumed, would mix the two.",
)


@dataclass(frozen=True, slots=True)
class Stop:
    """What came, what was expected, and what to do: `reply` as the model wrote it, cut where it is long."""

    call: LLMCall
    reply: str
    cut: int
    expected: str
    ways: tuple[str, ...]


def load_stop(build: Build, tally: Tally) -> Stop | None:
    """The reply at which the build has stopped; None where it has not stopped for one."""
    if build.state == Build.State.PAUSED and build.reason.startswith(STOPPED):
        return describe_unusable_reply(tally)
    if build.state == Build.State.WAITING and build.next_probe_at is None:
        return describe_other_model(build)
    return None


def describe_unusable_reply(tally: Tally) -> Stop | None:
    if tally.last_unusable_id is None:
        return None
    call = LLMCall.objects.select_related("reply", "system", "request").get(pk=tally.last_unusable_id)
    schema = json.dumps(dict(call.whole_request().schema), indent=2)
    is_share = tally.unusable_run < MOST_UNUSABLE_RUN
    return made_stop(call, schema, (*AFTER_UNUSABLE, AFTER_SHARE) if is_share else AFTER_UNUSABLE)


def describe_other_model(build: Build) -> Stop | None:
    """The reply of another model than before, at which the build waits for a person."""
    calls = LLMCall.objects.filter(build=build).select_related("reply").order_by("-pk")
    call = calls.filter(status=LLMCall.Status.FAILED).first()
    if call is None or not call.answered_by or call.error != build.reason:
        return None
    same = calls.filter(status=LLMCall.Status.SUCCEEDED).exclude(answered_by=call.answered_by)
    known = same.values_list("answered_by", flat=True).first() or build.model
    return made_stop(call, f"a reply of {known}; this one is of {call.answered_by}", AFTER_OTHER_MODEL)


def made_stop(call: LLMCall, expected: str, ways: tuple[str, ...]) -> Stop:
    text = call.reply.text if call.reply else ""
    return Stop(call, text[:LONGEST_SHOWN], max(0, len(text) - LONGEST_SHOWN), expected, ways)
