"""What is known of a model from earlier builds, and what is assumed of one that has not finished any."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from annotation.agents import (
    arbiter,
    fixer,
    neighbour_writer,
    query_screener,
    screener,
    single_llm,
    test_writer,
    tie_breaker,
)
from annotation.builds.launch.estimates.figures import Basis, Range
from annotation.builds.launch.estimates.tokens import SURE, mean_of
from annotation.models import Build, LLMCall
from retrieval.models import Annotator

BUILDS: Final = 3
CALLS: Final = 5_000
"""Calls are read newest first and at most so many of a build: an estimate costs the same after any."""
ENOUGH: Final = 20
"""A mean of fewer says nothing of the next build."""
OTHER_PAIRS: Final = 0.1
"""Other collections are other work: a measured figure is taken to be off by a tenth at the least."""

UNCLEAR: Final = Range(0.2, 0.33, 0.5)
"""Share of pairs that the screener sends on; the paper reports 33 %. Other models and collections differ."""
FIXING: Final = Range(0.0, 0.035, 0.1633)
"""Calls of the fixer for a tested pair: none, as many as functions of CoSQA need a package (3.5 %), or as
many as the paper's programs that did not run (16.33 %)."""
DISPUTED: Final = Range(0.1, 0.25, 0.5)
"""Share of tested pairs on which reader and arbiter differ; docs/quality.md has what was measured."""
AGAIN: Final = Range(1.0, 1.02, 1.15)
"""Calls for each that is needed: a reply that can't be used is asked for once more."""
OUTPUT: Final[Mapping[str, Range]] = MappingProxyType(
    {
        screener.NAME: Range(60, 130, 390),
        single_llm.NAME: Range(80, 160, 480),
        neighbour_writer.NAME: Range(50, 120, 360),
        test_writer.NAME: Range(400, 1200, 3600),
        fixer.NAME: Range(4, 25, 75),
        arbiter.NAME: Range(75, 180, 540),
        tie_breaker.NAME: Range(60, 150, 450),
    }
)
"""Tokens of one reply: the terse ones of the sample's recording, what the prompts ask for, and three times as
much for a model that is wordy or thinks before it answers."""
LEARNT: Final = frozenset({*OUTPUT, query_screener.NAME})
"""The agents whose replies are measured; what nobody has measured of the last two is the screener's."""
REPORT: Final = Range(100, 300, 1000)
"""Tokens of a report as the arbiter reads it: a few assertions, or a long trace."""


@dataclass(frozen=True)
class Experience:
    """Shares, and tokens of one call. `inputs` are means by agent, of those that were measured."""

    unclear: Range
    fixing: Range
    disputed: Range
    again: Range
    outputs: Mapping[str, Range]
    inputs: Mapping[str, float]
    basis: tuple[Basis, ...]


@dataclass(frozen=True)
class Spent:
    """Tokens of some calls of one agent."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def of_model(model: str, kind: Annotator.Kind = Annotator.Kind.AGENTS) -> Experience:
    """What the last finished builds of `model` measured, and what is assumed beside that. Bounded reads.

    Only builds by annotators of this kind: the single LLM leaves nothing unclear and tests nothing.
    """
    builds = find_finished_builds(model, kind)
    spent = agent_calls_of_builds(builds)
    unclear, unclear_basis = unclear_share(builds)
    fixing, fixing_basis = fixing_share(spent)
    again, again_basis = calls_again(builds, spent)
    outputs, output_basis = output_tokens(spent)
    return Experience(
        unclear,
        fixing,
        disputed_share(builds),
        again,
        outputs,
        {agent: mean_of(some.inputs).expected for agent, some in spent.items()},
        (unclear_basis, fixing_basis, again_basis, output_basis),
    )


def find_finished_builds(model: str, kind: Annotator.Kind) -> list[Build]:
    """The last builds of `model` that came to their end and say enough."""
    done = Build.objects.filter(
        model=model, annotator__kind=kind, state=Build.State.DONE, tally__settled__gte=ENOUGH
    )
    done = done.filter(rerun__isnull=True)  # one that began at a later stage says nothing of shares
    done = done.filter(filling__isnull=True)  # what was written for a query is no pair as others are
    return list(done.select_related("tally", "mining").order_by("-finished_at")[:BUILDS])


def agent_calls_of_builds(builds: Sequence[Build]) -> dict[str, Spent]:
    """The newest calls of `builds` by agent, where there are enough whose tokens were told.

    A reply about all candidates of a query is taken for as many as it judges.
    """
    columns = "agent", "input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens"
    rows = defaultdict[str, list[tuple[int, int]]](list)
    for build in builds:
        calls = LLMCall.objects.filter(build=build, status=LLMCall.Status.SUCCEEDED, output_tokens__gt=0)
        for agent, fresh, read, written, out in calls.order_by("-pk").values_list(*columns)[:CALLS]:
            judged = candidates_a_request(build) if agent == query_screener.NAME else 1
            rows[agent].append((fresh + read + written, out // judged))
    return {
        agent: Spent(tuple(taken for taken, _ in some), tuple(given for _, given in some))
        for agent, some in rows.items()
        if len(some) >= ENOUGH
    }


def candidates_a_request(build: Build) -> int:
    """How many candidates a request to the query screener was about, at the most."""
    if build.mining is None:
        queries = build.proposed.order_by().values("query").distinct().count()
        return max(1, min(build.proposed.count() // max(1, queries), query_screener.MOST_AT_ONCE))
    return max(1, min(build.mining.k, query_screener.MOST_AT_ONCE))


def unclear_share(builds: Sequence[Build]) -> tuple[Range, Basis]:
    """The share of the screened pairs that are tested."""
    screened = sum(build.tally.screened for build in builds)
    if not screened:
        note = "The paper reports 33 %; 20 % to 50 % is assumed for other models and collections."
        return UNCLEAR, Basis("Unclear to the screener", "33 % (20 % to 50 %)", "paper", note)
    found = measured_share(sum(build.tally.unclear for build in builds), screened)
    return found, Basis(
        "Unclear to the screener", format_percent_range(found), "measured", describe_measured_builds(builds)
    )


def disputed_share(builds: Sequence[Build]) -> Range:
    """The share of tested pairs that go to the tie breaker."""
    read = sum(build.tally.read for build in builds)
    if read < ENOUGH:
        return DISPUTED
    return measured_share(sum(build.tally.disputed for build in builds), read)


def measured_share(part: int, whole: int) -> Range:
    """A share that was measured, as unsure as so few pairs and other collections make it."""
    share = part / whole
    off = max(SURE * (share * (1 - share) / whole) ** 0.5, OTHER_PAIRS * share)
    return Range(share - off, share, share + off).within(0.0, 1.0)


def fixing_share(spent: Mapping[str, Spent]) -> tuple[Range, Basis]:
    """Calls of the fixer for a tested pair; every tested pair is arbitrated once."""
    arbitrated = spent.get(arbiter.NAME)
    if arbitrated is None:
        note = (
            "3.5 % of CoSQA's functions need a package; in the paper 16.33 % of the programs did not run, "
            "each of which may be asked about in every round."
        )
        return FIXING, Basis(
            "Calls of the fixer for a tested pair", format_percent_range(FIXING), "assumed", note
        )
    asked = len(spent[fixer.NAME].outputs) if fixer.NAME in spent else 0
    share = asked / len(arbitrated.outputs)
    found = Range(share * (1 - OTHER_PAIRS), share, max(share * (1 + OTHER_PAIRS), 0.01))
    note = "" if asked else f"Fewer than {ENOUGH} were needed."
    return found, Basis("Calls of the fixer for a tested pair", format_percent_range(found), "measured", note)


def calls_again(builds: Sequence[Build], spent: Mapping[str, Spent]) -> tuple[Range, Basis]:
    """Calls for each that was needed: repairs, refused programs, retries."""
    tallies = [build.tally for build in builds]
    needed = sum(tally.settled + tally.programs + tally.unclear for tally in tallies)
    made = sum(tally.calls + tally.reused for tally in tallies)
    if not needed or made < needed:
        words = f"{AGAIN.expected} ({AGAIN.low} to {AGAIN.high})"
        note = "A reply that can't be used is asked for once more."
        return AGAIN, Basis("Calls for each that is needed", words, "assumed", note)
    asked = len(spent[fixer.NAME].outputs) if fixer.NAME in spent else 0
    share = max((made - asked) / needed, 1.0)
    found = Range(1.0, share, share + max(share - 1.0, 0.02))
    return found, Basis(
        "Calls for each that is needed", f"{share:.2f}", "measured", describe_measured_builds(builds)
    )


def output_tokens(spent: Mapping[str, Spent]) -> tuple[dict[str, Range], Basis]:
    """Tokens of a reply by agent: measured where there were enough."""
    measured = {agent: widen_range(mean_of(some.outputs)) for agent, some in spent.items() if agent in LEARNT}
    found = {**OUTPUT, **measured}
    words = ", ".join(f"{agent.replace('_', ' ')} {found[agent].expected:.0f}" for agent in OUTPUT)
    missing = [agent.replace("_", " ") for agent in OUTPUT if agent not in measured]
    if not measured:
        note = "No finished build has measured them: what the prompts ask for, up to three times as much."
    else:
        note = f"Assumed for {', '.join(missing)}." if missing else ""
    return found, Basis("Tokens of a reply", words, "measured" if measured else "assumed", note)


def widen_range(found: Range) -> Range:
    off = OTHER_PAIRS * found.expected
    return Range(min(found.low, found.expected - off), found.expected, max(found.high, found.expected + off))


def format_percent_range(share: Range) -> str:
    return f"{100 * share.expected:.3g} % ({100 * share.low:.3g} % to {100 * share.high:.3g} %)"


def describe_measured_builds(builds: Sequence[Build]) -> str:
    """How many builds a figure was measured in; not which, as not everybody may know of each."""
    count = "build" if len(builds) == 1 else f"{len(builds)} builds"
    return f"In the last finished {count} of this model."
