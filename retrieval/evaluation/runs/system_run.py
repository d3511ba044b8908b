"""A system or a run file → figures for a benchmark, and a Run that keeps its lists and scores."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from django.db import transaction
from django.utils import timezone

from retrieval.encoders import asked_of
from retrieval.evaluation.content import Content, pool_of, snippet_members
from retrieval.evaluation.memory import describe_learned_texts, training_facts
from retrieval.evaluation.query_scores import Doubles, Figure, Scored, compute_mean_figures, score_rankings
from retrieval.evaluation.rankings import Rankings, refuse_unmeasurable
from retrieval.evaluation.runs import files
from retrieval.evaluation.systems.search import Search, System, as_stored
from retrieval.evaluation.systems.second_stage import search_in_stages
from retrieval.metrics.averages import Average, average_by_positives
from retrieval.metrics.codesearchnet import Coverage
from retrieval.metrics.names import Measure
from retrieval.metrics.ranking import Ranking
from retrieval.mining import known_encoders
from retrieval.mining.input_texts import describe_left_out
from retrieval.models import Pool, RankedList, Run, Score
from retrieval.models.benchmarks import Places
from retrieval.texts.hostile import mark_hostile_characters
from retrieval.texts.plurals import verb_for_count

DEFAULT_MEASURES = (
    "mrr,mrr@10,ndcg@10,map@10,mmrr,recall@10,recall@100,success@1,success@3,success@5,success@10"
)
"""People use two or three examples, so the first few ranks count by themselves."""
LISTS_AT_ONCE = 500
SYSTEM_LENGTH = 120
Tick = Callable[[int], None]


class NameTooLong(ValueError):
    """A system's name is longer than what is kept of one; the message says what to do."""


@dataclass(frozen=True, slots=True)
class QueryCounts:
    """Numbers of queries: all of the benchmark = scored + without a match (a skipped one is no 0).

    `without_results` of the scored ones have none in the run and score 0; `not_judged` are in the run alone.
    """

    scored: int
    without_match: int
    without_results: int
    not_judged: int = 0


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What came out for one system; `notes` are for people.

    `asked`: of each encoder on a server its model, requests, tokens, and answers that named none.
    `by_matches`: by metric, the mean over the queries with each number of matches.
    """

    run: Run
    figures: Mapping[str, Figure]
    counts: QueryCounts
    notes: Sequence[str] = ()
    asked: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    by_matches: Mapping[str, Mapping[int, Average]] = field(default_factory=dict)


def evaluate_system(
    what: System, content: Content, pool: Pool, how: Search, measures: Sequence[Measure]
) -> Evaluated:
    """Search, score and store.

    Raises `NameTooLong`, `encoders.MissingWeights`, and `UnknownEncoder` for another spec.
    """
    name, what = kept_name(what.name), as_stored(what, content, how)
    known_encoders.keep_weights(what.encoders)
    found = search_in_stages(what, content, how)
    revisions = known_encoders.revisions_of(what.encoders)
    trained = training_facts(what.encoders, content.benchmark)
    run = Run(
        benchmark=content.benchmark,
        system=name,
        encoders=[encoder.name for encoder in what.encoders],
        options={
            "identities": what.identities,
            "depth": how.depth,
            "fusion": "mean",
            **({"revisions": revisions} if revisions else {}),
            **({"second_stage": found.second_stage} if found.second_stage else {}),
            **({"trained": trained} if trained else {}),
        },
        text_option=how.text_option,
        pool=pool,
    )
    left_out = len(snippet_members(content.benchmark).left_out(how.text_option))
    notes = [describe_left_out(left_out)] if left_out else []
    notes += describe_learned_texts(what.encoders, content.benchmark)
    done = evaluate_run(run, found.lists, content, measures, notes=notes)
    return replace(stands_now(done), asked=asked_of(what.encoders))


def evaluate_file(
    path: Path,
    name: str,
    content: Content,
    pool: Pool,
    measures: Sequence[Measure],
    *,
    language: str | None = None,
    text_option: str = "",
    source: str = "",
    tick: Tick = lambda queries: None,
) -> Evaluated:
    """Read, score and store a run file.

    Raises `NameTooLong`, `Malformed`, `NotComparable` and `NoCandidates`.

    `source` is what people call it, where its path has another name; `tick` as in `evaluate_run`.
    """
    system = kept_name(name)
    refuse_unmeasurable(measures, pool)
    read = files.read_run_file(path, content, language, pool_of(content, pool))
    run = Run(
        benchmark=content.benchmark,
        system=system,
        options={
            "unknown_queries": len(read.unknown_queries.names),
            "unknown_snippets": len(read.unknown_snippets.names),
            **({"outside_pool": len(read.outside.names)} if read.outside.rows else {}),
            **({"copies": len(read.copies.names)} if read.copies.rows else {}),
        },
        text_option=text_option,
        pool=pool,
        source=mark_hostile_characters(source or path.name)[:400],
    )
    notes = [f"{path}: {note}" for note in _notes(read, content)]
    unknown = len(read.unknown_queries.names)
    return stands_now(evaluate_run(run, read.lists, content, measures, unknown, notes, tick))


def kept_name(name: str) -> str:
    """A system's name as it is kept. Raises `NameTooLong`: two that are cut may be one."""
    kept = mark_hostile_characters(name)
    if len(kept) > SYSTEM_LENGTH:
        raise NameTooLong(
            f"A system's name has at most {SYSTEM_LENGTH} letters, and {kept[:40]!r} … has {len(kept):,}: "
            "give a file a shorter one (--run NAME=FILE), and encoders names in a file of their specs "
            "(--encoder-file)."
        )
    return kept


def stands_now(done: Evaluated) -> Evaluated:
    """Let a run stand for its system from now on, also where its lists were kept before others came."""
    done.run.scored_at = timezone.now()
    done.run.save(update_fields=["scored_at"])
    return done


def _notes(read: files.RunFile, content: Content) -> Iterator[str]:
    """What people are to know of the names in a run file."""
    if read.by_export:
        yield "its ids are read as those that an export of the benchmark has"
    if read.unknown_queries.rows:
        told = read.unknown_queries.told("query", "queries")
        yield f"left out, as unknown to {content.benchmark}: {told}"
    if read.unknown_snippets.rows:
        told = read.unknown_snippets.told("function")
        yield f"unknown to {content.benchmark}, kept in their ranks as unjudged: {told}"
    if read.copies.rows:
        told = read.copies.told("id")
        yield f"removed from the lists, because their text is ranked higher under another id: {told}"
    if read.second_lists.rows:
        told = read.second_lists.told("query id")
        yield f"left out, as the same query is listed by another of its ids: {told}"
    if read.outside.rows:
        yield f"taken out of the lists, as no candidates of their query: {read.outside.told('function')}"


def evaluate_run(
    run: Run,
    lists: Mapping[int, Places],
    content: Content,
    measures: Sequence[Measure],
    not_judged: int = 0,
    notes: Sequence[str] = (),
    tick: Tick = lambda queries: None,
) -> Evaluated:
    """Score the lists of an unsaved run, store both, and take the means.

    `tick` is called with the number of queries scored since, while nothing is open in the database.
    """
    beside, covered = Rankings(content, measures, run.pool), Coverage()
    found = score_rankings(measures, _ticked(beside.of(lists), tick, covered))
    kept = store_run(run, lists, content, found)
    shares = {"judged": covered.share, "matches": covered.share_of_relevant}
    metrics = {**kept.options.get("metrics", {}), **beside.options()}
    kept.options = {**kept.options, "coverage": shares, **({"metrics": metrics} if metrics else {})}
    kept.save(update_fields=["options"])
    matches = content.benchmark.match_counts
    named = dict(
        zip(
            (measure.name for measure in measures),
            compute_mean_figures(found, condensed=content.benchmark.has_judged_non_matches),
            strict=True,
        )
    )
    groups = {ranking.measure: by_matches(ranking.values, matches) for ranking in found}
    return Evaluated(kept, named, count_scored_queries(lists, content, not_judged), notes, by_matches=groups)


def describe_skipped_queries(counts: QueryCounts) -> str:
    return f"{counts.without_match:,} without a match {verb_for_count(counts.without_match)} skipped"


def by_matches(values: Doubles, matches: Places) -> dict[int, Average]:
    """The mean of a metric by number of matches; queries without a match say nothing."""
    said = ((n, None if math.isnan(v) else v) for n, v in zip(matches.tolist(), values.tolist(), strict=True))
    return average_by_positives((number, value) for number, value in said if number)


def _ticked(rankings: Iterable[Ranking], tick: Tick, covered: Coverage) -> Iterator[Ranking]:
    for ranking in rankings:
        covered.add(ranking)
        yield ranking
        tick(1)


def count_scored_queries(lists: Mapping[int, Places], content: Content, not_judged: int) -> QueryCounts:
    """How many queries the means rest on."""
    with_match = [
        query
        for query, matches in zip(content.queries, content.benchmark.match_counts, strict=True)
        if matches
    ]
    empty = sum(query not in lists or not len(lists[query]) for query in with_match)
    return QueryCounts(len(with_match), len(content.queries) - len(with_match), empty, not_judged)


@transaction.atomic
def store_run(run: Run, lists: Mapping[int, Places], content: Content, of: Iterable[Scored]) -> Run:
    """Keep a run with its lists, once, and the scores of each measure, which replace those of before."""
    digest = digest_of(lists, content.queries)
    key: dict[str, Any] = {
        name: getattr(run, name) for name in ("benchmark", "system", "text_option", "pool")
    }
    details = {name: getattr(run, name) for name in ("encoders", "options", "source", "scored_at")}
    kept, new = Run.objects.get_or_create(
        **key, digest=digest, defaults={**details, "code_version": code_version()}
    )
    if new:
        rows = (
            RankedList(
                run=kept,
                query_id=content.text_of_query(query),
                alias=max(0, -query),
                data=places.astype("<u4").tobytes(),
            )
            for query, places in lists.items()
        )
        RankedList.objects.bulk_create(rows, batch_size=LISTS_AT_ONCE)
    for scored in of:
        values = {
            name: getattr(scored, name).astype("<f8").tobytes() for name in ("values", "condensed", "judged")
        }
        digest = hashlib.sha256(b"".join(values.values())).hexdigest()
        Score.objects.update_or_create(run=kept, metric=scored.measure, defaults={**values, "digest": digest})
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
    return sources_version(Path(__file__).resolve().parents[2])


@cache
def sources_version(package: Path) -> str:
    """A package's name and the first 16 digits of the sha256 of its sources."""
    whole = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        whole.update(f"{path.relative_to(package)}\n".encode() + path.read_bytes())
    return f"{package.name} {whole.hexdigest()[:16]}"
