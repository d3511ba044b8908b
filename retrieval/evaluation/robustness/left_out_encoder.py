"""Would systems stand in another order had one encoder not helped to mine the candidates?

A pool favours who filled it (Zobel 1998; Buckley et al. 2007). For each encoder of the minings the candidates
are mined again without it, by each mining that it took part in; what only it brought is taken out of the
benchmark, and the systems are ranked by what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from retrieval.encoders import Encoder
from retrieval.evaluation.content import Content, content_of
from retrieval.evaluation.judged_pairs import Ints, JudgedPairs
from retrieval.evaluation.leaderboard import Chosen, Digests, Leaderboard, Queries, digests_of, kept_by
from retrieval.evaluation.runs.system_run import code_version
from retrieval.fusion import Fusion
from retrieval.index import StageProgress, mine_best_snippets
from retrieval.index.vectors import VectorStore
from retrieval.metrics.from_ranks import is_from_ranks, per_query
from retrieval.mining import OtherWeights, input_texts, known_encoders, match_encoder_precision
from retrieval.models import Benchmark, Candidate, KeptFigures, Mining, Pool, Run

ROWS_A_READ = 2000
EncoderOf = Callable[[str], Encoder]
"""An encoder by its name."""


class NothingToLeaveOut(ValueError):
    """There is no mining by several encoders, or no figure that could be computed; the message says which."""


@dataclass(frozen=True, slots=True)
class Without:
    """What is left without one encoder: labels, and by run its mean and its rank; None where undefined."""

    encoder: str
    labels: int
    matches: int
    values: Mapping[int, float | None]
    ranks: Mapping[int, int]


def encoders_of(benchmark: Benchmark) -> list[str]:
    """Those that can be left out: several of them found the candidates, together or in one mining each."""
    names = dict.fromkeys(name for mining in benchmark.minings for name in mining.encoders)
    return list(names) if len(names) > 1 else []


def kept_without(board: Leaderboard, queries: Queries) -> list[Without]:
    """What was computed before for these runs, by encoder; nothing is computed."""
    ordered = board.ordered
    digests = digests_of(ordered)
    keys = {name: _key(board, ordered, digests, queries, name) for name in encoders_of(board.benchmark)}
    kept = KeptFigures.objects.found(keys)
    return [_without(name, kept[name]) for name in keys if name in kept]


def leave_out(
    board: Leaderboard, queries: Queries, vectors: Path, progress: StageProgress | None = None
) -> list[Without]:
    """Compute and keep it for every encoder. `vectors` is the folder of the vector store.

    Raises `NothingToLeaveOut`, and `encoders.MissingWeights`.
    """
    names, ordered = encoders_of(board.benchmark), board.ordered
    if not names:
        raise NothingToLeaveOut(
            f"The candidates of {board.benchmark} were not mined by several encoders: none can be left out."
        )
    if not ordered or not is_from_ranks(board.metric):
        raise NothingToLeaveOut(f"No run has {board.metric or 'any metric'}, or not one that ranks decide.")
    digests = digests_of(ordered)
    content = content_of(board.benchmark)
    pairs = JudgedPairs.of(content)
    found = []
    for name in names:
        key = _key(board, ordered, digests, queries, name)
        make = partial(_computed, board, content, pairs, queries, name, vectors, progress)
        data = KeptFigures.objects.once(board.benchmark, key, code_version(), make)
        found.append(_without(name, data))
    return found


def _key(board: Leaderboard, ordered: Sequence[Run], digests: Digests, queries: Queries, encoder: str) -> str:
    """With the runs' ids, as what is kept names them: another benchmark of the same content has others."""
    return kept_by(
        board.benchmark,
        left_out=encoder,
        runs=[(run.pk, run.digest, run.pool, digests[run.pk][board.metric]) for run in ordered],
        metric=board.metric,
        queries=asdict(queries),
    )


def _without(encoder: str, data: Mapping[str, Any]) -> Without:
    return Without(
        encoder,
        data["labels"],
        data["matches"],
        {int(run): value for run, value in data["values"].items()},
        {int(run): rank for run, rank in data["ranks"].items()},
    )


def _computed(
    board: Leaderboard,
    content: Content,
    pairs: JudgedPairs,
    queries: Queries,
    encoder: str,
    vectors: Path,
    progress: StageProgress | None,
) -> dict[str, Any]:
    brought = dict(brought_alone(content, encoder, vectors, progress))
    chosen = queries.chosen(board.benchmark)
    return _by_the_rest(pairs, brought, board.ordered, board.metric, chosen)


def left_out_again(
    benchmark: Benchmark,
    ordered: Sequence[Run],
    metric: str,
    queries: Queries,
    encoder: str,
    vectors: Path,
    known: EncoderOf,
) -> Without:
    """As `leave_out` of one encoder, by the encoders that `known` gives; nothing is read of what was kept."""
    content = content_of(benchmark)
    brought = dict(brought_alone(content, encoder, vectors, known=known))
    pairs, chosen = JudgedPairs.of(content), queries.chosen(benchmark)
    return _without(encoder, _by_the_rest(pairs, brought, ordered, metric, chosen))


def _by_the_rest(
    pairs: JudgedPairs, brought: Mapping[int, Ints], ordered: Sequence[Run], metric: str, chosen: Chosen
) -> dict[str, Any]:
    """Means and ranks by the pairs but for those that were `brought`."""
    rest = pairs.without(brought)
    values: dict[int, float | None] = {}
    for run in ordered:
        ranked = rest.ranked(run, brought if run.pool == Pool.CANDIDATES else {})
        scores = per_query(metric, ranked, rest.relevance)[chosen]
        known = scores[np.isfinite(scores)]
        values[run.pk] = float(known.mean()) if len(known) else None
    order = sorted(values, key=lambda run: -1.0 if values[run] is None else values[run] or 0.0, reverse=True)
    return {
        "labels": len(rest.relevance),
        "matches": int((rest.relevance > 0).sum()),
        "values": values,
        "ranks": {run: rank for rank, run in enumerate(order, 1)},
    }


def brought_alone(
    content: Content,
    encoder: str,
    vectors: Path,
    progress: StageProgress | None = None,
    known: EncoderOf = known_encoders.find_encoder,
) -> Iterator[tuple[int, Ints]]:
    """Yield (number of a query, places of its candidates that the other encoders do not find)."""
    minings = content.benchmark.minings
    if not minings:
        raise NothingToLeaveOut(f"{content.benchmark} has no mining.")
    rest = [found_by_rest(mining, encoder, vectors, progress, known) for mining in minings]
    number = {query: place for place, query in enumerate(content.queries)}
    members = content.snippets[: content.benchmark.snippets_until]
    place = {text: position for position, text in enumerate(members)}
    alone: dict[int, set[int]] = {}
    for query, snippet in (pair for mining in minings for pair in _candidates(mining)):
        if query in number and snippet in place and not any(snippet in one.get(query, ()) for one in rest):
            every = content.snippet_places.get(place[snippet], (place[snippet],))
            for key in content.query_keys.get(query, (query,)):
                alone.setdefault(number[key], set()).update(every)
    for query, places in alone.items():
        yield query, np.array(sorted(places), dtype=np.int64)


def found_by_rest(
    of: Mining, encoder: str, vectors: Path, progress: StageProgress | None, known: EncoderOf
) -> Mapping[int, set[int]]:
    """By query (id of its text) the snippets that a mining would have proposed without an encoder."""
    if encoder in of.encoders:
        return found_without(of, encoder, vectors, progress, known) if len(of.encoders) > 1 else {}
    found: dict[int, set[int]] = {}
    for query, snippet in _candidates(of):
        found.setdefault(query, set()).add(snippet)
    return found


def _candidates(of: Mining) -> Iterator[tuple[int, int]]:
    """Yield (query, snippet), ids of texts."""
    rows = Candidate.objects.filter(mining=of).order_by("query_id", "rank")
    return iter(rows.values_list("query_id", "pair__snippet_id").iterator(ROWS_A_READ))


def refuse_untold(of: Mining) -> None:
    """Raises `NothingToLeaveOut` where nobody knows what a mining's encoders were."""
    if set(of.encoders) - set(of.identities or {}):
        raise NothingToLeaveOut(
            f"Mining {of.pk} does not say which weights and options its encoders had, as none does that came "
            f"with a release. Where their vectors are stored 'cosqa admin mine {of.pk} --identify' finds "
            "them."
        )


def as_mined(of: Mining, name: str, known: EncoderOf) -> Encoder:
    """An encoder as the mining had it. Raises `NothingToLeaveOut` where that is not here any more."""
    found, told = known(name), (of.identities or {})[name]
    try:
        return match_encoder_precision(found, told)
    except OtherWeights as why:
        raise NothingToLeaveOut(
            f"Mining {of.pk} had other weights or options of {name} than are here ({told}, not "
            f"{found.identity}). Bring those back to leave another encoder out."
        ) from why


def found_without(
    of: Mining,
    encoder: str,
    vectors: Path,
    progress: StageProgress | None = None,
    known: EncoderOf = known_encoders.find_encoder,
) -> dict[int, set[int]]:
    """By query (id of its text) the snippets that a mining by the other encoders proposes.

    Raises `NothingToLeaveOut` where these are not what they were.
    """
    refuse_untold(of)
    queries = input_texts.texts_of(input_texts.queries_of_mining(of), "whole")
    snippets = input_texts.texts_of(input_texts.snippets_of(of), of.text_option)
    hits = mine_best_snippets(
        queries.texts,
        snippets.texts,
        [as_mined(of, name, known) for name in of.encoders if name != encoder],
        of.k,
        vectorise=VectorStore(vectors, of.text_option).rows,
        fusion=Fusion(of.fusion),
        progress=progress,
    )
    return {
        query: {snippets.ids[hit.index] for hit in own} for query, own in zip(queries.ids, hits, strict=True)
    }
