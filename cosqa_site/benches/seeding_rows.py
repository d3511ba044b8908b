"""The rows that a finished build leaves, a stretch of queries at a time; nothing here reads a database.

Keys are computed from the numbers of query and case, so that stretches can be made in any order.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from annotation.agents import arbiter, screener, test_writer
from annotation.budget import without_system
from annotation.llm import Request
from annotation.stages import Event, Stage
from cosqa_site.benches import seeding_texts as texts
from cosqa_site.benches.seeding_tables import MOMENT, Row
from retrieval.filters import rules_of
from retrieval.models.blobs import digest_of
from retrieval.models.texts import HEAD, canonical
from sandbox.program import Limits, Program
from sandbox.report import Report

MODEL: Final = "bench-model"
PROVIDER: Final = "live:anthropic"
IMAGE: Final = "bench"
NANO_IN, NANO_OUT = 1000, 5000
"""Nanodollars a token: 1 and 5 dollars a million."""
UNCLEAR: Final = 33
CLEAR_MATCHES: Final = 14
TESTED_MATCHES: Final = 40
"""Of 100 cases, of 100 clear or unclear ones: 21 % of the labels are 1, as the paper reports."""
RULES: Final = int(rules_of(texts.snippet(1)))
LIMITS: Final = Limits().digest()


@dataclass(frozen=True)
class Plan:
    """How much there is to be; `k` candidates a query, fewer for the last one."""

    cases: int
    snippets: int
    reviews: int = 0
    k: int = 20

    @property
    def queries(self) -> int:
        return -(-self.cases // self.k)

    def query_id(self, number: int) -> int:
        """The text's key; queries beyond the plan's come after its snippets."""
        return number if number <= self.queries else number + self.snippets

    def snippet_id(self, number: int) -> int:
        return self.queries + number

    def snippet_of(self, query: int, rank: int) -> int:
        """The number of the snippet, from 1, that a query finds at a rank."""
        return (query * 37 + rank) % self.snippets + 1


@dataclass(frozen=True)
class Keys:
    """Of the rows that there is one of."""

    build: int
    mining: int
    annotator: int
    price: int
    queries: int
    snippets: int


@dataclass
class Stretch:
    """Rows by table, and how they change the build's totals."""

    rows: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    totals: Counter[str] = field(default_factory=Counter)

    def add(self, table: str, *columns: object) -> None:
        self.rows[table].append(columns)

    def blob(self, table: str, text: str) -> str:
        """Keep a wide text; gives its hash."""
        digest = digest_of(text)
        self.add(table, digest, len(text), zlib.compress(text.encode(), 6))
        return digest


def of_snippets(plan: Plan, keys: Keys, first: int, last: int) -> Stretch:
    """Snippets `first` to `last`."""
    made = Stretch()
    for number in range(first, last + 1):
        keep_text(made, plan.snippet_id(number), texts.snippet(number))
        place = keys.snippets, plan.snippet_id(number), number - 1, f"snippet-{number}", RULES
        made.add("retrieval.Member", *place)
    return made


def of_queries(plan: Plan, keys: Keys, first: int, last: int) -> Stretch:
    """Queries `first` to `last` with their candidates and settled cases."""
    made = Stretch()
    for number in range(first, last + 1):
        keep_query(made, plan, keys, number)
        for pair in pairs_of(plan, number):
            keep_pair(made, keys, pair)
            settle(made, keys, pair)
    return made


def still_open(plan: Plan, keys: Keys, cases: int) -> Stretch:
    """So many cases that wait to be screened, of queries beyond the plan's."""
    made = Stretch(totals=Counter(screening=cases))
    for number in range(plan.queries + 1, plan.queries + -(-cases // plan.k) + 1):
        keep_query(made, plan, keys, number)
        for pair in pairs_of(plan, number)[: cases - len(made.rows["annotation.Case"])]:
            keep_pair(made, keys, pair)
            keep_case(made, keys, pair, Stage.SCREENING, None, 0)
    return made


@dataclass(frozen=True)
class PairOf:
    """One pair: its number is the key of pair, candidate, case, program and execution alike."""

    number: int
    rank: int
    query_id: int
    snippet_id: int
    query: str
    code: str
    name: str


def pairs_of(plan: Plan, query: int) -> list[PairOf]:
    asked = texts.query(query)
    beyond = query > plan.queries
    found = []
    for rank in range(1, plan.k + 1):
        number = (query - 1) * plan.k + rank
        if number > plan.cases and not beyond:
            break
        snippet = plan.snippet_of(query, rank)
        ids = plan.query_id(query), plan.snippet_id(snippet)
        code, name = canonical(texts.snippet(snippet)), texts.name_of(snippet)
        found.append(PairOf(number, rank, *ids, asked, code, name))
    return found


def keep_text(made: Stretch, pk: int, text: str) -> None:
    text = canonical(text)
    made.add("retrieval.Text", pk, made.blob("retrieval.TextBody", text), text[:HEAD], len(text))


def keep_query(made: Stretch, plan: Plan, keys: Keys, number: int) -> None:
    keep_text(made, plan.query_id(number), texts.query(number))
    made.add("retrieval.Member", keys.queries, plan.query_id(number), number - 1, f"query-{number}", 0)


def keep_pair(made: Stretch, keys: Keys, pair: PairOf) -> None:
    score = round(1 / (pair.rank + 1), 4)
    scores = json.dumps({"bm25": {"entering": score, "raw": 40 * score}})
    made.add("retrieval.Pair", pair.number, pair.query_id, pair.snippet_id)
    found = pair.number, keys.mining, pair.number, pair.query_id, pair.rank, score, scores
    made.add("retrieval.Candidate", *found)


def keep_case(
    made: Stretch, keys: Keys, pair: PairOf, stage: Stage, label: int | None, steps: int, tested: bool = False
) -> None:
    run = pair.number if tested else None
    who = pair.number, keys.build, pair.number, pair.number, pair.query_id, keys.annotator
    made.add("annotation.Case", *who, pair.rank, stage.value, label, run, run, steps)


def settle(made: Stretch, keys: Keys, pair: PairOf) -> None:
    """All that a settled case leaves; one third go the long way."""
    unclear = pair.number * 61 % 100 < UNCLEAR
    label = int(pair.number * 37 % 97 < (TESTED_MATCHES if unclear else CLEAR_MATCHES))
    if unclear:
        examine(made, keys, pair, label)
    else:
        screen(made, keys, pair, float(label))
    keep_case(made, keys, pair, Stage.SETTLED, label, 4 if unclear else 1, unclear)
    source = f"build {keys.build}, case {pair.number}"
    made.add("retrieval.Label", pair.number, keys.annotator, 1, label, False, source)
    made.totals.update(settled=1, matches=label)


def screen(made: Stretch, keys: Keys, pair: PairOf, verdict: float) -> None:
    reply = texts.said(screener.NAME, pair.number, pair.query, pair.name, verdict)
    request = screener.request(screener.ScreenerInputs(pair.query, pair.code), MODEL)
    call = keep_call(made, keys, 4 * pair.number, request, reply)
    event = {0.0: Event.NO_MATCH, 1.0: Event.MATCH}.get(verdict, Event.UNCLEAR)
    after = Stage.WRITING_TEST if event is Event.UNCLEAR else Stage.SETTLED
    note = json.loads(reply)["explanation"]
    step(made, pair, 1, Stage.SCREENING, event, after, note, call)


def examine(made: Stretch, keys: Keys, pair: PairOf, label: int) -> None:
    """Unclear, test written, executed, arbitrated."""
    screen(made, keys, pair, 0.5)
    reply = texts.written(pair.number, pair.query, pair.name)
    request = test_writer.request(test_writer.WriterInputs(pair.query, pair.code), MODEL)
    call = keep_call(made, keys, 4 * pair.number + 1, request, reply)
    said = json.loads(reply)
    source, run = made.blob("annotation.ProgramText", said["program"]), pair.number
    made.add("annotation.TestProgram", run, pair.number, source, said["reading"], keys.annotator)
    step(
        made,
        pair,
        2,
        Stage.WRITING_TEST,
        Event.WRITTEN,
        Stage.EXECUTING,
        said["reading"],
        call,
        program=run,
    )
    report = execute(made, pair, said["program"])
    step(
        made,
        pair,
        3,
        Stage.EXECUTING,
        Event.EXECUTED,
        Stage.ARBITRATING,
        report.outcome,
        None,
        run,
        run,
    )
    arbitrate(made, keys, pair, label, said, report)


def execute(made: Stretch, pair: PairOf, source: str) -> Report:
    inputs = Program(candidate=pair.code, source=source)
    report = texts.report(pair.number, pair.code, source)
    seen = report.ran, report.asserted, report.touched
    kept = made.blob("annotation.ReportText", report.to_json())
    hashes = inputs.source_hash, inputs.candidate_hash, inputs.dependencies_hash
    ended = report.backend, report.outcome.value
    made.add("annotation.Execution", pair.number, *hashes, IMAGE, LIMITS, *ended, *seen, report.seconds, kept)
    made.totals.update(programs=1, ran=int(seen[0]), asserted=int(seen[1]), touched=int(seen[2]))
    return report


def arbitrate(
    made: Stretch, keys: Keys, pair: PairOf, label: int, said: dict[str, str], report: Report
) -> None:
    inputs = arbiter.ArbiterInputs(
        pair.query, pair.code, said["program"], said["reading"], report.canonical()
    )
    reply = texts.said(arbiter.NAME, pair.number, pair.query, pair.name, label)
    call = keep_call(made, keys, 4 * pair.number + 2, arbiter.request(inputs, MODEL), reply)
    event = Event.ACCEPTED if label else Event.DENIED
    note = json.loads(reply)["explanation"]
    step(made, pair, 4, Stage.ARBITRATING, event, Stage.SETTLED, note, call)


def keep_call(made: Stretch, keys: Keys, pk: int, request: Request, reply: str) -> int:
    """A call that succeeded; gives its key."""
    asked = without_system(request)
    tokens_in, tokens_out = (len(asked) + len(request.system)) // 4, len(reply) // 4
    cost = tokens_in * NANO_IN + tokens_out * NANO_OUT
    bound = len(request.canonical()) // 2 * NANO_IN + request.max_tokens * NANO_OUT
    made.add(
        "annotation.LLMCall",
        pk,
        request.digest(),
        "succeeded",
        request.agent,
        request.model,
        PROVIDER,
        keys.build,
        digest_of(request.system),
        made.blob("annotation.RequestText", asked),
        made.blob("annotation.ReplyText", reply),
        tokens_in,
        tokens_out,
        keys.price,
        bound,
        cost,
        1.0 + pk % 89 / 50,
        MODEL,
        "end_turn",
        MOMENT,
    )
    made.totals.update(calls=1, input_tokens=tokens_in, output_tokens=tokens_out, spent=cost)
    return pk


def step(
    made: Stretch,
    pair: PairOf,
    number: int,
    before: Stage,
    event: Event,
    after: Stage,
    note: str,
    call: int | None,
    program: int | None = None,
    execution: int | None = None,
) -> None:
    moved = pair.number, number, before.value, event.value, after.value
    made.add("annotation.Step", *moved, note, call, program, execution)


def reviews_of(plan: Plan, raters: list[tuple[int, int]]) -> Iterator[tuple[int, int, int, int]]:
    """Number, case, rater and the rater's annotator of each review; cases far apart."""
    for number in range(1, plan.reviews + 1):
        case = (number - 1) * (plan.cases // plan.reviews) + 1
        yield number, case, *raters[number % len(raters)]
