"""File exchange: write the requests that wait in a build, take replies back, let the cases go on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from django.db.models import QuerySet

from annotation.agents import PARSERS, InvalidReply
from annotation.builds.limits import budget
from annotation.builds.pipeline.claims import free_answered
from annotation.llm import Reply, Request, Usage
from annotation.llm.exchange import ExchangeProblem, ReplyLine, read_replies, write_requests
from annotation.models import Build, Case, LLMCall, Proposal


class TooFewParts(ValueError):
    """A query has more requests than there are parts; the message says how many parts it takes."""


@dataclass(frozen=True)
class Imported:
    """What an import did: `moved` cases go on; `known` replies had been imported before."""

    taken: int
    known: int
    moved: int
    problems: tuple[ExchangeProblem, ...]


def find_awaited_calls(build: Build) -> QuerySet[LLMCall]:
    """The calls that cases of `build` wait for, or functions that are to be written."""
    cases = Case.objects.filter(build=build, waiting_for__isnull=False).order_by()
    proposals = Proposal.objects.filter(filling__build=build, waiting_for__isnull=False).order_by()
    return LLMCall.objects.filter(pk__in=cases.values("waiting_for").union(proposals.values("waiting_for")))


def find_unanswered_calls(build: Build) -> QuerySet[LLMCall]:
    """The calls that wait for a reply, in a stable order."""
    return find_awaited_calls(build).filter(status=LLMCall.Status.WAITING).order_by("pk")


def requests_of(calls: QuerySet[LLMCall]) -> Iterator[Request]:
    """What these calls ask."""
    for call in calls.select_related("system", "request").iterator(chunk_size=500):
        yield call.whole_request()


def load_waiting_requests(build: Build) -> Iterator[Request]:
    """The requests that cases of `build` wait for, in a stable order."""
    return requests_of(find_unanswered_calls(build))


def export_waiting_requests(build: Build, stream: BinaryIO) -> int:
    """Write every request of `build` that waits; returns how many there were."""
    return write_requests(stream, load_waiting_requests(build))


def export_parts(build: Build, parts: Sequence[Sequence[int]], streams: Sequence[BinaryIO]) -> list[int]:
    """Write the calls (ids) of each part into its stream; returns how many each has."""
    calls = find_unanswered_calls(build)
    return [
        sum(write_requests(stream, requests_of(calls.filter(pk__in=some))) for some in chunk_calls(part))
        for stream, part in zip(streams, parts, strict=True)
    ]


def chunk_calls(calls: Sequence[int], size: int = 500) -> Iterator[Sequence[int]]:
    """The calls in runs that every database takes in one statement."""
    for start in range(0, len(calls), size):
        yield calls[start : start + size]


def split_waiting_calls(build: Build, parts: int) -> list[list[int]]:
    """The calls (ids) that wait, in so many parts: two about one query never lie in one part, so that no
    answer can lean on another one. Raises TooFewParts.
    """
    return divide_calls_by_query(queries_of_calls(build), parts)


def queries_of_calls(build: Build) -> dict[int, frozenset[int]]:
    """The calls (ids) that wait, each with the queries that it is about."""
    cases = Case.objects.filter(build=build, waiting_for__status=LLMCall.Status.WAITING)
    written = Proposal.objects.filter(filling__build=build, waiting_for__status=LLMCall.Status.WAITING)
    found = defaultdict[int, set[int]](set)
    for rows in (cases, written):
        for call, query in rows.order_by().values_list("waiting_for_id", "query_id").distinct():
            if call is not None:
                found[call].add(query)
    return {call: frozenset(its) for call, its in found.items()}


def divide_calls_by_query(queries: Mapping[int, frozenset[int]], parts: int) -> list[list[int]]:
    """The calls in parts, the same every time, no two about one query in one part.

    The queries with the most calls come first, and each call goes to the smallest part that its queries are
    not in: so sizes differ by one, unless a call is about several queries. Raises TooFewParts.
    """
    by_query = defaultdict[int, list[int]](list)
    for call, its in sorted(queries.items()):
        for query in its:
            by_query[query].append(call)
    most = max(map(len, by_query.values()), default=0)
    if most > parts:
        raise TooFewParts(f"A query has {most} requests that wait: it takes {most} parts, not {parts}.")
    order = sorted(by_query, key=lambda query: (-len(by_query[query]), by_query[query]))
    made: list[list[int]] = [[] for _ in range(parts)]
    taken: list[set[int]] = [set() for _ in range(parts)]
    for call in dict.fromkeys(call for query in order for call in by_query[query]):
        place = smallest_free(made, taken, queries[call])
        made[place].append(call)
        taken[place] |= queries[call]
    return [sorted(part) for part in made]


def smallest_free(made: Sequence[Sequence[int]], taken: Sequence[set[int]], its: frozenset[int]) -> int:
    """The place of the smallest part that has none of these queries. Raises TooFewParts."""
    free = [place for place, queries in enumerate(taken) if queries.isdisjoint(its)]
    if not free:
        raise TooFewParts(f"Requests that are about several queries take more than {len(made)} parts.")
    return min(free, key=lambda place: len(made[place]))


def import_replies(build: Build, stream: BinaryIO) -> Imported:
    """Take the good replies of `stream`, refuse the bad ones by line number. Can be repeated."""
    calls = {c.digest: c.pk for c in find_awaited_calls(build)}
    answered = set(LLMCall.objects.filter(build=build, status="succeeded").values_list("digest", flat=True))
    taken, known, problems = 0, 0, list[ExchangeProblem]()
    for line in read_replies(stream, calls.keys() | answered):
        problem = line if isinstance(line, ExchangeProblem) else find_reply_problem(line, calls)
        if problem is not None:
            problems.append(problem)
        elif isinstance(line, ReplyLine) and line.id in calls:
            store_exchanged_reply(calls[line.id], line)
            taken += 1
        else:
            known += 1
    return Imported(taken, known, free_answered(), tuple(problems))


def find_reply_problem(line: ReplyLine, calls: dict[str, int]) -> ExchangeProblem | None:
    """Why a reply can't be used by its agent, if so: it is refused here, where somebody can mend it."""
    if line.id not in calls:
        return None
    try:
        PARSERS[LLMCall.objects.values_list("agent", flat=True).get(pk=calls[line.id])](line.text)
    except InvalidReply as problem:
        return ExchangeProblem(line.line, str(problem))
    return None


def store_exchanged_reply(pk: int, line: ReplyLine) -> None:
    """The reply becomes that of its waiting call, before any case uses it."""
    call = LLMCall.objects.select_related("build__tally", "price").get(pk=pk)
    if call.status == LLMCall.Status.WAITING:
        usage = line.usage or Usage(0, 0)
        budget.settle_call(call, Reply(line.text, line.model or call.model, usage, 0.0, "", "exchange"))
