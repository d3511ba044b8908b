"""Two builds over the pairs that both have: where their labels differ, and what each of them took.

Of a build with several rounds the first is compared: what a rule makes of them all was not asked in one go.
Pairs of one query are not independent, so every interval resamples whole queries, as figures of studies do.
Where a side has no label there is no flip: "could not judge" is never "no match".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any, Final, TypeAlias

import numpy as np
from django.core.cache import cache
from django.db.models import BooleanField, Count, Exists, F, OuterRef, Q, QuerySet, Sum, When
from django.db.models import Case as Either
from django.db.models import Value as Constant

from annotation.agreement import Draws, flips, measure
from annotation.agreement.statistic import Drawn
from annotation.models import Build, Case, LLMCall, Step
from annotation.stages import Event, Stage
from retrieval.models import Text

FEW_QUERIES: Final = 30
"""With fewer, such an interval is known to be too short."""
MOST_QUERIES: Final = 20
KEPT_SECONDS: Final = 3600
MOST_RARE: Final = 2000
"""A cell with as many cases is rare: its cases are kept one by one."""
Cell: TypeAlias = tuple[int | None, int | None]
"""What the first said of a pair, and what the second."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A share with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Judged:
    """What one side said of a pair: `label` None without one; `tested` when a test program was written."""

    label: int | None
    tested: bool


@dataclass(frozen=True, slots=True)
class Group:
    """So many common pairs about which the two sides said these things."""

    first: Judged
    second: Judged
    pairs: int

    @property
    def is_flip(self) -> bool:
        return {self.first.label, self.second.label} == {0, 1}


@dataclass(frozen=True, slots=True)
class Took:
    """What one side's cases of the common pairs took. Money in nanodollars, times in seconds.

    Calls are those that its steps rest on, whoever paid them: a reply that was paid by another build counts
    for both. Calls that failed rest under no step.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    cost: int
    asking_seconds: float
    programs: int
    ran: int
    running_seconds: float
    second_tests: int
    second_touched: int
    second_cost: int


@dataclass(frozen=True, slots=True)
class FlippedQuery:
    """A query with flips: to match, to no match, and its pairs that both sides judged."""

    query: Text
    to_match: int
    to_no_match: int
    judged: int

    @property
    def flips(self) -> int:
        return self.to_match + self.to_no_match

    @property
    def alike(self) -> bool:
        """Whether all its pairs moved one way: then the counts tell each label."""
        return self.judged in {self.to_match, self.to_no_match}


@dataclass(frozen=True, slots=True)
class Spread:
    """How the flips lie: by query, with the shares that follow; None where no pair was judged by both."""

    queries: int
    flipped_queries: int
    worst: tuple[tuple[int, int, int, int], ...]
    agreement: Interval | None
    shift: Interval | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that two builds say about their common pairs; `shift` is the second's share of matches minus
    the first's.
    """

    first: Build
    second: Build
    groups: tuple[Group, ...]
    took: tuple[Took, Took]
    spread: Spread
    worst: tuple[FlippedQuery, ...]

    @property
    def told(self) -> list[int]:
        """The queries (ids) among the worst whose counts tell each label."""
        return [one.query.pk for one in self.worst if one.alike]

    def count(self, first: int | None, second: int | None) -> int:
        """Common pairs with these two labels; None stands for no label."""
        wanted = first, second
        return sum(one.pairs for one in self.groups if (one.first.label, one.second.label) == wanted)

    @property
    def pairs(self) -> int:
        return sum(one.pairs for one in self.groups)

    @property
    def judged(self) -> int:
        """Pairs that have a label on both sides."""
        return sum(self.count(one, other) for one in (0, 1) for other in (0, 1))

    @property
    def flips(self) -> int:
        return self.count(0, 1) + self.count(1, 0)

    @property
    def few_queries(self) -> bool:
        return self.spread.queries < FEW_QUERIES


def compare(first: Build, second: Build) -> Comparison:
    """The comparison as it is now; kept until one of the builds changes."""
    key = key_of(first, second)
    found = cache.get(key)
    if found is None:
        found = groups_of(first, second), (took(first, second), took(second, first)), spread(first, second)
        cache.set(key, found, KEPT_SECONDS)
        keep_rare(first, second, found[0])
    groups, spent, spread_found = found
    return Comparison(first, second, groups, spent, spread_found, named(spread_found.worst))


def key_of(first: Build, second: Build) -> str:
    """Changes when one of the builds does."""
    sides = (f"{one.pk}.{one.created_at:%s%f}.{one.tally.version}" for one in (first, second))
    return "comparison:" + ":".join(sides)


def rare_cell(first: Build, second: Build, said: int | None, other: int | None) -> tuple[int, ...] | None:
    """The second's cases of the common pairs that the first gave the label `said` and the second `other`.

    None where they are more than `MOST_RARE`. A few among hundreds of thousands are found by reading all of
    them alone, so they are kept as the comparison is, which has mostly been made before anybody asks.
    """
    key = f"{key_of(first, second)}:{said}:{other}"
    kept: tuple[tuple[int, ...] | None] | None = cache.get(key)
    if kept is None:
        rows = cells_of(first, second, {(said, other)})[: MOST_RARE + 1]
        read = tuple(case for _, _, case in rows)
        kept = (read if len(read) <= MOST_RARE else None,)
        cache.set(key, kept, KEPT_SECONDS)
    return kept[0]


def keep_rare(first: Build, second: Build, groups: Iterable[Group]) -> None:
    """Keep the cases of all rare cells, and which ones are not. One query."""
    counts: dict[Cell, int] = {(said, other): 0 for said in (1, 0, None) for other in (1, 0, None)}
    for one in groups:
        counts[one.first.label, one.second.label] += one.pairs
    kept: dict[Cell, list[int]] = {cell: [] for cell, pairs in counts.items() if pairs <= MOST_RARE}
    rare = [cell for cell in kept if counts[cell]]
    for said, other, case in cells_of(first, second, rare) if rare else ():
        kept[said, other].append(case)
    key = key_of(first, second)
    for cell in counts:
        ids = tuple(kept[cell]) if cell in kept else None
        cache.set(f"{key}:{cell[0]}:{cell[1]}", (ids,), KEPT_SECONDS)


def cells_of(first: Build, second: Build, cells: Iterable[Cell]) -> QuerySet[Case, Any]:
    """The second's cases of these cells, as (first label, second label, case)."""
    rows = common(first, second).alias(other=F("pair__cases__label"))
    wanted = (labelled("label", said) & labelled("other", other) for said, other in cells)
    return rows.filter(reduce(Q.__or__, wanted)).values_list("label", "pair__cases__label", "pair__cases__pk")


def labelled(name: str, label: int | None) -> Q:
    return Q(**{f"{name}__isnull": True}) if label is None else Q(**{name: label})


def common(build: Build, other: Build, **conditions: object) -> QuerySet[Case]:
    """The cases of `build` whose pair `other` has too; `pair__cases` is then the other's case.

    Conditions on that case belong here: another call of `filter` would be about any case of the pair.
    """
    first = {"round": 1, "pair__cases__round": 1}
    return Case.objects.filter(build=build, pair__cases__build=other, **first, **conditions).order_by()


def groups_of(first: Build, second: Build) -> tuple[Group, ...]:
    """The common pairs by what was said of them. One query."""
    rows = (
        common(first, second)
        .annotate(
            tested=has_program("program"),
            other_label=F("pair__cases__label"),
            other_tested=has_program("pair__cases__program"),
        )
        .values_list("label", "tested", "other_label", "other_tested")
        .annotate(pairs=Count("pk"))
    )
    return tuple(Group(Judged(a, b), Judged(c, d), pairs) for a, b, c, d, pairs in rows)


def has_program(path: str) -> Either:
    written = When(**{f"{path}__isnull": False}, then=Constant(True))
    return Either(written, default=Constant(False), output_field=BooleanField())


def took(build: Build, other: Build) -> Took:
    """What `build`'s cases of the common pairs took."""
    return took_by(common(build, other))


def took_by(cases: QuerySet[Case]) -> Took:
    """What these cases took. Two queries, and one where there were second tests."""
    steps = Step.objects.filter(case__in=cases.values("pk"), call__isnull=False)
    calls = LLMCall.objects.filter(pk__in=steps.order_by().values("call")).aggregate(
        calls=Count("pk"),
        input_tokens=Sum(F("input_tokens") + F("cache_read_tokens") + F("cache_write_tokens")),
        output_tokens=Sum("output_tokens"),
        cost=Sum("cost"),
        asking_seconds=Sum("latency"),
    )
    run = cases.filter(execution__isnull=False)
    programs = run.aggregate(
        programs=Count("pk"),
        ran=Count("pk", filter=Q(execution__ran=True)),
        running_seconds=Sum("execution__seconds"),
        second_tests=Count("pk", filter=Q(tested_again=True)),
        second_touched=Count("pk", filter=Q(tested_again=True, execution__touched=True)),
    )
    found = {**calls, **programs, "second_cost": second_cost(steps) if programs["second_tests"] else 0}
    return Took(**{field.name: found[field.name] or 0 for field in fields(Took)})


def second_cost(steps: QuerySet[Step]) -> int | None:
    """Nanodollars of the writer's calls after a first program that tested nothing."""
    again = Step.objects.filter(case=OuterRef("case"), number__lt=OuterRef("number"))
    writing = steps.filter(Exists(again.filter(event=Event.TESTED_NOTHING)), before=Stage.WRITING_TEST)
    calls = LLMCall.objects.filter(pk__in=writing.order_by().values("call"))
    cost: int | None = calls.aggregate(cost=Sum("cost"))["cost"]
    return cost


def spread(first: Build, second: Build) -> Spread:
    """The flips by query. One query of the database, then the resampling."""
    rows = list(
        common(first, second, label__isnull=False, pair__cases__label__isnull=False)
        .values_list("query")
        .annotate(
            judged=Count("pk"),
            to_match=Count("pk", filter=Q(label=0, pair__cases__label=1)),
            to_no_match=Count("pk", filter=Q(label=1, pair__cases__label=0)),
        )
        .order_by("query")
        .values_list("query", "to_match", "to_no_match", "judged")
    )
    flipped = [row for row in rows if row[1] + row[2]]
    worst = sorted(flipped, key=lambda row: (-row[1] - row[2], row[0]))[:MOST_QUERIES]
    return Spread(len(rows), len(flipped), tuple(worst), *shares([row[1:] for row in rows]))


def shares(queries: Iterable[tuple[int, int, int]]) -> tuple[Interval | None, Interval | None]:
    """Agreement, and the shift towards match, from (to match, to no match, judged) of each query."""
    counts = np.array(list(queries), dtype=np.int64).reshape(-1, 3)
    if not counts.size:
        return None, None
    moved = flips.shares(*counts.T)
    found = measure(Draws.even(len(counts)), {name: moved[name] for name in ("agreement", "shift")})
    return interval(found["agreement"]), interval(found["shift"])


def interval(found: Drawn) -> Interval:
    """The figure with the ends that it has in studies, too."""
    ends = flips.ends(found)
    assert ends is not None
    return Interval(found.value, *ends)


def named(rows: Iterable[tuple[int, int, int, int]]) -> tuple[FlippedQuery, ...]:
    """The rows with their queries' texts. One query."""
    found = list(rows)
    texts = Text.objects.with_bodies().in_bulk([row[0] for row in found])
    return tuple(FlippedQuery(texts[query], *counts) for query, *counts in found)


def settings_that_differ(first: Build, second: Build) -> Mapping[str, tuple[object, object]]:
    """Where the two annotators' configurations differ, by dotted name; prompts by their hash."""
    one, other = (dict(flat(build.annotator.config)) for build in (first, second))
    names = sorted(one.keys() | other.keys())
    return {name: (one.get(name), other.get(name)) for name in names if one.get(name) != other.get(name)}


def flat(config: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, object]]:
    """A nested configuration as dotted names and values."""
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
