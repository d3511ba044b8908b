"""The papers' ways as names: what every switch is set to, and who goes that way.

`paper` is CoSQA+ with test-driven agents, `first-paper` its first version, where one model labels alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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

    Raises LaunchRefused where a switch or the mining was set against it.
    """
    if profile == "first-paper":
        return as_in_the_first_paper(order)
    return [as_in_the_paper(order) if profile else order]


def as_in_the_first_paper(order: Order) -> list[Order]:
    """One model alone on five candidates in three rounds, by both criteria: a build for each.

    Both read the same answers, so the second build pays nothing. Raises LaunchRefused as `as_in_the_paper`.
    """
    mined = as_mined_in_the_paper(order, FIRST_K)
    alone = replace(mined, rounds=FIRST_ROUNDS)
    criteria = {"exact": Judge.SINGLE_EXACT, "half": Judge.SINGLE_HALF}
    name = order.name.strip()
    return [replace(alone, name=f"{name} {word}", annotator=judge) for word, judge in criteria.items()]


def as_in_the_paper(order: Order) -> Order:
    """`order` with every switch at the paper's value, and mined as in the paper; given pairs stay given.

    Raises LaunchRefused where a switch was set to something that is neither that nor the usual value, and
    where another mining was chosen.
    """
    switches = find_contradicting_switches({name: getattr(order, name) for name in SWITCHES})
    refuse_contradictions(map(format_paper_switch, switches))
    return replace(as_mined_in_the_paper(order, K), **SWITCHES)


def as_mined_in_the_paper(order: Order, k: int) -> Order:
    """`order` with the papers' mining of `k` candidates a query; given pairs are not mined.

    Raises LaunchRefused where another mining was chosen.
    """
    if order.given is not None:
        return order
    changed = replace(order, rule=rule_of_paper(order.rule), k=k if order.k == K else order.k)
    against = find_contradicting_mining({name: getattr(changed, name) for name in mining_of_paper(k)}, k)
    refuse_contradictions(mining_of_paper(k)[name] for name in against)
    return changed


def refuse_contradictions(wanted: Iterable[str]) -> None:
    """Raise LaunchRefused with what the paper does, where the order says otherwise."""
    if told := ", ".join(wanted):
        raise LaunchRefused(f"{WORDS} means {told}: leave that out, or the profile.")


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


def mining_of_paper(k: int = K) -> dict[str, str]:
    """The papers’ mining in words, by field of an order."""
    return {
        "encoders": f"encoders {', '.join(ENCODERS)}",
        "k": f"k {k}",
        "fusion": f"fusion {Fusion.MEAN}",
        "rule": "rule testable",
        "text_option": "text whole",
        "approximate": "exact search",
    }


def find_contradicting_mining(said: Mapping[str, Any], k: int = K) -> Iterator[str]:
    """The fields of `said` that make another mining than the papers'; what is not said contradicts nothing.

    Which CodeBERT it is says a warning (`is_codebert_untuned`): the tuned one has no name that all have.
    """
    paper = {"k": k, "fusion": Fusion.MEAN, "rule": Rule.TESTABLE, "text_option": "whole", "approximate": ""}
    if sorted(map(kind_of_encoder, said.get("encoders", ENCODERS))) != sorted(ENCODERS):
        yield "encoders"
    yield from (name for name, value in paper.items() if said.get(name, value) != value)


def kind_of_encoder(name: str) -> str:
    """`codebert` of `codebert:/folder` and `codebert-csn:/folder`."""
    return name.partition(":")[0].removesuffix("-csn")


def is_codebert_untuned(encoders: Sequence[str]) -> bool:
    """Whether a mining has the CodeBERT that was never tuned for search.

    The papers' was tuned on CodeSearchNet: `codebert-csn`, or `codebert` with weights of one's own.
    """
    return "codebert" in encoders


def describe_other_mining(encoders: Sequence[str], k: int, fusion: str, rule: Rule) -> str:
    """Describe how a stored mining differs from the paper's; empty if it does not."""
    said = {"encoders": encoders, "k": k, "fusion": fusion, "rule": rule}
    words = {
        "encoders": f"encoders {', '.join(encoders)}",
        "k": f"{k} candidates a query",
        "fusion": f"fusion {fusion}",
        "rule": "another rule than testable",
    }
    against = list(find_contradicting_mining(said))
    told = [words[name] for name in against]
    if "encoders" not in against and is_codebert_untuned(encoders):
        told.append("codebert that was not tuned on CodeSearchNet")
    return "; ".join(told)


MINING_WORDS: Final = (
    f"encoders {', '.join(ENCODERS)}; {K} candidates a query; fusion {Fusion.MEAN}; rule testable"
)
