"""How sure an order of systems is when some labels are wrong: labels are flipped at random, again and again.

Labels are taken as true everywhere else, but 2 to 4 % of wrong ones reorder benchmarks (Northcutt et al.
2021). A draw flips each label with the probability that it is wrong, measures every system by what comes
out, on those of the board's queries that have a match then, and sees who stands above whom. Where that
probability was counted on a few labels, each draw takes another one that these few leave open.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from retrieval.evaluation.content import content_of
from retrieval.evaluation.judged_pairs import JudgedPairs
from retrieval.evaluation.leaderboard import Digests, Queries, kept_by
from retrieval.evaluation.runs.system_run import code_version
from retrieval.metrics.from_ranks import Ranked, is_from_ranks, per_query
from retrieval.metrics.resampling import RANKING_SEED, SIMULATED_DRAWS
from retrieval.models import Benchmark, KeptFigures, Run

MOST_AT_ONCE: Final = 300_000
"""Labels times runs that a page may wait for, some two seconds; more are computed by a command."""

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """The share of labels that are wrong, among matches and among the others; `source` says who says so.

    `matches_of` and `others_of`: how many labels each was counted on; 0 for one that is taken as it is.
    """

    matches: float
    others: float
    source: str
    matches_of: float = 0
    others_of: float = 0

    def __post_init__(self) -> None:
        """Raises ValueError for what is no share, or no number of labels."""
        if not (0 <= self.matches <= 1 and 0 <= self.others <= 1):
            raise ValueError("a share of wrong labels lies between 0 and 1")
        if not (0 <= self.matches_of < math.inf and 0 <= self.others_of < math.inf):
            raise ValueError("a share is counted on a number of labels")

    def drawn(self, random: np.random.Generator) -> tuple[float, float]:
        """Both shares for one draw."""
        return _share(self.matches, self.matches_of, random), _share(self.others, self.others_of, random)


def _share(share: float, of: float, random: np.random.Generator) -> float:
    """A share as `of` labels leave it open: Jeffreys' posterior, Beta(wrong + 1/2, right + 1/2).

    None wrong of nine is no proof that none ever is: the mean of the draws is 5 % then.
    """
    return float(random.beta(share * of + 0.5, (1 - share) * of + 0.5)) if of else share


ASSUMED: Final = ErrorRates(
    0.061, 0.061, "an assumption: the paper's newest figure, 93.9 % right of 1,000 verified pairs"
)


@dataclass(frozen=True, slots=True)
class Noise:
    """`above`: the share of draws in which a run stays above the next one, a tie counting half; `ranks`: by
    run, in the order of the runs, the ranks between which it stands in 95 % of the draws.
    """

    rates: ErrorRates
    metric: str
    draws: int
    seed: int
    above: Sequence[float]
    ranks: Sequence[tuple[int, int]]


def noise_of(
    benchmark: Benchmark,
    ordered: Sequence[Run],
    digests: Digests,
    metric: str,
    queries: Queries,
    rates: ErrorRates = ASSUMED,
    *,
    wait: bool = False,
) -> Noise | None:
    """The draws for runs in their order, kept; None where they say nothing, or would take a page too long.

    `wait` computes them however long it takes.
    """
    if len(ordered) < 2 or not is_from_ranks(metric) or not queries.chosen(benchmark).any():
        return None
    key = kept_by(
        benchmark,
        noise=[(run.digest, digests[run.pk][metric]) for run in ordered],
        metric=metric,
        queries=asdict(queries),
        rates=[rates.matches, rates.others, rates.matches_of, rates.others_of],
        draws=SIMULATED_DRAWS,
        seed=RANKING_SEED,
    )
    data = KeptFigures.objects.found({key: key}).get(key)
    if data is None:
        if not wait and benchmark.size * len(ordered) > MOST_AT_ONCE:
            return None
        data = simulate_label_noise(benchmark, ordered, metric, queries, rates)
        KeptFigures.objects.keep(benchmark, key, code_version(), data)
    ranks = [(int(low), int(high)) for low, high in data["ranks"]]
    return Noise(rates, metric, SIMULATED_DRAWS, RANKING_SEED, data["above"], ranks)


def simulate_label_noise(
    benchmark: Benchmark,
    ordered: Sequence[Run],
    metric: str,
    queries: Queries,
    rates: ErrorRates,
    draws: int = SIMULATED_DRAWS,
    seed: int = RANKING_SEED,
) -> Mapping[str, Any]:
    """What is kept of the draws."""
    pairs = JudgedPairs.of(content_of(benchmark))
    ranked = [pairs.ranked(run) for run in ordered]
    means = drawn_means(pairs.relevance, ranked, metric, queries.chosen(benchmark), rates, draws, seed)
    apart = means[:-1] - means[1:]
    above = (apart > 0).mean(axis=1) + (apart == 0).mean(axis=1) / 2
    # Of equal means the one that stands higher in the table keeps its place.
    places = np.argsort(np.argsort(-means, axis=0, kind="stable"), axis=0) + 1
    ends = np.percentile(places, [2.5, 97.5], axis=1, method="nearest").T
    return {"above": above.tolist(), "ranks": ends.astype(int).tolist()}


def drawn_means(
    relevance: Doubles,
    ranked: Sequence[Ranked],
    metric: str,
    chosen: npt.NDArray[np.bool_],
    rates: ErrorRates,
    draws: int = SIMULATED_DRAWS,
    seed: int = RANKING_SEED,
) -> Doubles:
    """The mean of each run in each draw, shape (runs, draws); 0 in a draw that leaves no match.

    A match becomes no match; what is none becomes a match of relevance 1. The same flips for all runs, so
    that a draw compares them on the same labels.
    """
    random = np.random.default_rng(seed)
    opposite = np.where(relevance > 0, 0.0, 1.0)
    means = np.zeros((len(ranked), draws))
    for draw in range(draws):
        wrong = np.where(relevance > 0, *rates.drawn(random))
        flipped = np.where(random.random(len(relevance)) < wrong, opposite, relevance)
        for row, one in enumerate(ranked):
            values = per_query(metric, one, flipped)[chosen]
            known = np.isfinite(values)
            means[row, draw] = values[known].mean() if known.any() else 0.0
    return means
