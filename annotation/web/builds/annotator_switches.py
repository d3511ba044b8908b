"""An annotator's switches as the page of its build says them: what its version rests on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from annotation.builds.launch.paper_profile import MINING_WORDS, describe_other_mining
from annotation.models import Build
from retrieval.filters import Rule
from retrieval.models import Annotator

_SHOWN = 12
"""Characters of a version's hash: the first of those by which the API and exports name it."""


@dataclass(frozen=True, slots=True)
class Switch:
    """One line of the order's card. `paper`: what the paper does where that is something else."""

    name: str
    value: str
    paper: str = ""


def list_annotator_switches(annotator: Annotator) -> tuple[Switch, ...]:
    """Version, profile, switches and sampling; what an earlier annotator does not name is left out."""
    return tuple(_all(annotator))


def list_mining_switches(build: Build) -> tuple[Switch, ...]:
    """How the mining of a build as in the paper differs from the paper's; nothing where it does not."""
    mining = build.mining
    if mining is None or build.annotator.config.get("profile") != "paper":
        return ()
    told = describe_other_mining(mining.encoders, mining.k, mining.fusion, Rule(mining.rule))
    return (Switch("Mining", told, MINING_WORDS),) if told else ()


def _all(annotator: Annotator) -> Iterator[Switch]:
    config = annotator.config
    yield Switch("Version", annotator.version[:_SHOWN])
    if annotator.kind == Annotator.Kind.AGENTS:
        yield Switch("Profile", "as in the paper" if config.get("profile") == "paper" else "none")
        yield from _of_agents(annotator)
    sampling = ", ".join(f"{name} {value}" for name, value in sorted(config.get("sampling", {}).items()))
    yield Switch("Sampling", sampling or "the provider's own")
    yield Switch("Earlier replies", "asked again" if config.get("salt") else "used again")


def _of_agents(annotator: Annotator) -> Iterator[Switch]:
    config = annotator.config
    if config.get("screener") == "query":
        yield Switch("Screening", f"by query, shuffled by seed {config.get('seed', 1)}", "one request a pair")
    elif "screener" in config:
        yield Switch("Screening", "one request a pair")
    if "reader" in config:
        yield Switch("Reader", *(("with the arbiter", "none") if config["reader"] else ("none",)))
    if "neighbour" in config:
        yield Switch(
            "Neighbour of the task", *(("tests each test", "none") if config["neighbour"] else ("none",))
        )
    if "withhold_report" in config:
        for_people = ("for people alone", "for the arbiter too")
        shown = for_people if config["withhold_report"] else ("for the arbiter too",)
        yield Switch("Report of the run", *shown)
    if "rewrites" in config:
        yield _number("Rewrites", config["rewrites"], 0)
    if "second_test" in config:
        yield Switch("Second test", *(("yes", "no") if config["second_test"] else ("no",)))
    if "fix_rounds" in config:
        yield _number("Fixing rounds", config["fix_rounds"], 2)


def _number(name: str, value: int, paper: int) -> Switch:
    return Switch(name, str(value), "" if value == paper else str(paper))
