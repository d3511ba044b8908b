"""File exchange: write the requests that wait in a build, take replies back, let the cases go on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from django.db.models import QuerySet

from annotation import budget
from annotation.agents import PARSERS, InvalidReply
from annotation.claims import free_answered
from annotation.llm import Reply, Request, Usage
from annotation.llm.exchange import ExchangeProblem, ReplyLine, read_replies, write_requests
from annotation.models import Build, Case, LLMCall, Proposal


@dataclass(frozen=True)
class Imported:
    """What an import did: `moved` cases go on; `known` replies had been imported before."""

    taken: int
    known: int
    moved: int
    problems: tuple[ExchangeProblem, ...]


def asked(build: Build) -> QuerySet[LLMCall]:
    """The calls that cases of `build` wait for, or functions that are to be written."""
    cases = Case.objects.filter(build=build, waiting_for__isnull=False).order_by()
    proposals = Proposal.objects.filter(filling__build=build, waiting_for__isnull=False).order_by()
    return LLMCall.objects.filter(pk__in=cases.values("waiting_for").union(proposals.values("waiting_for")))


def waiting(build: Build) -> Iterator[Request]:
    """The requests that cases of `build` wait for, in a stable order."""
    calls = asked(build).filter(status=LLMCall.Status.WAITING)
    for call in calls.select_related("system", "request").order_by("pk").iterator(chunk_size=500):
        yield call.whole_request()


def export(build: Build, stream: BinaryIO) -> int:
    """Write every request of `build` that waits; returns how many there were."""
    return write_requests(stream, waiting(build))


def take(build: Build, stream: BinaryIO) -> Imported:
    """Take the good replies of `stream`, refuse the bad ones by line number. Can be repeated."""
    calls = {c.digest: c.pk for c in asked(build)}
    answered = set(LLMCall.objects.filter(build=build, status="succeeded").values_list("digest", flat=True))
    taken, known, problems = 0, 0, list[ExchangeProblem]()
    for line in read_replies(stream, calls.keys() | answered):
        problem = line if isinstance(line, ExchangeProblem) else refusal(line, calls)
        if problem is not None:
            problems.append(problem)
        elif isinstance(line, ReplyLine) and line.id in calls:
            store(calls[line.id], line)
            taken += 1
        else:
            known += 1
    return Imported(taken, known, free_answered(), tuple(problems))


def refusal(line: ReplyLine, calls: dict[str, int]) -> ExchangeProblem | None:
    """Why a reply can't be used by its agent, if so: it is refused here, where somebody can mend it."""
    if line.id not in calls:
        return None
    try:
        PARSERS[LLMCall.objects.values_list("agent", flat=True).get(pk=calls[line.id])](line.text)
    except InvalidReply as problem:
        return ExchangeProblem(line.line, str(problem))
    return None


def store(pk: int, line: ReplyLine) -> None:
    """The reply becomes that of its waiting call, before any case uses it."""
    call = LLMCall.objects.select_related("build__tally", "price").get(pk=pk)
    if call.status == LLMCall.Status.WAITING:
        usage = line.usage or Usage(0, 0)
        budget.settle(call, Reply(line.text, line.model or call.model, usage, 0.0, "", "exchange"))
