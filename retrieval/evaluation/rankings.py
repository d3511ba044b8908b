"""A benchmark's ranked lists beside its labels, with what some measures need beside both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from retrieval.evaluation.content import Content, snippet_members
from retrieval.evaluation.files import NotComparable
from retrieval.filters.duplicates import (
    FEWEST_IDENTIFIERS,
    MULTISET_SIMILARITY,
    SET_SIMILARITY,
    find_duplicate_groups,
)
from retrieval.metrics.distractors import POOL, draw_distractors
from retrieval.metrics.names import Measure, Need
from retrieval.metrics.ranking import Distractors, Ranking
from retrieval.models import Pool
from retrieval.models.benchmarks import NOWHERE, Places

TEXTS_A_READ = 2000


class Rankings:
    """What lists of one benchmark are to these measures. Reads the snippets only where a measure asks for it.

    Raises `NotComparable` for a measure that lists of this pool cannot have.
    """

    def __init__(self, content: Content, measures: Sequence[Measure], pool: str) -> None:
        refuse_unmeasurable(measures, pool)
        needs = {measure.need for measure in measures}
        self.content = content
        self.seeds = dict.fromkeys(measure.seed for measure in measures if measure.seed is not None)
        self.groups = groups_of(content) if Need.GROUPS in needs else None
        self.measures = measures

    def options(self) -> dict[str, dict[str, Any]]:
        """What decides a measure beside its formula, by name, of the measures of which anything does."""
        return {measure.name: told for measure in self.measures if (told := self._options(measure))}

    def _options(self, measure: Measure) -> dict[str, Any]:
        if measure.need is Need.GROUPS:
            return {
                "near_duplicates": f"same text, or of at least {FEWEST_IDENTIFIERS} identifiers a Jaccard of "
                f"{SET_SIMILARITY} as sets and {MULTISET_SIMILARITY} as multisets, transitively",
                "text": "whole",
            }
        if measure.need is Need.DISTRACTORS:
            return {"seed": measure.seed, **self._drawn()}
        return {}

    def _drawn(self) -> dict[str, int]:
        """How many distractors a query has; the fewest where those with several matches have fewer."""
        matches = self.content.benchmark.match_counts
        others = self.content.benchmark.snippets_until - matches[matches > 0].astype(np.int64)
        most = min(POOL - 1, int(others.max(initial=0)))
        fewest = min(POOL - 1, int(others.min(initial=most)))
        return {"distractors": most, **({"fewest": fewest} if fewest < most else {})}

    def of(self, lists: Mapping[int, Places]) -> Iterator[Ranking]:
        """Each query's list beside its labels, in the order of the benchmark's queries."""
        for number, query in enumerate(self.content.queries):
            places = lists.get(query)
            listed = [] if places is None else places.tolist()
            judged = self.content.judged(query)
            yield Ranking(
                [judged.get(place) for place in listed],
                [*judged.values()],
                None if self.groups is None else self._grouped(listed),
                {seed: self._distractors(number, listed, judged, seed) for seed in self.seeds},
            )

    def _grouped(self, listed: Sequence[int]) -> list[int]:
        """The group of each; a snippet that the benchmark lacks is one of its own."""
        known = self.groups or {}
        return [
            -1 - rank if place == NOWHERE else known.get(place, place) for rank, place in enumerate(listed)
        ]

    def _distractors(
        self, number: int, listed: Sequence[int], judged: Mapping[int, float], seed: int
    ) -> Distractors:
        own = self.content.texts_place
        matches = [own(place) for place, relevance in judged.items() if relevance > 0]
        chosen = draw_distractors(self.content.benchmark.snippets_until, matches, seed, number)
        return Distractors(np.isin(listed, chosen).tolist(), len(chosen))


def refuse_unmeasurable(measures: Sequence[Measure], pool: str) -> None:
    """Raises `NotComparable` for a measure that lists of this pool cannot have."""
    if pool != Pool.COLLECTION and any(measure.need is Need.DISTRACTORS for measure in measures):
        raise NotComparable(
            f"mrr_distractors draws its {POOL - 1} distractors from the whole collection, and these "
            "lists rank the candidates of a mining; leave it out, or evaluate with --pool collection."
        )


def groups_of(content: Content) -> dict[int, int]:
    """The group of each snippet that has near-duplicates, named by the place of its first."""
    rows = snippet_members(content.benchmark).select_related("text__body")
    found = find_duplicate_groups(row.text.text for row in rows.iterator(TEXTS_A_READ))
    groups = {place: group[0] for group in found for place in group}
    copies = {place: own for own, places in content.snippet_places.items() for place in places}
    return groups | {place: groups.get(own, own) for place, own in copies.items()}
