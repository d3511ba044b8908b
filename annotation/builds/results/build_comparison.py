"""Two builds on the pairs that they share: where their labels differ, and what each build cost.

If a build has several rounds, the first one is compared: only its labels were asked for in one go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import partial, reduce
from typing import Any, cast

from django.core.cache import cache
from django.db.models import BooleanField, Count, Exists, F, OuterRef, Q, QuerySet, Sum, Value, When
from django.db.models import Case as Either

from annotation.builds.results.label_comparison import (
    KEPT_SECONDS,
    MOST_RARE,
    Cell,
    CommonPairs,
    LabelComparison,
    compare_labels,
    keep_few,
)
from annotation.models import Build, Case, LLMCall, Step
from annotation.stages import Event, Stage

LABELS = (1, 0, None)


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
class BuildComparison(LabelComparison):
    """Everything that two builds say about their common pairs, also of those that a side could not judge.

    `figures.shift` is the second's share of matches minus the first's.
    """

    first: Build
    second: Build
    groups: tuple[Group, ...]
    took: tuple[Took, Took]


def compare_two_builds(first: Build, second: Build) -> BuildComparison:
    """The comparison as it is now; kept until one of the builds changes."""
    compute = partial(compute_build_comparison, first, second)
    found = cache.get_or_set(format_comparison_key(first, second), compute, KEPT_SECONDS)
    return BuildComparison(first=first, second=second, **cast("dict[str, Any]", found))


def compute_build_comparison(first: Build, second: Build) -> dict[str, Any]:
    """What is kept of a comparison, beside the cases of its rare cells."""
    groups = groups_of(first, second)
    cells: dict[Cell, int] = {(said, other): 0 for said in LABELS for other in LABELS}
    for group in groups:
        cells[group.first.label, group.second.label] += group.pairs
    keep_rare(first, second, cells)
    return {
        **compare_labels(find_judged_pairs(first, second).count_by_query()),
        "cells": cells,
        "groups": groups,
        "took": (took_by(find_common_cases(first, second)), took_by(find_common_cases(second, first))),
    }


def find_judged_pairs(first: Build, second: Build) -> CommonPairs:
    """The first's cases of the pairs that both judged."""
    judged = {"label__isnull": False, "pair__cases__label__isnull": False}
    rows = find_common_cases(first, second, **judged).alias(other=F("pair__cases__label"))
    return CommonPairs(rows, "query", Q(label=1), Q(other=1))


def format_comparison_key(first: Build, second: Build) -> str:
    """Changes when one of the builds does."""
    sides = (f"{side.pk}.{side.created_at:%s%f}.{side.tally.version}" for side in (first, second))
    return "build-comparison:" + ":".join(sides)


def rare_cell(first: Build, second: Build, said: int | None, other: int | None) -> tuple[int, ...] | None:
    """The second's cases of the common pairs that the first gave the label `said` and the second `other`.

    None where they are more than `MOST_RARE`. A few among hundreds of thousands are found by reading all of
    them alone, so they are kept as the comparison is, which has mostly been made before anybody asks.
    """
    cases = cells_of(first, second, {(said, other)}).values_list("pair__cases__pk", flat=True)
    return keep_few(f"{format_comparison_key(first, second)}:{said}:{other}", cases)


def keep_rare(first: Build, second: Build, counts: Mapping[Cell, int]) -> None:
    """Keep the cases of all rare cells, and which ones are not. One query."""
    kept: dict[Cell, list[int]] = {cell: [] for cell, pairs in counts.items() if pairs <= MOST_RARE}
    rare = [cell for cell in kept if counts[cell]]
    for said, other, case in cells_of(first, second, rare) if rare else ():
        kept[said, other].append(case)
    key = format_comparison_key(first, second)
    for cell in counts:
        ids = tuple(kept[cell]) if cell in kept else None
        cache.set(f"{key}:{cell[0]}:{cell[1]}", (ids,), KEPT_SECONDS)


def cells_of(first: Build, second: Build, cells: Iterable[Cell]) -> QuerySet[Case, Any]:
    """The second's cases of these cells, as (first label, second label, case)."""
    rows = find_common_cases(first, second).alias(other=F("pair__cases__label"))
    wanted = (filter_by_label("label", said) & filter_by_label("other", other) for said, other in cells)
    return rows.filter(reduce(Q.__or__, wanted)).values_list("label", "pair__cases__label", "pair__cases__pk")


def filter_by_label(name: str, label: int | None) -> Q:
    return Q(**{f"{name}__isnull": True}) if label is None else Q(**{name: label})


def find_common_cases(build: Build, other: Build, **conditions: object) -> QuerySet[Case]:
    """The cases of `build` whose pair `other` has too; `pair__cases` is then the other's case.

    Conditions on that case belong here: another call of `filter` would be about any case of the pair.
    """
    first = {"round": 1, "pair__cases__round": 1}
    return Case.objects.filter(build=build, pair__cases__build=other, **first, **conditions).order_by()


def groups_of(first: Build, second: Build) -> tuple[Group, ...]:
    """How many shared pairs have each combination of labels. One query."""
    rows = (
        find_common_cases(first, second)
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
    written = When(**{f"{path}__isnull": False}, then=Value(True))
    return Either(written, default=Value(False), output_field=BooleanField())


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


def settings_that_differ(first: Build, second: Build) -> Mapping[str, tuple[object, object]]:
    """Where the two annotators' configurations differ, by dotted name; prompts by their hash."""
    one, other = (dict(flatten_config(build.annotator.config)) for build in (first, second))
    names = sorted(one.keys() | other.keys())
    return {name: (one.get(name), other.get(name)) for name in names if one.get(name) != other.get(name)}


def flatten_config(config: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, object]]:
    """A nested configuration as dotted names and values."""
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from flatten_config(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
