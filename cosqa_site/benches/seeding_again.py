"""A second build over the first queries, by another model and without tests: one pair in ten is abandoned."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from annotation.agents import screener
from annotation.causes import cause_of
from annotation.stages import Event, Stage
from cosqa_site.benches import seeding_rows as rows
from cosqa_site.benches.seeding_plan import Keys, Plan, Stretch
from cosqa_site.benches.seeding_rows import PairOf

MODEL: Final = "bench-model-2"
OWN: Final = 10_000_000
"""Its own rows have the keys of the pairs plus this."""
QUERIES: Final = 50
REASONS: Final = (
    "the reply could not be used, even when asked again: no JSON object",
    "the provider refused the request (HTTP 400: a parameter is unknown)",
    "the model declined to answer (stop reason 'refusal')",
)


def of_queries(plan: Plan, keys: Keys) -> Stretch:
    """Its candidates and finished cases: 1,000, however large the first build is."""
    made = Stretch()
    for number in range(1, min(QUERIES, plan.queries) + 1):
        for pair in rows.pairs_of(plan, number):
            own = replace(pair, own=OWN + pair.number)
            rows.keep_candidate(made, keys, own)
            judge(made, keys, own)
    return made


def judge(made: Stretch, keys: Keys, pair: PairOf) -> None:
    """Clear to this model, where it says anything."""
    if pair.number % 10 == 7:
        abandon(made, keys, pair, REASONS[pair.number // 10 % len(REASONS)])
        return
    label = int(pair.number * 31 % 97 < 25)
    rows.finish(made, keys, pair, label, [rows.screen(made, keys, pair, float(label))])


def abandon(made: Stretch, keys: Keys, pair: PairOf, reason: str) -> None:
    """The provider gave nothing; that cost nothing."""
    request = screener.request(screener.ScreenerInputs(pair.query, pair.code), keys.model)
    call = rows.keep_call(made, keys, 4 * pair.case, request, "", reason)
    took = rows.step(made, pair, 1, Stage.SCREENING, Event.GAVE_UP, Stage.ABANDONED, reason, call)
    cause = cause_of(reason)
    rows.keep_case(
        made, keys, pair, Stage.ABANDONED, abandoned=(reason, cause, Stage.SCREENING.value), times=[took]
    )
    made.totals["abandoned"] += 1
    made.abandoned[cause] += 1
