"""The paper's way as a name: what every switch of the test-driven agents is set to, and who goes that way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any, Final

from annotation.launching import Judge, LaunchRefused, Order

SWITCHES: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "annotator": Judge.AGENTS,
        "screen_by_query": False,
        "rewrites": 0,
        "second_test": False,
        "fix_rounds": 2,
        "reader": False,
        "neighbour": False,
        "withhold_report": False,
        "prompt_set": "paper",
    }
)
"""`launching.AS_IN_THE_PAPER` as an order says it."""

WORDS: Final = "As in the paper"


def as_in_the_paper(order: Order) -> Order:
    """`order` with every switch at the paper's value.

    Raises LaunchRefused where a switch was set to something that is neither that nor the usual value.
    """
    against = list(contradicting({name: getattr(order, name) for name in SWITCHES}))
    if against:
        raise LaunchRefused(
            f"{WORDS} means {', '.join(map(in_words, against))}: leave that out, or the profile."
        )
    return replace(order, **SWITCHES)


def contradicting(said: Mapping[str, Any]) -> Iterator[str]:
    """The switches in `said` that were set otherwise on purpose: neither as usual nor as in the paper."""
    usual = {field.name: field.default for field in fields(Order)}
    for name, value in SWITCHES.items():
        if said.get(name) not in (None, "", value, usual[name]):
            yield name


def in_words(switch: str) -> str:
    """`rewrites 0`, `no second_test`."""
    value = SWITCHES[switch]
    return f"no {switch}" if value is False else f"{switch} {value}"
