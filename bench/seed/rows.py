"""The rows that a finished build leaves, a stretch of queries at a time; nothing here reads a database.

Keys are computed from the numbers of query and case, so that stretches can be made in any order.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from annotation.agents import arbiter, screener, test_writer
from annotation.builds.limits.budget import without_system
from annotation.llm import Request
from annotation.models import Duration, LLMCall
from annotation.models.builds.figures import bucket_of
from annotation.stages import Event, Stage
from bench.seed import texts
from bench.seed.plan import Keys, SeedingPlan, Stretch
from bench.seed.tables import MOMENT
from retrieval.filters import rules_of
from retrieval.models.blobs import digest_of
from retrieval.models.texts import HEAD, canonicalize_text, fold_for_search
from sandbox.program import Limits, Program
from sandbox.reports.canonical import canonical_text
from sandbox.reports.report import Report

PROVIDER: Final = "live:anthropic"
IMAGE: Final = "bench"
NANO_IN, NANO_OUT, NANO_HELD = 1000, 5000, 1250
"""Nanodollars a token: 1 and 5 dollars a million; held is what writing input to the cache would cost."""
UNCLEAR: Final = 33
CLEAR_MATCHES: Final = 14
TESTED_MATCHES: Final = 40
"""Of 100 cases, of 100 clear or unclear ones: 21 % of the labels are 1, as the paper reports."""
RULES: Final = int(rules_of(texts.make_snippet(1)))
LIMITS: Final = Limits().digest()
EXECUTING_SECONDS: Final = 0.25
OVERHEAD_SECONDS: Final = 0.03


def of_snippets(plan: SeedingPlan, keys: Keys, first: int, last: int) -> Stretch:
    """Snippets `first` to `last`."""
    made = Stretch()
    for number in range(first, last + 1):
        keep_text(made, plan.snippet_id(number), texts.make_snippet(number))
        place = keys.snippets, plan.snippet_id(number), number - 1, f"snippet-{number}", RULES
        made.add("retrieval.Member", *place)
    return made


def of_queries(plan: SeedingPlan, keys: Keys, first: int, last: int) -> Stretch:
    """Queries `first` to `last` with their candidates and settled cases."""
    made = Stretch()
    for number in range(first, last + 1):
        keep_query(made, plan, keys, number)
        for pair in pairs_of_seeded_query(plan, number):
            keep_pair(made, keys, pair)
            settle_seeded_pair(made, keys, pair)
    return made


def still_open(plan: SeedingPlan, keys: Keys, cases: int) -> Stretch:
    """So many cases that wait to be screened, of queries beyond the plan's."""
    made = Stretch(totals=Counter(screening=cases))
    for number in range(plan.queries + 1, plan.queries + -(-cases // plan.k) + 1):
        keep_query(made, plan, keys, number)
        for pair in pairs_of_seeded_query(plan, number)[: cases - len(made.rows["annotation.Case"])]:
            keep_pair(made, keys, pair)
            keep_case(made, keys, pair, Stage.SCREENING)
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
    own: int = 0

    @property
    def case(self) -> int:
        """The key of the build's own rows on the pair."""
        return self.own or self.number


def pairs_of_seeded_query(plan: SeedingPlan, query: int) -> list[PairOf]:
    asked = texts.make_query_text(query)
    beyond = query > plan.queries
    found = []
    for rank in range(1, plan.k + 1):
        number = (query - 1) * plan.k + rank
        if number > plan.cases and not beyond:
            break
        snippet = plan.snippet_of(query, rank)
        ids = plan.query_id(query), plan.snippet_id(snippet)
        code, name = canonicalize_text(texts.make_snippet(snippet)), texts.make_function_name(snippet)
        found.append(PairOf(number, rank, *ids, asked, code, name))
    return found


def keep_text(made: Stretch, pk: int, text: str) -> None:
    text = canonicalize_text(text)
    made.add("retrieval.Text", pk, made.blob("retrieval.TextBody", text), text[:HEAD], len(text))


def keep_query(made: Stretch, plan: SeedingPlan, keys: Keys, number: int) -> None:
    keep_text(made, plan.query_id(number), texts.make_query_text(number))
    made.add("retrieval.QueryText", plan.query_id(number), fold_for_search(texts.make_query_text(number)))
    made.add("retrieval.Member", keys.queries, plan.query_id(number), number - 1, f"query-{number}", 0)


def keep_pair(made: Stretch, keys: Keys, pair: PairOf) -> None:
    made.add("retrieval.Pair", pair.number, pair.query_id, pair.snippet_id)
    keep_candidate(made, keys, pair)


def score_of(pair: PairOf) -> float:
    """Between those of the ranks beside it, and seldom that of another pair."""
    return round(1 / (pair.rank + 1 + pair.number * 7_919 % 99_991 / 100_000), 6)


def keep_candidate(made: Stretch, keys: Keys, pair: PairOf) -> None:
    score = score_of(pair)
    scores = json.dumps({"bm25": {"entering": score, "raw": 40 * score}})
    found = pair.case, keys.mining, pair.number, pair.query_id, pair.rank, score, scores
    made.add("retrieval.Candidate", *found)


def keep_case(
    made: Stretch,
    keys: Keys,
    pair: PairOf,
    stage: Stage,
    *,
    label: int | None = None,
    abandoned: tuple[str, str, str] = ("", "", ""),
    tested: bool = False,
    times: Sequence[float] = (),
) -> None:
    """A case that made as many steps as there are `times`; `abandoned` is reason, cause, and stage left."""
    run = pair.number if tested else None
    who = pair.case, keys.build, pair.case, pair.number, pair.query_id, keys.annotator
    made.add(
        "annotation.Case",
        *who,
        pair.rank,
        score_of(pair),
        stage.value,
        label,
        *abandoned,
        run,
        run,
        len(times),
        round(sum(times), 3),
        moved_at(pair.case),
    )


def moved_at(case: int) -> datetime:
    """When a case made its last move: cases beside each other did so at quite different moments."""
    return MOMENT + timedelta(milliseconds=case * 7_919 % 100_003)


def settle_seeded_pair(made: Stretch, keys: Keys, pair: PairOf) -> None:
    """All that a settled case leaves; one third go the long way."""
    unclear = pair.number * 61 % 100 < UNCLEAR
    label = int(pair.number * 37 % 97 < (TESTED_MATCHES if unclear else CLEAR_MATCHES))
    times = (
        examine_seeded_pair(made, keys, pair, label)
        if unclear
        else [screen_seeded_pair(made, keys, pair, float(label))]
    )
    finish_settled_case(made, keys, pair, label, times, tested=unclear)


def finish_settled_case(
    made: Stretch, keys: Keys, pair: PairOf, label: int, times: Sequence[float], *, tested: bool = False
) -> None:
    """The settled case with its label, and its time among those of the others."""
    keep_case(made, keys, pair, Stage.SETTLED, label=label, tested=tested, times=times)
    source = f"build {keys.build}, case {pair.case}"
    made.add("retrieval.Label", pair.number, keys.annotator, 1, label, False, source)
    made.totals.update(settled=1, matches=label)
    path = Duration.Path.UNCLEAR if tested else Duration.Path.CLEAR
    made.durations[path.value, bucket_of(round(sum(times), 3))] += 1


def screen_seeded_pair(made: Stretch, keys: Keys, pair: PairOf, verdict: float) -> float:
    """What the screener leaves; gives the seconds that it took."""
    reply = texts.make_agent_reply(screener.NAME, pair.case, pair.query, pair.name, verdict)
    request = screener.build_screener_request(screener.ScreenerInputs(pair.query, pair.code), keys.model)
    call = keep_call(made, keys, 4 * pair.case, request, reply)
    event = {0.0: Event.NO_MATCH, 1.0: Event.MATCH}.get(verdict, Event.UNCLEAR)
    after = Stage.WRITING_TEST if event is Event.UNCLEAR else Stage.SETTLED
    note = json.loads(reply)["explanation"]
    made.totals["unclear" if event is Event.UNCLEAR else "cleared"] += 1
    return record_stage_move(made, pair, 1, Stage.SCREENING, event, after, note, call)


def examine_seeded_pair(made: Stretch, keys: Keys, pair: PairOf, label: int) -> list[float]:
    """Unclear, test written, executed, arbitrated; gives the seconds of each."""
    screened = screen_seeded_pair(made, keys, pair, 0.5)
    reply = texts.make_test_writer_reply(pair.number, pair.query, pair.name)
    request = test_writer.build_test_writer_request(
        test_writer.WriterInputs(pair.query, pair.code), keys.model
    )
    call = keep_call(made, keys, 4 * pair.number + 1, request, reply)
    said = json.loads(reply)
    source, run = made.blob("annotation.ProgramText", said["program"]), pair.number
    made.add("annotation.TestProgram", run, pair.number, source, said["reading"], keys.annotator)
    made.totals.update(written=1, test_cases=texts.TEST_CASES)
    wrote = record_stage_move(
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
    report = execute_seeded_test(made, pair, said["program"])
    ran = record_stage_move(
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
    return [screened, wrote, ran, arbitrate_seeded_pair(made, keys, pair, label, said, report)]


def execute_seeded_test(made: Stretch, pair: PairOf, source: str) -> Report:
    inputs = Program(candidate=pair.code, source=source)
    report = texts.make_execution_report(pair.number, pair.code, source)
    seen = report.ran, report.asserted, report.touched
    kept = made.blob("annotation.ReportText", report.to_json())
    hashes = inputs.source_hash, inputs.candidate_hash, inputs.dependencies_hash
    ended = report.backend, report.outcome.value
    made.add("annotation.Execution", pair.number, *hashes, IMAGE, LIMITS, *ended, *seen, report.seconds, kept)
    made.totals.update(programs=1, ran=int(seen[0]), asserted=int(seen[1]), touched=int(seen[2]))
    return report


def arbitrate_seeded_pair(
    made: Stretch, keys: Keys, pair: PairOf, label: int, said: dict[str, str], report: Report
) -> float:
    inputs = arbiter.ArbiterInputs(
        pair.query, pair.code, said["program"], said["reading"], canonical_text(report)
    )
    reply = texts.make_agent_reply(arbiter.NAME, pair.number, pair.query, pair.name, label)
    call = keep_call(
        made, keys, 4 * pair.number + 2, arbiter.build_arbiter_request(inputs, keys.model), reply
    )
    event = Event.ACCEPTED if label else Event.DENIED
    note = json.loads(reply)["explanation"]
    return record_stage_move(made, pair, 4, Stage.ARBITRATING, event, Stage.SETTLED, note, call)


def keep_call(made: Stretch, keys: Keys, pk: int, request: Request, reply: str, error: str = "") -> int:
    """A call that succeeded, or of which nothing came but an `error`; gives its key."""
    asked, canonical = without_system(request), request.canonical()
    tokens_in, tokens_out = (len(asked) + len(request.system)) // 4, len(reply) // 4
    cost = tokens_in * NANO_IN + tokens_out * NANO_OUT
    bound = len(canonical) // 2 * NANO_HELD + request.max_tokens * NANO_OUT
    status = LLMCall.Status.FAILED if error else LLMCall.Status.SUCCEEDED
    if error:
        tokens_in = tokens_out = cost = 0
    made.add(
        "annotation.LLMCall",
        pk,
        hashlib.sha256(canonical.encode()).hexdigest(),
        status.value,
        request.agent,
        request.model,
        PROVIDER,
        keys.build,
        digest_of(request.system),
        made.blob("annotation.RequestText", asked),
        None if error else made.blob("annotation.ReplyText", reply),
        tokens_in,
        tokens_out,
        keys.price,
        bound,
        cost,
        None if error else latency_of_seeded_call(pk),
        "" if error else keys.model,
        "" if error else "end_turn",
        error,
        MOMENT,
    )
    if not error:
        counts = {"calls": 1, "input_tokens": tokens_in, "output_tokens": tokens_out, "spent": cost}
        made.totals.update(counts)
        bill = counts | {"milliseconds": round(1000 * latency_of_seeded_call(pk))}
        made.bills.update({(request.agent, column): value for column, value in bill.items()})
    return pk


def latency_of_seeded_call(call: int) -> float:
    """Seconds of a call, 1 to 2.8."""
    return 1.0 + call % 89 / 50


def record_stage_move(
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
) -> float:
    """One move; gives the seconds that it took."""
    moved = pair.case, number, before.value, event.value, after.value
    seconds = EXECUTING_SECONDS if call is None else round(latency_of_seeded_call(call) + OVERHEAD_SECONDS, 3)
    made.add("annotation.Step", *moved, note, call, program, execution, seconds)
    made.totals[f"{before.value}_ms"] += round(1000 * seconds)
    return seconds
