"""The papers' ways as names: what every switch is set to, and who goes that way.

`paper` is CoSQA+ with test-driven agents, `first-paper` its first version, where one model labels alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any, Final

from annotation.builds.launch.order import AS_IN_THE_PAPER, Judge, LaunchRefused, Order
from retrieval.filters import USUAL_RULE, Rule
from retrieval.fusion import Fusion

SWITCHES: Final[Mapping[str, Any]] = MappingProxyType(
    {"annotator": Judge.AGENTS, "screen_by_query": False}
    | {name: value for name, value in AS_IN_THE_PAPER.items() if name != "screener"}
)
"""`AS_IN_THE_PAPER` as an order says it: there the screener is told by `screen_by_query`."""

WORDS: Final = "As in the paper"
ENCODERS: Final = ("codebert", "unixcoder", "codet5p")
"""The encoders of both papers, whose cosines are averaged."""
K: Final = 20
"""Candidates of a query, by the mean of the encoders' cosines, of functions that are testable."""
FIRST_K: Final = 5
FIRST_ROUNDS: Final = 3
NAMES: Final = ("paper", "first-paper")


def in_profile(order: Order, profile: str) -> list[Order]:
    """The orders that a profile makes of one; without a profile the order as it is.

    Raises LaunchRefused where a switch was set against it.
    """
    if profile == "first-paper":
        return as_in_the_first_paper(order)
    return [as_in_the_paper(order) if profile else order]


def as_in_the_first_paper(order: Order) -> list[Order]:
    """One model alone on five candidates in three rounds, by both criteria: a build for each.

    Both read the same answers, so the second build pays nothing.
    """
    alone = replace(order, k=FIRST_K, rounds=FIRST_ROUNDS, rule=rule_of_paper(order.rule))
    criteria = {"exact": Judge.SINGLE_EXACT, "half": Judge.SINGLE_HALF}
    name = order.name.strip()
    return [replace(alone, name=f"{name} {word}", annotator=judge) for word, judge in criteria.items()]


def as_in_the_paper(order: Order) -> Order:
    """`order` with every switch at the paper's value.

    Raises LaunchRefused where a switch was set to something that is neither that nor the usual value.
    """
    against = list(find_contradicting_switches({name: getattr(order, name) for name in SWITCHES}))
    if against:
        raise LaunchRefused(
            f"{WORDS} means {', '.join(map(format_paper_switch, against))}: leave that out, or the profile."
        )
    return replace(order, rule=rule_of_paper(order.rule), **SWITCHES)


def rule_of_paper(rule: Rule) -> Rule:
    """Which functions are searched: the papers' rule in the place of the usual one, else what was chosen."""
    return Rule.TESTABLE if rule == USUAL_RULE else rule


def find_contradicting_switches(said: Mapping[str, Any]) -> Iterator[str]:
    """The switches in `said` that were set otherwise on purpose: neither as usual nor as in the paper."""
    usual = {field.name: field.default for field in fields(Order)}
    for name, value in SWITCHES.items():
        if said.get(name) not in (None, "", value, usual[name]):
            yield name


def format_paper_switch(switch: str) -> str:
    """`rewrites 0`, `no second_test`."""
    value = SWITCHES[switch]
    return f"no {switch}" if value is False else f"{switch} {value}"


def describe_other_mining(encoders: Sequence[str], k: int, fusion: str, rule: Rule) -> str:
    """Describe how a mining differs from the paper's; empty if it does not.

    The paper's CodeBERT was tuned on CodeSearchNet: `codebert-csn`, or `codebert` with weights of one's own.
    """
    kinds = {name.partition(":")[0].removesuffix("-csn") for name in encoders}
    untuned = "codebert" in encoders and kinds == set(ENCODERS)
    told = [
        f"encoders {', '.join(encoders)}" if kinds != set(ENCODERS) else "",
        "codebert that was not tuned on CodeSearchNet" if untuned else "",
        f"{k} candidates a query" if k != K else "",
        f"fusion {fusion}" if fusion != Fusion.MEAN else "",
        "another rule than testable" if rule != Rule.TESTABLE else "",
    ]
    return "; ".join(filter(None, told))


MINING_WORDS: Final = (
    f"encoders {', '.join(ENCODERS)}; {K} candidates a query; fusion {Fusion.MEAN}; rule testable"
)
