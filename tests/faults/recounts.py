"""What is counted as it happens, counted once more from cases, steps and calls: all of it has to be equal."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from django.db.models import Q, Sum

from annotation.models import Abandonment, AgentBill, Build, Duration, LLMCall, ProjectTally, Step
from annotation.models.builds.calls import HOLDING
from annotation.models.builds.cases import CLEAR
from annotation.models.builds.figures import bucket_of
from annotation.stages import QUEUE_OF, TO_TEST_EVENTS, Event, Stage
from sandbox.program import count_assertions

Bill = tuple[int, int, int, int, int]
"""Calls, tokens in and out, nanodollars, milliseconds."""
NO_BILL: Final[Bill] = (0, 0, 0, 0, 0)


def totals() -> Iterator[str]:
    """The counters are what a recount of the rows gives."""
    for build in Build.objects.select_related("tally"):
        for name, value in recount(build).items():
            found = getattr(build.tally, name)
            if found != value:
                yield f"{build}: {name} is {found}, the rows say {value}"


def recount(build: Build) -> dict[str, int]:
    stages = Counter(build.cases.values_list("stage", flat=True))
    calls = LLMCall.objects.filter(build=build)
    sums = calls.aggregate(
        spent=Sum("cost", default=0),
        read=Sum("input_tokens", default=0) + Sum("cache_read_tokens", default=0),
        written=Sum("cache_write_tokens", default=0),
        output=Sum("output_tokens", default=0),
        reserved=Sum("bound", filter=Q(status__in=HOLDING), default=0),
    )
    return {
        **{stage.value: stages[stage.value] for stage in Stage},
        **ran(build),
        **told_by_steps(build),
        "matches": build.cases.filter(label=1).count(),
        "calls": calls.filter(reply__isnull=False).count(),
        "spent": sums["spent"],
        "reserved": sums["reserved"],
        "input_tokens": sums["read"] + sums["written"],
        "output_tokens": sums["output"],
    }


def ran(build: Build) -> dict[str, int]:
    """How the programs of the build's cases went, from the steps that ended their executing."""
    over = Step.objects.filter(case__build=build, event=Event.EXECUTED)
    refused = Step.objects.filter(case__build=build, event=Event.REFUSED).count()
    words = {
        word: over.filter(**{f"execution__{word}": True}).count() for word in ("ran", "asserted", "touched")
    }
    return {"programs": over.count() + refused, **words}


def told_by_steps(build: Build) -> dict[str, int]:
    """What the steps say that the build's cases went through, and how long that took."""
    steps = Step.objects.filter(case__build=build)
    events = Counter(steps.values_list("event", flat=True))
    programs = steps.filter(event=Event.WRITTEN).select_related("program__source")
    worked = Counter[str]()
    for stage, seconds in steps.filter(seconds__isnull=False).values_list("before", "seconds"):
        worked[stage] += round(1000 * (seconds or 0.0))
    return {
        "cleared": events[Event.MATCH] + events[Event.NO_MATCH],
        "unclear": sum(events[event] for event in TO_TEST_EVENTS),
        "written": events[Event.WRITTEN],
        "fixings": events[Event.MISSING_MODULE],
        "test_cases": sum(count_assertions(step.program.source.text) for step in programs if step.program),
        **{f"{stage}_ms": worked[stage] for stage in QUEUE_OF},
    }


def reused() -> Iterator[str]:
    """Replies that were used again: those of steps that rest on what another build, or step, has paid."""
    for build in Build.objects.select_related("tally"):
        least, most = bounds_of_reused(build)
        if not least <= build.tally.reused <= most:
            yield f"{build}: reused is {build.tally.reused}, the steps say {least} to {most}"


def bounds_of_reused(build: Build) -> tuple[int, int]:
    """How often it was, at the least and at the most.

    Another step that rests on a build's own reply may have been made while this one was; a step that rests on
    a repaired reply may have used another build's bad one; and one that gave up may have used none.
    """
    least = most = 0
    for step in Step.objects.filter(case__build=build, call__isnull=False).select_related("call__request"):
        assert step.call is not None, "as asked for"
        before = step.call.steps.filter(pk__lt=step.pk)
        foreign = step.call.build_id != build.pk
        gave_up = step.event == Event.GAVE_UP
        least += int(foreign and not gave_up)
        most += int(foreign or before.exists()) + int(repairs_anothers(step.call, build))
    return least, most


def repairs_anothers(call: LLMCall, build: Build) -> bool:
    """Whether the call asks to put right a reply that another build has paid."""
    request = call.whole_request()
    if len(request.messages) == 1:
        return False
    bad = LLMCall.objects.filter(digest=replace(request, messages=request.messages[:1]).digest())
    return bad.filter(reply__isnull=False).exclude(build=build).exists()


def figures() -> Iterator[str]:
    """What stands beside the totals is what a recount of calls and cases gives."""
    for build in Build.objects.all():
        yield from unequal(f"{build}: the bill of", bills(build), billed(build))
        yield from unequal(f"{build}: cases that took", durations(build), timed(build))
        yield from unequal(f"{build}: cases abandoned for", abandonments(build), abandoned(build))


def unequal(what: str, kept: Mapping[Any, Any], counted: Mapping[Any, Any]) -> Iterator[str]:
    for key in sorted({*kept, *counted}, key=str):
        if kept.get(key) != counted.get(key):
            yield f"{what} {key} is {kept.get(key)}, the rows say {counted.get(key)}"


def bills(build: Build) -> dict[str, Bill]:
    columns = "calls", "input_tokens", "output_tokens", "spent", "milliseconds"
    rows = AgentBill.objects.filter(build=build).values_list("agent", *columns)
    return {agent: bill for agent, *numbers in rows if (bill := as_bill(numbers)) != NO_BILL}


def billed(build: Build) -> dict[str, Bill]:
    """The same, from the calls that the build has paid."""
    found: dict[str, list[int]] = defaultdict(lambda: [0] * len(NO_BILL))
    for call in LLMCall.objects.filter(build=build):
        read = call.input_tokens + call.cache_read_tokens + call.cache_write_tokens
        took = round(1000 * call.latency) if call.reply_id and call.latency else 0
        row = int(call.reply_id is not None), read, call.output_tokens, call.cost, took
        found[call.agent] = [old + new for old, new in zip(found[call.agent], row, strict=True)]
    return {agent: bill for agent, numbers in found.items() if (bill := as_bill(numbers)) != NO_BILL}


def as_bill(numbers: Sequence[int]) -> Bill:
    calls, read, written, spent, took = numbers
    return calls, read, written, spent, took


def durations(build: Build) -> dict[tuple[str, int], int]:
    rows = Duration.objects.filter(build=build, cases__gt=0)
    return {(path, bucket): cases for path, bucket, cases in rows.values_list("path", "bucket", "cases")}


def timed(build: Build) -> Counter[tuple[str, int]]:
    """The same, from the steps that settled a case."""
    over = Step.objects.filter(case__build=build, after=Stage.SETTLED, seconds__isnull=False)
    return Counter(
        (Duration.Path.CLEAR.value if event in CLEAR else Duration.Path.UNCLEAR.value, bucket_of(seconds))
        for event, seconds in over.values_list("event", "case__seconds")
    )


def abandonments(build: Build) -> dict[tuple[str, str], int]:
    rows = Abandonment.objects.filter(build=build).exclude(cases=0)
    return {(cause, left): cases for cause, left, cases in rows.values_list("cause", "left_stage", "cases")}


def abandoned(build: Build) -> Counter[tuple[str, str]]:
    """The same, from the cases that are abandoned now."""
    return Counter(build.cases.filter(stage=Stage.ABANDONED).values_list("cause", "left_stage"))


def projects_money() -> Iterator[str]:
    """What all live builds have spent together is what their calls cost, and no more than their cap."""
    project = ProjectTally.objects.now()
    calls = LLMCall.objects.filter(build__provider=Build.Provider.LIVE)
    spent = calls.aggregate(sum=Sum("cost", default=0))["sum"]
    reserved = calls.filter(status__in=HOLDING).aggregate(sum=Sum("bound", default=0))["sum"]
    if (project.spent, project.reserved) != (spent, reserved):
        yield f"the project has {project.spent} and {project.reserved}, the calls say {spent} and {reserved}"
    if project.cap is None or project.spent + project.reserved > project.cap:
        yield f"the project has spent {project.spent} and reserved {project.reserved} of {project.cap}"
