"""Measures of ranked lists over dicts and data frames, as `cosqa evaluate` computes them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from cosqa.application import application_first

with application_first():
    from retrieval.metrics.averages import average_measure
    from retrieval.metrics.names import Measure, Need, parse_measures
    from retrieval.metrics.ranking import Ranking

DEFAULT: Final = ("ndcg@10", "mrr@10", "map@10", "mmrr", "recall@100")
Key: TypeAlias = Hashable
Labels: TypeAlias = dict[Key, dict[Key, float]]
Lists: TypeAlias = dict[Key, list[Key]]


@dataclass(frozen=True)
class Scores:
    """Means over the queries with a match, by metric; None where there is no such query.

    `by_query` has each judged query's scores: `pandas.DataFrame(scores.by_query).T` is a table of them.
    A query without a match has None there, and is left out of the means.
    """

    means: dict[str, float | None]
    by_query: dict[Any, dict[str, float | None]]
    scored: int
    without_match: int
    without_results: int
    not_judged: int

    def __getitem__(self, metric: str) -> float | None:
        return self.means[metric]


def score(run: Any, labels: Any, metrics: Iterable[str] = DEFAULT) -> Scores:
    """Score ranked lists against labels.

    `run`: `{query: [document, best first]}`, `{query: {document: score}}`, or a data frame (pandas, polars)
    with the columns query, document, score. `labels`: `{query: {document: relevance}}`, or a data frame with
    query, document, relevance. Ids are compared as they are: 1 is not "1". A document is a match where its
    relevance is above 0; one without a label is unjudged. Equal scores keep the order in which they are
    given. A judged query without results scores 0. docs/metrics.md has the formulas. Raises ValueError.
    """
    measures = parse_measures(metrics)
    refuse_measures_of_more(measures)
    judged, ranked = read_labels(labels), read_run(run)
    if ranked and not judged.keys() & ranked.keys():
        raise ValueError(f"No query of the run has labels: {name_ids(ranked)} against {name_ids(judged)}.")
    rankings = {query: rank(ranked.get(query, []), judged[query]) for query in judged}
    by_query = {query: measure_query(ranking, measures) for query, ranking in rankings.items()}
    positive = [query for query, ranking in rankings.items() if ranking.positives]
    return Scores(
        {one.name: average_measure(row[one.name] for row in by_query.values()).value for one in measures},
        by_query,
        scored=len(positive),
        without_match=len(judged) - len(positive),
        without_results=sum(not ranked.get(query) for query in positive),
        not_judged=len(ranked.keys() - judged.keys()),
    )


def rank(documents: Sequence[Key], relevances: Mapping[Key, float]) -> Ranking:
    return Ranking([relevances.get(document) for document in documents], [*relevances.values()])


def measure_query(ranking: Ranking, measures: Iterable[Measure]) -> dict[str, float | None]:
    return {measure.name: measure.score(ranking) for measure in measures}


def refuse_measures_of_more(measures: Iterable[Measure]) -> None:
    """Raises ValueError for a measure that needs more than lists and labels."""
    for measure in measures:
        if isinstance(measure.need, Need):
            raise ValueError(f"{measure.name} needs {measure.need.value}: use 'cosqa evaluate'.")


def read_labels(labels: Any) -> Labels:
    """Relevances by query and document. Raises ValueError."""
    if is_frame(labels):
        return read_columns(labels, "relevance")
    return {query: read_numbers(query, documents) for query, documents in labels.items()}


def read_run(run: Any) -> Lists:
    """Documents by query, best first. Raises ValueError."""
    if is_frame(run):
        return {query: order(scores) for query, scores in read_columns(run, "score").items()}
    return {query: read_list(query, documents) for query, documents in run.items()}


def read_list(query: Key, documents: Any) -> list[Key]:
    if isinstance(documents, Mapping):
        return order(read_numbers(query, documents))
    if isinstance(documents, str):
        raise ValueError(f"Query {query!r} has a text where a list of documents was expected.")
    found = list(documents)
    if len(set(found)) < len(found):
        raise ValueError(f"Query {query!r} has a document twice.")
    return found


def order(scores: Mapping[Key, float]) -> list[Key]:
    """By falling score; equal ones keep their order."""
    return sorted(scores, key=lambda document: -scores[document])


def read_numbers(query: Key, documents: Mapping[Key, Any]) -> dict[Key, float]:
    return {document: finite(query, document, number) for document, number in documents.items()}


def finite(query: Key, document: Key, number: Any) -> float:
    """Raises ValueError."""
    try:
        found = float(number)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Query {query!r}, document {document!r}: {number!r} is no number.") from error
    if not math.isfinite(found):
        raise ValueError(f"Query {query!r}, document {document!r}: {number!r} can't be ordered.")
    return found


def is_frame(given: Any) -> bool:
    return hasattr(given, "columns")


def read_columns(frame: Any, number: str) -> Labels:
    """A data frame's rows by query and document. Raises ValueError."""
    wanted = ("query", "document", number)
    if missing := [name for name in wanted if name not in frame.columns]:
        raise ValueError(f"The data frame has no column {', '.join(missing)}; it has {list(frame.columns)}.")
    found: defaultdict[Key, dict[Key, float]] = defaultdict(dict)
    for query, document, value in zip(*(frame[name] for name in wanted), strict=True):
        if document in found[query]:
            raise ValueError(f"Query {query!r} has document {document!r} twice.")
        found[query][document] = finite(query, document, value)
    return dict(found)


def name_ids(of: Mapping[Key, object]) -> str:
    return ", ".join(repr(query) for query in [*of][:3]) or "none"
