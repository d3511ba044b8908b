"""Two annotators over the pairs that both have labelled: where labels differ, and what their builds took.

An annotator is whoever labels: a version of the agents, a single LLM, the original data, a merge, a person.
Pairs of one query are not independent, so every interval resamples whole queries, as figures of studies
do. A pair that one of them has not labelled, or whose label was taken back, is not common: no label is
never a 0. An assisted label is left out, as it would agree with what was on the screen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import numpy as np
from django.core.cache import cache
from django.db.models import Count, Exists, F, Max, OuterRef, QuerySet

from annotation.agreement.flips import Figures, figures_of
from annotation.comparing import FEW_QUERIES, KEPT_SECONDS, MOST_RARE, Took, took_by
from annotation.models import Build, Case
from retrieval.models import Annotator, Label, Pair
from retrieval.models.labels import is_match, matching

LAST: Final = 0
"""Instead of the number of a round: of each pair the last one."""
MOST_QUERIES: Final = 20
MOST_PAIRS: Final = 50
CELLS: Final = ((1, 1), (1, 0), (0, 1), (0, 0))


@dataclass(frozen=True, slots=True)
class Side:
    """One annotator, the round of its labels (`LAST`: each pair's last) and the rounds that there are."""

    annotator: Annotator
    round: int
    rounds: tuple[int, ...]

    @property
    def looks_for_last(self) -> bool:
        """Whether a later round may take the place of a label."""
        return self.round == LAST and len(self.rounds) > 1


@dataclass(frozen=True, slots=True)
class Given:
    """The labels of one side, whether or not the other one has any: so many on this scale."""

    scale: str
    matches: int
    no_matches: int


@dataclass(frozen=True, slots=True)
class FlippedQuery:
    """A query (its id) with flips: to match, to no match, and its common pairs."""

    query: int
    to_match: int
    to_no_match: int
    pairs: int

    @property
    def alike(self) -> bool:
        """Whether all its pairs moved one way: then the counts tell each label."""
        return self.pairs in {self.to_match, self.to_no_match}


@dataclass(frozen=True, slots=True)
class FlippedPair:
    """A pair with two labels, 0 and 1, and a case of it that the reader may know of, if there is one."""

    pair: Pair
    first: int
    second: int
    case: Case | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two annotators say about their common pairs. `cells`: by (first, second) label, both 0 or 1."""

    first: Side
    second: Side
    cells: Mapping[tuple[int, int], int]
    given: tuple[tuple[Given, ...], tuple[Given, ...]]
    queries: int
    flipped_queries: int
    worst: tuple[FlippedQuery, ...]
    figures: Figures
    took: tuple[Took | None, Took | None]
    """Of the builds of either side; None where it has none."""

    @property
    def told(self) -> QuerySet[Pair]:
        """The common pairs of those queries among the worst whose counts tell each label."""
        queries = [one.query for one in self.worst if one.alike]
        labels = common(self.first, self.second).filter(pair__query__in=queries)
        return Pair.objects.filter(pk__in=labels.values("pair"))

    @property
    def pairs(self) -> int:
        return sum(self.cells.values())

    @property
    def flips(self) -> int:
        return self.cells[0, 1] + self.cells[1, 0]

    @property
    def few_queries(self) -> bool:
        return self.queries < FEW_QUERIES

    @property
    def scales_differ(self) -> bool:
        scales = {one.scale for side in self.given for one in side}
        return len(scales) > 1

    def alone(self, place: int, label: int) -> int:
        """Pairs that the side (0 the first, 1 the second) gave this label, and the other one none."""
        whole = sum(one.matches if label else one.no_matches for one in self.given[place])
        return whole - sum(count for both, count in self.cells.items() if both[place] == label)


@dataclass(frozen=True, slots=True)
class Reach:
    """Builds with cases of flipped pairs, those with the most first, as (id, pairs), and all such pairs."""

    builds: tuple[tuple[int, int], ...]
    pairs: int


def annotators() -> QuerySet[Annotator]:
    """Those with a label of their own. Whoever is kept blind must be refused before: labels tell of a study's
    pairs.
    """
    own = Label.objects.filter(annotator=OuterRef("pk"), assisted=False).order_by()
    return Annotator.objects.filter(Exists(own))


def side_of(annotator: Annotator, wanted: int = LAST) -> Side:
    """The side, with `LAST` for a round that it has not. One query."""
    rows = Label.objects.filter(annotator=annotator).order_by("round").values_list("round", flat=True)
    rounds = tuple(rows.distinct())
    return Side(annotator, wanted if wanted in rounds else LAST, rounds)


def compare(first: Side, second: Side, builds: QuerySet[Build]) -> Comparison:
    """The comparison as it is now, with what the `builds` that the reader may know of took.

    Kept until there is another label or a build changes: labels are added, never overwritten.
    """
    own = [builds_of(side, builds) for side in (first, second)]
    key = "annotators:" + ":".join(
        f"{side.annotator.pk}.{side.round}.{standing(side)}.{versions(of)}"
        for side, of in zip((first, second), own, strict=True)
    )
    found = cache.get(key)
    if found is None:
        labels = given(first), given(second)
        found = {"given": labels, "took": spent(first, second, own), **spread(by_query(first, second))}
        cache.set(key, found, KEPT_SECONDS)
    return Comparison(first, second, **found)


def spread(rows: Sequence[tuple[int, int, int, int, int]]) -> dict[str, Any]:
    """How the common pairs lie, from what `by_query` read."""
    counts = np.array([row[1:] for row in rows], dtype=np.int64).reshape(-1, 4)
    flipped = [FlippedQuery(row[0], row[3], row[2], sum(row[1:])) for row in rows if row[2] + row[3]]
    worst = sorted(flipped, key=lambda one: (-one.to_match - one.to_no_match, one.query))[:MOST_QUERIES]
    return {
        "cells": dict(zip(CELLS, map(int, counts.sum(axis=0)), strict=True)),
        "queries": len(rows),
        "flipped_queries": len(flipped),
        "worst": tuple(worst),
        "figures": figures_of(counts),
    }


def standing(side: Side) -> str:
    """What changes with each label of the annotator."""
    rows = Label.objects.filter(annotator=side.annotator).aggregate(labels=Count("pk"), last=Max("pk"))
    return f"{side.annotator.created_at:%s%f}-{rows['labels']}-{rows['last']}"


def versions(builds: Sequence[Build]) -> str:
    return ",".join(f"{one.pk}-{one.tally.version}" for one in builds)


def builds_of(side: Side, builds: QuerySet[Build]) -> list[Build]:
    """The side's builds among those, the newest first."""
    rows = builds.filter(annotator=side.annotator, opened=True).select_related("tally", "annotator")
    return list(rows.order_by("-pk"))


def labels_of(side: Side) -> QuerySet[Label]:
    """The labels of the side's round that were not taken back, without assisted ones."""
    rows = Label.objects.filter(annotator=side.annotator, assisted=False).order_by()
    if side.looks_for_last:
        later = Label.objects.filter(annotator=side.annotator, pair=OuterRef("pair"))
        rows = rows.filter(~Exists(later.filter(round__gt=OuterRef("round"))))
    elif side.round != LAST:
        rows = rows.filter(round=side.round)
    return rows.filter(value__isnull=False)


def common(first: Side, second: Side) -> QuerySet[Label]:
    """The first's labels of the pairs that both have labelled; `other` is then the second's value, and
    `other_scale` its scale.
    """
    wanted: dict[str, Any] = {
        "pair__labels__annotator": second.annotator,
        "pair__labels__value__isnull": False,
        "pair__labels__assisted": False,
    }
    if second.round != LAST:
        wanted["pair__labels__round"] = second.round
    rows = labels_of(first).filter(**wanted)
    theirs = {"other": "value", "other_round": "round", "other_scale": "scale"}
    rows = rows.alias(**{name: F(f"pair__labels__{column}") for name, column in theirs.items()})
    if not second.looks_for_last:
        return rows
    later = Label.objects.filter(annotator=second.annotator, pair=OuterRef("pair"))
    return rows.filter(~Exists(later.filter(round__gt=OuterRef("other_round"))))


def by_query(first: Side, second: Side) -> list[tuple[int, int, int, int, int]]:
    """Each query with its common pairs that are (1, 1), (1, 0), (0, 1), (0, 0). One query of the database.

    Graded labels are matches where they are in studies.
    """
    one, other = matching(), matching("other", "other_scale")
    counted = {
        "both": Count("pk", filter=one & other),
        "to_no_match": Count("pk", filter=one & ~other),
        "to_match": Count("pk", filter=~one & other),
        "neither": Count("pk", filter=~one & ~other),
    }
    rows = common(first, second).values("pair__query").annotate(**counted).order_by("pair__query")
    return list(rows.values_list("pair__query", *counted))


def given(side: Side) -> tuple[Given, ...]:
    """All labels of the side by scale. One query."""
    rows = labels_of(side).values("scale").order_by("scale")
    counted = rows.annotate(
        matches=Count("pk", filter=matching()), no_matches=Count("pk", filter=~matching())
    )
    return tuple(Given(*row) for row in counted.values_list("scale", "matches", "no_matches"))


def spent(first: Side, second: Side, own: Sequence[Sequence[Build]]) -> tuple[Took | None, Took | None]:
    """What the builds of both sides took for the common pairs."""

    def took(side: Side, builds: Sequence[Build]) -> Took | None:
        if not builds:
            return None
        shared = common(first, second).values("pair")
        cases = Case.objects.filter(build__in=[one.pk for one in builds], pair__in=shared).order_by()
        return took_by(cases if side.round == LAST else cases.filter(round=side.round))

    return took(first, own[0]), took(second, own[1])


def flips(first: Side, second: Side) -> QuerySet[Label]:
    """The first's labels of the pairs that the second labelled otherwise."""
    one, other = matching(), matching("other", "other_scale")
    return common(first, second).filter((one & ~other) | (~one & other))


def few_flips(first: Side, second: Side) -> tuple[int, ...] | None:
    """The flipped pairs; None where they are more than `MOST_RARE`. Kept until anybody labels anything.

    Whoever goes through a few flips would else have all labels of both read at each step.
    """
    last = Label.objects.aggregate(last=Max("pk"))["last"]
    sides = (f"{side.annotator.pk}.{side.annotator.created_at:%s%f}.{side.round}" for side in (first, second))
    key = f"few-flips:{':'.join(sides)}:{last}"
    kept: tuple[tuple[int, ...] | None] | None = cache.get(key)
    if kept is None:
        read = tuple(flips(first, second).values_list("pair", flat=True)[: MOST_RARE + 1])
        kept = (read if len(read) <= MOST_RARE else None,)
        cache.set(key, kept, KEPT_SECONDS)
    return kept[0]


def reach(found: Comparison, builds: QuerySet[Build]) -> Reach:
    """Where the flips have a case. Two queries, unless kept, until there is another label or case."""
    seen = list(builds.filter(opened=True).order_by("pk").values_list("pk", flat=True))
    last = Case.objects.aggregate(last=Max("pk"))["last"]
    sides = (f"{side.annotator.pk}.{side.round}.{standing(side)}" for side in (found.first, found.second))
    key = f"flips:{':'.join(sides)}:{last}:{hash_of(seen)}"
    kept: Reach | None = cache.get(key)
    if kept is None:
        kept = counted(flips(found.first, found.second).values("pair"), seen)
        cache.set(key, kept, KEPT_SECONDS)
    return kept


def counted(pairs: QuerySet[Label, Any], builds: Sequence[int]) -> Reach:
    """Cases of these pairs in each of the builds; a pair counts by its first round."""
    cases = Case.objects.filter(build__in=builds, round=1, pair__in=pairs).order_by()
    by_build = cases.values_list("build").annotate(flips=Count("pk")).order_by("-flips", "-build")
    pairs_with = cases.aggregate(pairs=Count("pair", distinct=True))["pairs"]
    return Reach(tuple(by_build), pairs_with)


def hash_of(value: object) -> str:
    return sha256(repr(value).encode()).hexdigest()[:32]


def flipped_pairs(found: Comparison, builds: QuerySet[Build]) -> tuple[FlippedPair, ...]:
    """Flips of the worst queries, the worst query's first, with the newest case of each. Three queries."""
    places = {one.query: place for place, one in enumerate(found.worst)}
    rows = flips(found.first, found.second).filter(pair__query__in=list(places))
    read = list(rows.order_by("pair").values_list("pair__query", "pair", "value", "scale"))
    kept = sorted(read, key=lambda row: (places[row[0]], row[1]))[:MOST_PAIRS]
    first = {pair: int(is_match(value or 0, scale)) for _, pair, value, scale in kept}
    pairs = Pair.objects.select_related("query", "snippet").in_bulk(first)
    cases = Case.objects.filter(pair__in=first, build__in=builds, round=1).order_by("build")
    newest = {case.pair_id: case for case in cases.only("pair", "build")}
    return tuple(FlippedPair(pairs[pair], one, 1 - one, newest.get(pair)) for pair, one in first.items())
