"""A leaderboard as a pin: systems by metrics, differences, and how sure the order is.

How sure: by label noise, and by ranks without one encoder of the mining, where either was computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from django.contrib.auth.models import User

from annotation.pins.pin_record import (
    NothingToPin,
    benchmark_with,
    collect_code_versions,
    find_pinned_run,
    format_run_identity,
    identify_run,
    last_benchmark_event,
    note_altered_runs,
    store_pin,
)
from retrieval.evaluation.leaderboard import (
    Leaderboard,
    NotMeasured,
    PairedDifference,
    Queries,
    build_leaderboard,
    digests_of,
    refuse_another,
)
from retrieval.evaluation.query_scores import Figure
from retrieval.evaluation.robustness.label_noise import ASSUMED, ErrorRates, noise_of, simulate_label_noise
from retrieval.evaluation.robustness.left_out_encoder import Without, kept_without, left_out_again
from retrieval.evaluation.robustness.recomputation import computed_again
from retrieval.evaluation.runs.stored_search import NotStored, restore_run_encoder
from retrieval.metrics.from_ranks import is_from_ranks
from retrieval.metrics.names import parse_measures
from retrieval.metrics.resampling import RANKING_SEED, RESAMPLES, SIGN_FLIPS
from retrieval.models import Benchmark, Pin, Pool, Run

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


def pin_leaderboard(
    benchmark: Benchmark,
    pool: str = "",
    metric: str = "",
    fewest: int = 1,
    most: int | None = None,
    by: User | None = None,
    errors: Errors = AS_PAGES,
) -> Pin:
    """Pin the leaderboard that these options show; the same figures have one pin. Raises NothingToPin.

    Label noise and ranks without an encoder are parts of it where they were computed.
    """
    found = build_leaderboard(benchmark, pool or benchmark.pool, metric, fewest, most)
    if not found.standings:
        searched = Pool(pool or benchmark.pool).label
        raise NothingToPin(f"{benchmark} has no run over {searched} yet, so there is no figure to pin.")
    try:
        refuse_another(found, metric)
    except NotMeasured as why:
        raise NothingToPin(str(why)) from why
    runs = [standing.run for standing in found.standings]
    subject = {
        "benchmark": str(benchmark),
        "pool": pool or benchmark.pool,
        "metric": found.metric,
        "fewest": fewest,
        "most": most,
        "runs": [identify_run(run, name=format_run_identity(run)) for run in runs],
        "seed": RANKING_SEED,
        "resamples": RESAMPLES,
        "flips": SIGN_FLIPS,
    }
    figures = {standing.run: standing.figures for standing in found.standings}
    value = serialize_leaderboard(figures, found.differences, found.queries)
    for key, asked, came_out in compute_sureness_parts(found, Queries(fewest, most), errors):
        subject[key], value[key] = asked, came_out
    title = f"{benchmark} by {found.metric}: {len(runs)} systems"
    return store_pin(Pin.Kind.LEADERBOARD, title, subject, value, ground_of(benchmark, runs), by)


def ground_of(benchmark: Benchmark, runs: Iterable[Run]) -> dict[str, Any]:
    """What a leaderboard's figures rest on."""
    return {
        "benchmark": benchmark.digest,
        "labels": benchmark.size,
        "event": last_benchmark_event(benchmark),
        "runs": {format_run_identity(run): run.code_version for run in runs},
        "code": collect_code_versions(),
    }


def serialize_leaderboard(
    figures: Mapping[Run, Mapping[str, Figure]], differences: Sequence[PairedDifference], queries: int
) -> dict[str, Any]:
    """A leaderboard's figures. Runs go by the hash of their lists, which another database has too."""
    return {
        "queries": queries,
        "figures": {
            format_run_identity(run): {name: asdict(figure) for name, figure in of_run.items()}
            for run, of_run in figures.items()
        },
        "differences": [
            {
                "better": format_run_identity(row.better),
                "other": format_run_identity(row.other),
                "value": row.value,
                "interval": asdict(row.interval),
                "p": row.p,
            }
            for row in differences
        ],
    }


def leaderboard_now(pin: Pin, tick: Callable[[], None]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A leaderboard's figures and grounds as they are now; without its benchmark or a run, without those."""
    subject, ground = pin.subject, dict(pin.ground)
    benchmark = benchmark_of_pin(pin)
    if benchmark is None:
        return {}, {**ground, "benchmark": None, "labels": None}
    asked = {
        run: parse_measures(pin.value["figures"][told["name"]])
        for told in subject["runs"]
        if pin.value["figures"].get(told["name"])
        and (run := run_of_pin(benchmark, subject, told)) is not None
    }
    found = computed_again(benchmark, asked, subject["metric"], queries_of_pin_subject(subject), tick)
    figures = {run: found.figures[run.pk] for run in asked}
    now = serialize_leaderboard(figures, found.differences, found.queries)
    for told in subject["runs"]:  # a run without any metric has nothing to compute
        if not pin.value["figures"].get(told["name"]):
            now["figures"][told["name"]] = {}
    if "noise" in subject:
        now["noise"] = noise_now(benchmark, ordered_of(pin, benchmark), subject)
        tick()
    ground |= {
        "benchmark": benchmark.digest,
        "labels": benchmark.labels.count(),
        "event": last_benchmark_event(benchmark),
    }
    return now, ground | note_altered_runs({run: found.digests[run.pk] for run in asked})


def ordered_of(pin: Pin, benchmark: Benchmark) -> list[Run]:
    """The pin's runs that have its metric and are still there, the best first."""
    figures, metric = pin.value["figures"], pin.subject["metric"]
    wanted = [told for told in pin.subject["runs"] if metric in figures[told["name"]]]
    found = [run_of_pin(benchmark, pin.subject, told) for told in wanted]
    return [run for run in found if run is not None]


def benchmark_of_pin(pin: Pin) -> Benchmark | None:
    return benchmark_with(pin.ground["benchmark"], pin.subject["benchmark"])


def run_of_pin(benchmark: Benchmark, subject: Part, told: Mapping[str, str]) -> Run | None:
    return find_pinned_run(benchmark.runs.all(), subject["pool"], told)


def compute_sureness_parts(
    board: Leaderboard, queries: Queries, errors: Errors
) -> Iterator[tuple[str, Part, Part]]:
    """Yield (key, what was asked, what came out) of each of the two that was computed."""
    ordered, rates = board.ordered, errors.rates
    found = noise_of(
        board.benchmark, ordered, digests_of(ordered), board.metric, queries, rates, wait=errors.wait
    )
    if found is not None:
        asked = asdict(rates) | {"study": errors.study, "draws": found.draws, "seed": found.seed}
        yield "noise", asked, summarize_rank_draws(ordered, found.above, found.ranks)
    without = kept_without(board, queries) if is_from_ranks(board.metric) else []
    if without:
        names = {"encoders": [one.encoder for one in without], "identities": identities_of(board.benchmark)}
        yield "without", names, {one.encoder: summarize_encoder_ablation(ordered, one) for one in without}


def summarize_rank_draws(
    ordered: Sequence[Run], above: Sequence[float], ranks: Sequence[Sequence[int]]
) -> Part:
    """Shares of draws by the better of two neighbours, ends of ranks by each run."""
    names = [format_run_identity(run) for run in ordered]
    shares = {better: share for (better, _), share in zip(pairwise(names), above, strict=True)}
    return {"above": shares, "ranks": {name: list(ends) for name, ends in zip(names, ranks, strict=True)}}


def summarize_encoder_ablation(ordered: Sequence[Run], found: Without) -> Part:
    return {
        "labels": found.labels,
        "matches": found.matches,
        "values": {format_run_identity(run): found.values.get(run.pk) for run in ordered},
        "ranks": {format_run_identity(run): found.ranks.get(run.pk) for run in ordered},
    }


def noise_now(benchmark: Benchmark, ordered: Sequence[Run], subject: Part) -> Part:
    """The draws that were pinned, made again from labels and lists."""
    asked = subject["noise"]
    counts = asked.get("matches_of", 0), asked.get("others_of", 0)  # older pins took each share as it is
    rates = ErrorRates(asked["matches"], asked["others"], asked["source"], *counts)
    found = simulate_label_noise(
        benchmark,
        ordered,
        subject["metric"],
        queries_of_pin_subject(subject),
        rates,
        asked["draws"],
        asked["seed"],
    )
    return summarize_rank_draws(ordered, found["above"], found["ranks"])


def without_now(
    benchmark: Benchmark, ordered: Sequence[Run], subject: Part, vectors: Path, tick: Callable[[], None]
) -> Part:
    """Ranks without each encoder that was pinned, mined again from stored vectors. Raises NotStored."""
    since = identities_of(benchmark)  # an older mining may have told them later
    identities = {**(since or {}), **(subject["without"]["identities"] or {})}
    refuse_untold(benchmark, identities)
    known = {name: restore_run_encoder(name, identity, vectors) for name, identity in identities.items()}
    found = dict[str, Part]()
    for name in subject["without"]["encoders"]:
        one = left_out_again(
            benchmark,
            ordered,
            subject["metric"],
            queries_of_pin_subject(subject),
            name,
            vectors,
            known.__getitem__,
        )
        found[name] = summarize_encoder_ablation(ordered, one)
        tick()
    return found


def identities_of(benchmark: Benchmark) -> dict[str, str] | None:
    """By encoder what it was in the minings; None where none of them says it."""
    told = [mining.identities for mining in reversed(benchmark.minings) if mining.identities]
    return {name: identity for one in told for name, identity in one.items()} or None


def refuse_untold(benchmark: Benchmark, identities: Mapping[str, str]) -> None:
    """Raises NotStored where it is not known what the encoders were, or two minings had others of a name."""
    minings = benchmark.minings
    untold = [mining for mining in minings if set(mining.encoders) - set(identities)]
    if untold or not minings:
        number = untold[0].pk if untold else benchmark.mining_id
        raise NotStored(
            "the mining does not say which weights its encoders had; "
            f"'cosqa admin mine {number} --identify' finds them where their vectors are stored"
        )
    told = identities_of(benchmark) or {}
    for mining in minings:
        for name, identity in (mining.identities or {}).items():
            if told[name] != identity:
                raise NotStored(f"{name} was {told[name]} in one mining and {identity} in mining {mining.pk}")


def queries_of_pin_subject(subject: Part) -> Queries:
    return Queries(subject["fewest"], subject["most"])
