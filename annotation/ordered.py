"""The order that a build came of, read back from it: to estimate more of the same, or to vary it."""

from __future__ import annotations

from typing import Any

from annotation.launching import CRITERIA, Judge, Order
from annotation.models import Build
from retrieval.filters import Rule
from retrieval.filters.queries import QueryRule
from retrieval.fusion import Fusion
from retrieval.models import Annotator, Mining


def order_of(build: Build) -> Order:
    """`build` as an order, without a budget. Switches that its annotator does not name are the usual ones."""
    config = build.annotator.config
    return Order(
        name=build.name,
        queries=build.queries,
        snippets=build.snippets,
        **searched(build.mining),
        given=build.given,
        provider=build.provider,
        model=build.model,
        recorded=build.recorded,
        limit=build.limit,
        batches=build.batches,
        fix_rounds=config.get("fix_rounds", 2),
        sampling=config.get("sampling", {}),
        rewrites=config.get("rewrites", 1),
        second_test=config.get("second_test", False),
        reader=config.get("reader", False),
        neighbour=config.get("neighbour", False),
        withhold_report=config.get("withhold_report", False),
        prompt_set=config.get("prompt_set", ""),
        fresh=bool(config.get("salt")),
        annotator=judge_of(build.annotator),
        screen_by_query=config.get("screener") == "query",
        seed=config.get("seed", 1),
    )


def searched(mining: Mining | None) -> dict[str, Any]:
    """What was searched, and how; nothing where the pairs were given."""
    if mining is None:
        return {"encoders": (), "rule": Rule(0)}
    return {
        "encoders": tuple(mining.encoders),
        "k": mining.k,
        "rule": Rule(mining.rule),
        "query_rule": QueryRule(mining.query_rule),
        "text_option": mining.text_option,
        "fusion": Fusion(mining.fusion),
        "approximate": mining.approximate,
    }


def judge_of(annotator: Annotator) -> Judge:
    if annotator.kind != Annotator.Kind.SINGLE_LLM:
        return Judge.AGENTS
    criterion = annotator.config.get("criterion")
    return next(judge for judge, one in CRITERIA.items() if one.value == criterion)
