"""A second build over the first queries, by another model and without tests: one pair in ten is abandoned."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from annotation.abandonment import cause_of
from annotation.agents import screener
from annotation.stages import Event, Stage
from bench.seed import rows
from bench.seed.plan import Keys, SeedingPlan, Stretch
from bench.seed.rows import PairOf

MODEL: Final = "bench-model-2"
OWN: Final = 10_000_000
"""Its own rows have the keys of the pairs plus this."""
QUERIES: Final = 50
REASONS: Final = (
    "the reply could not be used, even when asked again: no JSON object",
    "the provider refused the request (HTTP 400: a parameter is unknown)",
    "the model declined to answer (stop reason 'refusal')",
)


def of_queries(plan: SeedingPlan, keys: Keys) -> Stretch:
    """Its candidates and finished cases: 1,000, however large the first build is."""
    made = Stretch()
    for number in range(1, min(QUERIES, plan.queries) + 1):
        for pair in rows.pairs_of_seeded_query(plan, number):
            own = replace(pair, own=OWN + pair.number)
            rows.keep_candidate(made, keys, own)
            judge_pair_again(made, keys, own)
    return made


def judge_pair_again(made: Stretch, keys: Keys, pair: PairOf) -> None:
    """Clear to this model, where it says anything."""
    if pair.number % 10 == 7:
        abandon_seeded_pair(made, keys, pair, REASONS[pair.number // 10 % len(REASONS)])
        return
    label = int(pair.number * 31 % 97 < 25)
    rows.finish_settled_case(
        made, keys, pair, label, [rows.screen_seeded_pair(made, keys, pair, float(label))]
    )


def abandon_seeded_pair(made: Stretch, keys: Keys, pair: PairOf, reason: str) -> None:
    """The provider gave nothing; that cost nothing."""
    request = screener.build_screener_request(screener.ScreenerInputs(pair.query, pair.code), keys.model)
    call = rows.keep_call(made, keys, 4 * pair.case, request, "", reason)
    took = rows.record_stage_move(
        made, pair, 1, Stage.SCREENING, Event.GAVE_UP, Stage.ABANDONED, reason, call
    )
    cause = cause_of(reason)
    rows.keep_case(
        made, keys, pair, Stage.ABANDONED, abandoned=(reason, cause, Stage.SCREENING.value), times=[took]
    )
    made.totals["abandoned"] += 1
    made.abandoned[cause] += 1
