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
            "source": rates.source,
            "study": errors.study,
            "draws": found.draws,
            "seed": found.seed,
        }
        yield "noise", asked, drawn(ordered, found.above, found.ranks)
    without = kept_without(board, queries) if is_from_ranks(board.metric) else []
    if without and (mining := board.benchmark.mining):
        names = {"encoders": [one.encoder for one in without], "identities": mining.identities}
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
    rates = ErrorRates(asked["matches"], asked["others"], asked["source"])
    found = computed(
        benchmark, ordered, subject["metric"], queries_of(subject), rates, asked["draws"], asked["seed"]
    )
    return drawn(ordered, found["above"], found["ranks"])


def without_now(
    benchmark: Benchmark, ordered: Sequence[Run], subject: Part, vectors: Path, tick: Callable[[], None]
) -> Part:
    """Ranks without each encoder that was pinned, mined again from stored vectors. Raises NotStored."""
    since = benchmark.mining.identities if benchmark.mining else None
    identities = subject["without"]["identities"] or since or {}  # an older mining may have told them later
    known = {name: remembered(name, identity, vectors) for name, identity in identities.items()}
    mined = benchmark.mining.encoders if benchmark.mining else []
    if not mined or set(mined) - set(known):
        raise NotStored(
            "the mining does not say which weights its encoders had; "
            f"'manage.py mine {benchmark.mining_id} --identify' finds them where their vectors are stored"
        )
    found = dict[str, Part]()
    for name in subject["without"]["encoders"]:
        one = left_out_again(
            benchmark, ordered, subject["metric"], queries_of(subject), name, vectors, known.__getitem__
        )
        found[name] = ranked(ordered, one)
        tick()
    return found


def queries_of(subject: Part) -> Queries:
    return Queries(subject["fewest"], subject["most"])
