"""The second stage of a system: a reranker orders the first results of each list once more."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from retrieval.encoders.base import Doubles
from retrieval.encoders.rerankers import Reranker
from retrieval.evaluation.content import Content, query_members, snippet_members
from retrieval.evaluation.systems.names import split_second_stage
from retrieval.evaluation.systems.search import Search, System, rank_snippets, read_texts
from retrieval.models import Run
from retrieval.models.benchmarks import Places


@dataclass(frozen=True, slots=True)
class Searched:
    """Lists by query, and what a run notes of its second stage; nothing where there is none."""

    lists: Mapping[int, Places]
    second_stage: Mapping[str, Any]


def search_in_stages(what: System, content: Content, how: Search) -> Searched:
    """Search by the encoders, then by the reranker if there is one. Raises `encoders.MissingWeights`.

    The note has the first stage, the reranker with its identity, the depth, how many pairs were scored, the
    seconds of both stages, and what was paid: nothing, as its model runs here.
    """
    if what.reranker is None:
        return Searched(dict(rank_snippets(what, content, how)), {})
    identity = what.reranker.identity  # a model that is not here is told before the search
    started = time.monotonic()
    lists = dict(rank_snippets(what, content, how))
    searched = time.monotonic()
    reranked, pairs = rerank_lists(what.reranker, what.rerank_depth, lists, content, how)
    first, *_ = split_second_stage(what.name)
    note = {
        "first_stage": first,
        "reranker": what.reranker.name,
        "identity": identity,
        "revision": what.reranker.revision,
        "depth": what.rerank_depth,
        "pairs": pairs,
        "first_seconds": round(searched - started, 3),
        "seconds": round(time.monotonic() - searched, 3),
        "usd": 0,
    }
    return Searched(reranked, note)


def rerank_lists(
    reranker: Reranker, depth: int, lists: Mapping[int, Places], content: Content, how: Search
) -> tuple[dict[int, Places], int]:
    """Each list with its first `depth` results by falling score, and how many pairs were scored.

    What lies deeper keeps its order behind them. Of equal scores the later document id comes first, as
    trec_eval has it.
    """
    texts = list(read_texts(snippet_members(content.benchmark), how.text_option))
    asked = dict(zip(content.queries, read_texts(query_members(content.benchmark), "whole"), strict=False))
    ids, found, pairs = document_ids_of(content), dict[int, Places](), 0
    for done, (query, places) in enumerate(lists.items(), 1):
        top = places[:depth]
        text = asked[content.text_of_query(query)]
        scores = reranker.score_snippets(text, [texts[content.texts_place(int(place))] for place in top])
        found[query] = np.concatenate([order_by_score(top, scores, ids), places[depth:]])
        pairs += len(top)
        if how.progress is not None:
            how.progress("rerank", done, len(lists))
    return found, pairs


def order_by_score(places: Places, scores: Doubles, ids: Sequence[str]) -> Places:
    """Places by falling score; of equal ones the one whose document id is later in the alphabet is first."""
    score_of = dict(zip(places.tolist(), scores.tolist(), strict=True))
    order = sorted(score_of, key=lambda place: (score_of[place], ids[place]), reverse=True)
    return np.array(order, dtype=np.uint32)


def document_ids_of(content: Content) -> list[str]:
    """What a run file would call each snippet, by place: its source id; those of aliases follow."""
    benchmark = content.benchmark
    own = snippet_members(benchmark).values_list("source_id", flat=True)
    further = benchmark.snippets.aliases.filter(number__lte=benchmark.snippet_aliases).order_by("number")
    return [*own, *further.values_list("source_id", flat=True)]


def second_stage_of(run: Run) -> dict[str, Any]:
    """What a run notes of its second stage; empty where it has none."""
    return dict(run.options.get("second_stage") or {})
