"""The order that a build came of, read back from it: to estimate more of the same, or to vary it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from annotation.builds.launch.order import CRITERIA, Judge, Order
from annotation.models import Build
from retrieval.filters import Rule
from retrieval.filters.queries import QueryRule
from retrieval.fusion import Fusion
from retrieval.models import Annotator, Mining

SAME: Final = (
    "name",
    "queries",
    "snippets",
    "provider",
    "model",
    "recorded",
    "limit",
    "batches",
    "reviews_needed",
    "hides_reviews",
)
"""What an order and its build have under one name."""
USUAL: Final[Mapping[str, Any]] = {
    "fix_rounds": 2,
    "sampling": {},
    "rewrites": 1,
    "second_test": False,
    "seed": 1,
    "reader": False,
    "neighbour": False,
    "withhold_report": False,
    "prompt_set": "",
}
"""Switches of an annotator, with what holds where its configuration does not name one."""


def order_of(build: Build) -> Order:
    """`build` as an order, without a budget. Switches that its annotator does not name are the usual ones."""
    config = build.annotator.config
    return Order(
        **{name: getattr(build, name) for name in SAME},
        **read_search_settings(build.mining),
        given=build.pair_list,
        **{name: config.get(name, usual) for name, usual in USUAL.items()},
        fresh=bool(config.get("salt")),
        annotator=judge_of(build.annotator),
        screen_by_query=config.get("screener") == "query",
    )


def read_search_settings(mining: Mining | None) -> dict[str, Any]:
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
    return next(judge for judge, known in CRITERIA.items() if known.value == criterion)
