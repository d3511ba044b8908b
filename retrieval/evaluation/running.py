"""A system or a run file → figures for a benchmark, and a Run that keeps its lists and scores."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from django.db import transaction

from retrieval.evaluation import run_files
from retrieval.evaluation.content import Content
from retrieval.evaluation.rankings import Rankings
from retrieval.evaluation.scoring import Figure, Scored, figures, scored
from retrieval.evaluation.systems import Search, System, ranked
from retrieval.hostile import clean
from retrieval.metrics.names import Measure
from retrieval.models import Pool, RankedList, Run, Score
from retrieval.models.benchmarks import Places

DEFAULT_MEASURES = "mrr,mrr@10,ndcg@10,map@10,mmrr,recall@10,recall@100"
LISTS_AT_ONCE = 500
SYSTEM_LENGTH = 120


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of queries: all of the benchmark = scored + without a match (a skipped one is no 0).

    `without_results` of the scored ones have none in the run and score 0; `not_judged` are in the run alone.
    """

    scored: int
    without_match: int
    without_results: int
    not_judged: int = 0


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What came out for one system; `notes` are for people."""

    run: Run
    figures: Mapping[str, Figure]
    counts: Counts
    notes: Sequence[str] = ()


def evaluate_system(
    what: System, content: Content, pool: Pool, how: Search, measures: Sequence[Measure]
) -> Evaluated:
    """Search, score and store. Raises `encoders.MissingWeights`."""
    lists = dict(ranked(what, content, how))
    run = Run(
        benchmark=content.benchmark,
        system=what.name[:SYSTEM_LENGTH],
        encoders=[encoder.name for encoder in what.encoders],
        options={"identities": what.identities, "depth": how.depth, "fusion": "mean"},
        text_option=how.text_option,
        pool=pool,
    )
    return evaluated(run, lists, content, measures)


def evaluate_file(
    path: Path,
    name: str,
    content: Content,
    pool: Pool,
    measures: Sequence[Measure],
    *,
    language: str | None = None,
    text_option: str = "",
) -> Evaluated:
    """Read, score and store a run file. Raises `Malformed` and `NotComparable`."""
    read = run_files.read(path, content, language)
    run = Run(
        benchmark=content.benchmark,
        system=clean(name)[:SYSTEM_LENGTH],
        options={
            "unknown_queries": len(read.unknown_queries.names),
            "unknown_snippets": len(read.unknown_snippets.names),
        },
        text_option=text_option,
        pool=pool,
        source=clean(path.name)[:400],
    )
    notes = []
    if read.unknown_queries.rows:
        notes.append(
            f"{path}: {read.unknown_queries.told('queries')} are unknown to {content.benchmark}; left out"
        )
    if read.unknown_snippets.rows:
        told = read.unknown_snippets.told("snippets")
        notes.append(f"{path}: {told} are unknown to {content.benchmark}; they keep their ranks, unjudged")
    return evaluated(run, read.lists, content, measures, len(read.unknown_queries.names), notes)


def evaluated(
    run: Run,
    lists: Mapping[int, Places],
    content: Content,
    measures: Sequence[Measure],
    not_judged: int = 0,
    notes: Sequence[str] = (),
) -> Evaluated:
    """Score the lists of an unsaved run, store both, and take the means."""
    beside = Rankings(content, measures, run.pool)
    found = scored(measures, beside.of(lists))
    kept = store(run, lists, content, found)
    options = beside.options()
    if options:
        kept.options = {**kept.options, "metrics": {**kept.options.get("metrics", {}), **options}}
        kept.save(update_fields=["options"])
    named = dict(
        zip(
            (measure.name for measure in measures),
            figures(found, condensed=content.benchmark.has_judged_non_matches),
            strict=True,
        )
    )
    return Evaluated(kept, named, counted(lists, content, not_judged), notes)


def counted(lists: Mapping[int, Places], content: Content, not_judged: int) -> Counts:
    """How many queries the means rest on."""
    with_match = [
        query
        for query, matches in zip(content.queries, content.benchmark.match_counts, strict=True)
        if matches
    ]
    empty = sum(query not in lists or not len(lists[query]) for query in with_match)
    return Counts(len(with_match), len(content.queries) - len(with_match), empty, not_judged)


@transaction.atomic
def store(run: Run, lists: Mapping[int, Places], content: Content, of: Iterable[Scored]) -> Run:
    """Keep a run with its lists, once, and the scores of each measure, which replace those of before."""
    digest = digest_of(lists, content.queries)
    key: dict[str, Any] = {
        name: getattr(run, name) for name in ("benchmark", "system", "text_option", "pool")
    }
    details = {name: getattr(run, name) for name in ("encoders", "options", "source")}
    kept, new = Run.objects.get_or_create(
        **key, digest=digest, defaults={**details, "code_version": code_version()}
    )
    if new:
        rows = (
            RankedList(run=kept, query_id=query, data=places.astype("<u4").tobytes())
            for query, places in lists.items()
        )
        RankedList.objects.bulk_create(rows, batch_size=LISTS_AT_ONCE)
    for one in of:
        values = {
            name: getattr(one, name).astype("<f8").tobytes() for name in ("values", "condensed", "judged")
        }
        digest = hashlib.sha256(b"".join(values.values())).hexdigest()
        Score.objects.update_or_create(run=kept, metric=one.measure, defaults={**values, "digest": digest})
    return kept


def digest_of(lists: Mapping[int, Places], queries: Sequence[int]) -> str:
    """sha256 (hex) of ranked lists, by the places of queries and snippets in the benchmark."""
    whole = hashlib.sha256()
    for number, query in enumerate(queries):
        places = lists.get(query)
        if places is not None:
            whole.update(f"{number} {len(places)}\n".encode())
            whole.update(np.asarray(places).astype("<u4").tobytes())
    return whole.hexdigest()


def code_version() -> str:
    """What computed a run: the version of this package's sources."""
    return sources_version(Path(__file__).resolve().parents[1])


@cache
def sources_version(package: Path) -> str:
    """A package's name and the first 16 digits of the sha256 of its sources."""
    whole = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        whole.update(f"{path.relative_to(package)}\n".encode() + path.read_bytes())
    return f"{package.name} {whole.hexdigest()[:16]}"
