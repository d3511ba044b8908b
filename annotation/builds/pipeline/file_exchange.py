"""File exchange: write the requests that wait in a build, take replies back, let the cases go on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.agents import PARSERS, InvalidReply, screener
from annotation.builds.limits import budget
from annotation.builds.limits.awaited_replies import clean_model_name, note_answering_models
from annotation.builds.pipeline.claims import free_answered
from annotation.builds.pipeline.screener_sheet import is_sheet, read_sheet
from annotation.llm import Reply, Request, Usage
from annotation.llm.exchange import ExchangeProblem, ReplyLine, read_replies, write_requests
from annotation.llm.strict_json import NotJson, parse_strict_json
from annotation.models import Build, Case, LLMCall, Proposal, Step
from annotation.models.builds.calls import RERANKS

ANSWERED: Final = "the request has a reply already, and this is another one: the first counts"


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
    """The calls that cases of `build` wait for, or functions that are to be written; all of a reranker's."""
    if build.annotator.config.get(RERANKS):
        return LLMCall.objects.filter(build=build)
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


def count_waiting_by_agent(build: Build) -> dict[str, int]:
    """How many requests wait for a reply, by the agent that asks, the most first."""
    rows = find_unanswered_calls(build).order_by().values_list("agent").annotate(Count("pk"))
    return dict(sorted(rows, key=lambda row: (-row[1], row[0])))


def load_screener_rows(build: Build) -> Iterator[tuple[str, str, str]]:
    """The id, the query and the code of each request of the screener that waits, in a stable order."""
    of_calls = find_unanswered_calls(build).filter(agent=screener.NAME)
    rows = Case.objects.filter(build=build, waiting_for__in=of_calls).order_by("waiting_for", "pk")
    rows, last = rows.select_related("waiting_for", "pair__query__body", "pair__snippet__body"), ""
    for case in rows.iterator(chunk_size=500):
        if case.waiting_for is not None and case.waiting_for.digest != last:
            last = case.waiting_for.digest
            yield last, case.pair.query.text, case.pair.snippet.text


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
        write_requests(
            stream, (one for some in chunk_calls(part) for one in requests_of(calls.filter(pk__in=some)))
        )
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
    """The calls (ids) that wait, each with the queries that it is about; each of a reranker's has its own."""
    if build.annotator.config.get(RERANKS):
        return {pk: frozenset({pk}) for pk in find_unanswered_calls(build).values_list("pk", flat=True)}
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


def import_replies(
    build: Build, stream: BinaryIO, model: str = "", tick: Callable[[], object] = lambda: None
) -> Imported:
    """Take the good replies of a file of lines, or of the screener's table; refuse the bad ones by line.

    `model` answered where a line names none; `tick` is called after each line. Can be repeated: what is
    known changes nothing.
    """
    read = read_sheet if is_sheet(stream) else read_replies
    return take_replies(build, read(stream), model, tick)


def take_replies(
    build: Build,
    lines: Iterable[ReplyLine | ExchangeProblem],
    model: str = "",
    tick: Callable[[], object] = lambda: None,
) -> Imported:
    """The same of replies that are read already; each is stored by itself, so none is lost by another."""
    calls = dict(find_awaited_calls(build).values_list("digest", "pk"))
    done, problems, models = Counter[bool](), list[ExchangeProblem](), set[str]()
    for line in lines:
        problem = line if isinstance(line, ExchangeProblem) else find_reply_problem(build, line, calls)
        if problem is not None:
            problems.append(problem)
        elif isinstance(line, ReplyLine):
            taken = line.id in calls and store_exchanged_reply(calls[line.id], line, model)
            done[taken] += 1
            if taken or is_unnamed(build, line):
                models.add(line.model or model)
        tick()
    note_answering_models(build, models)
    return Imported(done[True], done[False], free_answered(), tuple(problems))


def find_reply_problem(build: Build, line: ReplyLine, calls: dict[str, int]) -> ExchangeProblem | None:
    """Why a reply can't be used by its agent, if so: it is refused here, where somebody can mend it."""
    if line.id not in calls:
        why = explain_unawaited(build, line)
        return ExchangeProblem(line.line, why) if why else None
    call = LLMCall.objects.select_related("reply").get(pk=calls[line.id])
    if call.status == LLMCall.Status.SUCCEEDED and not is_same_reply(call, line):
        return ExchangeProblem(line.line, ANSWERED)
    try:
        PARSERS[call.agent](line.text)
    except InvalidReply as problem:
        return ExchangeProblem(line.line, str(problem))
    return None


def explain_unawaited(build: Build, line: ReplyLine) -> str:
    """Why a reply to what no case waits for is refused; empty where the build has that very reply."""
    rows = LLMCall.objects.filter(digest=line.id)
    used = rows.filter(Q(build=build) | Exists(Step.objects.filter(call=OuterRef("pk"), case__build=build)))
    answered = used.filter(status=LLMCall.Status.SUCCEEDED).select_related("reply").first()
    if answered is not None:
        return "" if is_same_reply(answered, line) else ANSWERED
    if used.exists():
        return f"the request {line.id} does not wait any more"
    if rows.exists():
        return f"the request {line.id} is one of another build, not of this one: take the reply there"
    return f"no request with the id {line.id} waits; the pair, prompt or model may have changed"


def is_same_reply(call: LLMCall, line: ReplyLine) -> bool:
    """Whether the call has this very reply, however its JSON is written."""
    return call.reply is not None and read_json(call.reply.text) == read_json(line.text)


def is_unnamed(build: Build, line: ReplyLine) -> bool:
    """Whether nobody has said yet which model gave this reply, which is known already."""
    return LLMCall.objects.filter(digest=line.id, answered_by=build.model).exists()


def read_json(text: str) -> object:
    """The value that a text holds; the text itself where it is no JSON."""
    try:
        return parse_strict_json(text)
    except NotJson:
        return text


def store_exchanged_reply(pk: int, line: ReplyLine, model: str = "") -> bool:
    """The reply becomes that of its waiting call, before any case uses it; False where it waits no more."""
    call = LLMCall.objects.select_related("build__tally", "price").get(pk=pk)
    if call.status != LLMCall.Status.WAITING:
        return False
    usage = line.usage or Usage(0, 0)
    who = clean_model_name(line.model) or clean_model_name(model) or call.model
    budget.settle_call(call, Reply(line.text, who, usage, 0.0, "", "exchange"))
    return True
