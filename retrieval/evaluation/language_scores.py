"""Figures of systems by the language of the functions, as CodeSearchNet's Table 4 has them, and their mean.

In each language a system's list is what it found of that language, beside the labels of such functions. A
result that the benchmark lacks has no known language and is in none. The mean of languages counts each once,
however many queries it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from retrieval.corpus.languages import UNKNOWN, language_expression
from retrieval.evaluation.content import Content, content_of, snippet_members
from retrieval.evaluation.files import NotComparable
from retrieval.evaluation.query_scores import compute_mean_figures, score_rankings
from retrieval.evaluation.rankings import Rankings
from retrieval.metrics.names import Measure, parse_measure
from retrieval.models import Run
from retrieval.models.benchmarks import NOWHERE, Places


@dataclass(frozen=True, slots=True)
class LanguageScores:
    """A run's figure in each language that has a match, and the mean of these; None: no language has one."""

    run: Run
    by_language: Mapping[str, float]
    mean: float | None


def score_languages(runs: Sequence[Run], metric: str) -> list[LanguageScores]:
    """The figures of runs of one benchmark, in their order. Raises `NotComparable`, `UnknownMeasure`."""
    measure = parse_measure(metric)
    if measure.need is not None:
        raise NotComparable(f"{metric} looks at other functions of the whole benchmark: no language has it.")
    if not runs:
        return []
    content = content_of(runs[0].benchmark)
    rows = snippet_members(content.benchmark).annotate(written_in=language_expression())
    members = [language for (language,) in rows.values_list("written_in")]
    spoken = np.array([members[content.texts_place(place)] for place in range(len(content.snippets))])
    names = sorted(set(members) - {UNKNOWN})
    parts = {name: _content_in(content, spoken, name) for name in names}
    return [_scores_of(run, parts, spoken, measure) for run in runs]


def _scores_of(
    run: Run, parts: Mapping[str, Content], spoken: np.ndarray, measure: Measure
) -> LanguageScores:
    lists = {found.key: found.places for found in run.lists.iterator(2000)}
    found = dict[str, float]()
    for name, content in parts.items():
        some = {query: _places_in(places, spoken, name) for query, places in lists.items()}
        scored = score_rankings([measure], Rankings(content, [measure], run.pool).of(some))
        (figure,) = compute_mean_figures(scored, condensed=False, intervals=False)
        if figure.value is not None:
            found[name] = figure.value
    return LanguageScores(run, found, fmean(found.values()) if found else None)


def _content_in(content: Content, spoken: np.ndarray, language: str) -> Content:
    """The same with the labels of one language's functions alone."""
    labels = {
        query: {place: value for place, value in judged.items() if spoken[place] == language}
        for query, judged in content.labels.items()
    }
    return replace(content, labels={query: judged for query, judged in labels.items() if judged})


def _places_in(places: Places, spoken: np.ndarray, language: str) -> Places:
    known = places[places != NOWHERE]
    found: Places = known[spoken[known] == language]
    return found
