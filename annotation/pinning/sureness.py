"""How sure a pinned order of systems is: label noise, and ranks without one encoder of the mining."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from annotation.pinning import values
from retrieval.evaluation.leaderboard import Leaderboard, Queries, digests_of
from retrieval.evaluation.leaving_out import Without, kept_without, left_out_again
from retrieval.evaluation.noise import ASSUMED, ErrorRates, computed, noise_of
from retrieval.evaluation.searching_again import NotStored, remembered
from retrieval.metrics.from_ranks import is_from_ranks
from retrieval.models import Benchmark, Run

Part = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Errors:
    """Shares of labels that are taken to be wrong, and the study (id) that found them.

    `wait`: draw them however long it takes; else only where a page would have them.
    """

    rates: ErrorRates = ASSUMED
    study: int | None = None
    wait: bool = False


AS_PAGES: Final = Errors()


def parts(board: Leaderboard, queries: Queries, errors: Errors) -> Iterator[tuple[str, Part, Part]]:
    """Yield (key, what was asked, what came out) of each of the two that was computed."""
    ordered, rates = board.ordered, errors.rates
    found = noise_of(
        board.benchmark, ordered, digests_of(ordered), board.metric, queries, rates, wait=errors.wait
    )
    if found is not None:
        asked = {
            "matches": rates.matches,
            "others": rates.others,
            "matches_of": rates.matches_of,
            "others_of": rates.others_of,
            "source": rates.source,
            "study": errors.study,
            "draws": found.draws,
            "seed": found.seed,
        }
        yield "noise", asked, drawn(ordered, found.above, found.ranks)
    without = kept_without(board, queries) if is_from_ranks(board.metric) else []
    if without:
        names = {"encoders": [one.encoder for one in without], "identities": identities_of(board.benchmark)}
        yield "without", names, {one.encoder: ranked(ordered, one) for one in without}


def drawn(ordered: Sequence[Run], above: Sequence[float], ranks: Sequence[Sequence[int]]) -> Part:
    """Shares of draws by the better of two neighbours, ends of ranks by each run."""
    names = [values.named(run) for run in ordered]
    shares = {better: share for (better, _), share in zip(pairwise(names), above, strict=True)}
    return {"above": shares, "ranks": {name: list(ends) for name, ends in zip(names, ranks, strict=True)}}


def ranked(ordered: Sequence[Run], found: Without) -> Part:
    return {
        "labels": found.labels,
        "matches": found.matches,
        "values": {values.named(run): found.values.get(run.pk) for run in ordered},
        "ranks": {values.named(run): found.ranks.get(run.pk) for run in ordered},
    }


def noise_now(benchmark: Benchmark, ordered: Sequence[Run], subject: Part) -> Part:
    """The draws that were pinned, made again from labels and lists."""
    asked = subject["noise"]
    counts = asked.get("matches_of", 0), asked.get("others_of", 0)  # older pins took each share as it is
    rates = ErrorRates(asked["matches"], asked["others"], asked["source"], *counts)
    found = computed(
        benchmark, ordered, subject["metric"], queries_of(subject), rates, asked["draws"], asked["seed"]
    )
    return drawn(ordered, found["above"], found["ranks"])


def without_now(
    benchmark: Benchmark, ordered: Sequence[Run], subject: Part, vectors: Path, tick: Callable[[], None]
) -> Part:
    """Ranks without each encoder that was pinned, mined again from stored vectors. Raises NotStored."""
    since = identities_of(benchmark)  # an older mining may have told them later
    identities = {**(since or {}), **(subject["without"]["identities"] or {})}
    refuse_untold(benchmark, identities)
    known = {name: remembered(name, identity, vectors) for name, identity in identities.items()}
    found = dict[str, Part]()
    for name in subject["without"]["encoders"]:
        one = left_out_again(
            benchmark, ordered, subject["metric"], queries_of(subject), name, vectors, known.__getitem__
        )
        found[name] = ranked(ordered, one)
        tick()
    return found


def identities_of(benchmark: Benchmark) -> dict[str, str] | None:
    """By encoder what it was in the minings; None where none of them says it."""
    told = [mining.identities for mining in reversed(benchmark.minings) if mining.identities]
    return {name: identity for one in told for name, identity in one.items()} or None


def refuse_untold(benchmark: Benchmark, identities: Mapping[str, str]) -> None:
    """Raises NotStored where it is not known what the encoders were, or two minings had others of a name."""
    minings = benchmark.minings
    untold = [one for one in minings if set(one.encoders) - set(identities)]
    if untold or not minings:
        number = untold[0].pk if untold else benchmark.mining_id
        raise NotStored(
            "the mining does not say which weights its encoders had; "
            f"'manage.py mine {number} --identify' finds them where their vectors are stored"
        )
    told = identities_of(benchmark) or {}
    for one in minings:
        for name, identity in (one.identities or {}).items():
            if told[name] != identity:
                raise NotStored(f"{name} was {told[name]} in one mining and {identity} in mining {one.pk}")


def queries_of(subject: Part) -> Queries:
    return Queries(subject["fewest"], subject["most"])
