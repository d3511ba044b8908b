"""Two annotators over the pairs that both have labelled: where labels differ, and what their builds took.

An annotator is whoever labels: a version of the agents, a single LLM, the original data, a merge, a person.
A pair that one of them has not labelled, or whose label was withdrawn, is not shared: no label is
never a 0. An assisted label is left out, as it would agree with what was on the screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, cast

from django.core.cache import cache
from django.db.models import Count, Exists, F, Max, OuterRef, QuerySet

from annotation.builds.results.build_comparison import Took, took_by
from annotation.builds.results.label_comparison import (
    KEPT_SECONDS,
    CommonPairs,
    LabelComparison,
    compare_labels,
    keep_few,
)
from annotation.models import Build, Case
from retrieval.models import Annotator, Label, Pair
from retrieval.models.labels import filter_matching_labels, is_match

LAST: Final = 0
"""Instead of the number of a round: of each pair the last one."""
MOST_PAIRS: Final = 50


@dataclass(frozen=True, slots=True)
class AnnotatorSide:
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
class FlippedPair:
    """A pair with two labels, 0 and 1, and a case of it that the reader may know of, if there is one."""

    pair: Pair
    first: int
    second: int
    case: Case | None


@dataclass(frozen=True, slots=True)
class AnnotatorComparison(LabelComparison):
    """What two annotators say about their common pairs: each has a label of both."""

    first: AnnotatorSide
    second: AnnotatorSide
    given: tuple[tuple[Given, ...], tuple[Given, ...]]
    took: tuple[Took | None, Took | None]
    """Of the builds of either side; None where it has none."""

    @property
    def told(self) -> QuerySet[Pair]:
        """The common pairs of those queries among the worst whose counts tell each label."""
        labels = find_common_labels(self.first, self.second).filter(pair__query__in=self.told_queries)
        return Pair.objects.filter(pk__in=labels.values("pair"))

    def count(self, first: int | None, second: int | None) -> int | None:
        """Also of pairs that one alone labelled; nobody counts those that neither did."""
        if first is not None and second is not None:
            return self.cells[first, second]
        if first is second:
            return None
        return self.alone(0, first) if first is not None else self.alone(1, second or 0)

    @property
    def scales_differ(self) -> bool:
        return len({given.scale for side in self.given for given in side}) > 1

    def alone(self, place: int, label: int) -> int:
        """Pairs that the side (0 the first, 1 the second) gave this label, and the other one none."""
        whole = sum(given.matches if label else given.no_matches for given in self.given[place])
        return whole - sum(count for both, count in self.cells.items() if both[place] == label)


@dataclass(frozen=True, slots=True)
class Reach:
    """Builds with cases of flipped pairs, those with the most first, as (id, pairs), and all such pairs."""

    builds: tuple[tuple[int, int], ...]
    pairs: int


def find_labelling_annotators() -> QuerySet[Annotator]:
    """Those with a label of their own. Whoever is kept blind must be refused before: labels tell of a study's
    pairs.
    """
    own = Label.objects.filter(annotator=OuterRef("pk"), assisted=False).order_by()
    return Annotator.objects.filter(Exists(own))


def side_of(annotator: Annotator, wanted: int = LAST) -> AnnotatorSide:
    """The side, with `LAST` for a round that it has not. One query."""
    rows = Label.objects.filter(annotator=annotator).order_by("round").values_list("round", flat=True)
    rounds = tuple(rows.distinct())
    return AnnotatorSide(annotator, wanted if wanted in rounds else LAST, rounds)


def compare_two_annotators(
    first: AnnotatorSide, second: AnnotatorSide, builds: QuerySet[Build]
) -> AnnotatorComparison:
    """The comparison as it is now, with what the `builds` that the reader may know of took.

    Kept until there is another label or a build changes: labels are added, never overwritten.
    """
    own = [builds_of(side, builds) for side in (first, second)]
    key = "annotator-comparison:" + ":".join(
        f"{side.annotator.pk}.{side.round}.{build_side_fingerprint(side)}."
        + ",".join(f"{build.pk}-{build.tally.version}" for build in of)
        for side, of in zip((first, second), own, strict=True)
    )

    def compare() -> dict[str, Any]:
        return {
            "given": (count_labels_by_scale(first), count_labels_by_scale(second)),
            "took": compute_side_costs(first, second, own),
            **compare_labels(find_common_pairs(first, second).count_by_query()),
        }

    found = cast("dict[str, Any]", cache.get_or_set(key, compare, KEPT_SECONDS))
    return AnnotatorComparison(first=first, second=second, **found)


def build_side_fingerprint(side: AnnotatorSide) -> str:
    """What changes with each label of the annotator."""
    rows = Label.objects.filter(annotator=side.annotator).aggregate(labels=Count("pk"), last=Max("pk"))
    return f"{side.annotator.created_at:%s%f}-{rows['labels']}-{rows['last']}"


def builds_of(side: AnnotatorSide, builds: QuerySet[Build]) -> list[Build]:
    """The side's builds among those, the newest first."""
    rows = builds.filter(annotator=side.annotator, opened=True).select_related("tally", "annotator")
    return list(rows.order_by("-pk"))


def labels_of(side: AnnotatorSide) -> QuerySet[Label]:
    """The labels of the side's round that were not taken back, without assisted ones."""
    rows = Label.objects.filter(annotator=side.annotator, assisted=False).order_by()
    if side.looks_for_last:
        later = Label.objects.filter(annotator=side.annotator, pair=OuterRef("pair"))
        rows = rows.filter(~Exists(later.filter(round__gt=OuterRef("round"))))
    elif side.round != LAST:
        rows = rows.filter(round=side.round)
    return rows.filter(value__isnull=False)


def find_common_labels(first: AnnotatorSide, second: AnnotatorSide) -> QuerySet[Label]:
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


def find_common_pairs(first: AnnotatorSide, second: AnnotatorSide) -> CommonPairs:
    """The pairs that both labelled. Graded labels are matches where they are in studies."""
    one, other = filter_matching_labels(), filter_matching_labels("other", "other_scale")
    return CommonPairs(find_common_labels(first, second), "pair__query", one, other)


def count_labels_by_scale(side: AnnotatorSide) -> tuple[Given, ...]:
    """All labels of the side by scale. One query."""
    rows = labels_of(side).values("scale").order_by("scale")
    counted = rows.annotate(
        matches=Count("pk", filter=filter_matching_labels()),
        no_matches=Count("pk", filter=~filter_matching_labels()),
    )
    return tuple(Given(*row) for row in counted.values_list("scale", "matches", "no_matches"))


def compute_side_costs(
    first: AnnotatorSide, second: AnnotatorSide, own: Sequence[Sequence[Build]]
) -> tuple[Took | None, Took | None]:
    """What the builds of both sides took for the common pairs."""

    def took(side: AnnotatorSide, builds: Sequence[Build]) -> Took | None:
        if not builds:
            return None
        shared = find_common_labels(first, second).values("pair")
        cases = Case.objects.filter(build__in=[build.pk for build in builds], pair__in=shared).order_by()
        return took_by(cases if side.round == LAST else cases.filter(round=side.round))

    return took(first, own[0]), took(second, own[1])


def find_flipped_labels(first: AnnotatorSide, second: AnnotatorSide) -> QuerySet[Label]:
    """The first's labels of the pairs that the second labelled otherwise."""
    return find_common_pairs(first, second).differing()


def few_flips(first: AnnotatorSide, second: AnnotatorSide) -> tuple[int, ...] | None:
    """The flipped pairs; None where they are more than `MOST_RARE`. Kept until anybody labels anything.

    Whoever goes through a few flips would else have all labels of both read at each step.
    """
    last = Label.objects.aggregate(last=Max("pk"))["last"]
    sides = (f"{side.annotator.pk}.{side.annotator.created_at:%s%f}.{side.round}" for side in (first, second))
    pairs = find_flipped_labels(first, second).values_list("pair", flat=True)
    return keep_few(f"few-flips:{':'.join(sides)}:{last}", pairs)


def compute_flip_reach(found: AnnotatorComparison, builds: QuerySet[Build]) -> Reach:
    """Where the flips have a case. Two queries, unless kept, until there is another label or case."""
    seen = list(builds.filter(opened=True).order_by("pk").values_list("pk", flat=True))
    last = Case.objects.aggregate(last=Max("pk"))["last"]
    sides = (
        f"{side.annotator.pk}.{side.round}.{build_side_fingerprint(side)}"
        for side in (found.first, found.second)
    )
    key = f"flips:{':'.join(sides)}:{last}:{hash_of(seen)}"
    pairs = find_flipped_labels(found.first, found.second).values("pair")
    return cast(Reach, cache.get_or_set(key, lambda: count_cases_by_build(pairs, seen), KEPT_SECONDS))


def count_cases_by_build(pairs: QuerySet[Label, Any], builds: Sequence[int]) -> Reach:
    """Cases of these pairs in each of the builds; a pair counts by its first round."""
    cases = Case.objects.filter(build__in=builds, round=1, pair__in=pairs).order_by()
    by_build = cases.values_list("build").annotate(flips=Count("pk")).order_by("-flips", "-build")
    pairs_with = cases.aggregate(pairs=Count("pair", distinct=True))["pairs"]
    return Reach(tuple(by_build), pairs_with)


def hash_of(value: object) -> str:
    return sha256(repr(value).encode()).hexdigest()[:32]


def flipped_pairs(found: AnnotatorComparison, builds: QuerySet[Build]) -> tuple[FlippedPair, ...]:
    """Flips of the worst queries, the worst query's first, with the newest case of each. Three queries."""
    places = {query.query: place for place, query in enumerate(found.worst)}
    rows = find_flipped_labels(found.first, found.second).filter(pair__query__in=list(places))
    read = list(rows.order_by("pair").values_list("pair__query", "pair", "value", "scale"))
    kept = sorted(read, key=lambda row: (places[row[0]], row[1]))[:MOST_PAIRS]
    first = {pair: int(is_match(value or 0, scale)) for _, pair, value, scale in kept}
    pairs = Pair.objects.select_related("query", "snippet").in_bulk(first)
    cases = Case.objects.filter(pair__in=first, build__in=builds, round=1).order_by("build")
    newest = {case.pair_id: case for case in cases.only("pair", "build")}
    return tuple(FlippedPair(pairs[pair], one, 1 - one, newest.get(pair)) for pair, one in first.items())
