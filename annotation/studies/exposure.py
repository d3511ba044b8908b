"""Who was served what agents or others said of which pair: nobody who has seen a pair can label it blind
afterwards, or change a label that was given before.

A pair is seen by itself, or together with all others of a benchmark or a build. A file of a benchmark's
labels shows all of them. A list that was filtered, sorted or counted by verdicts also tells of the cases that
it leaves out. Such a group is one row, whatever its size; its pairs are looked up when somebody asks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import Case, Seen, SeenBenchmark, SeenBuild, StudyPair
from retrieval.models import Benchmark, BenchmarkLabel
from retrieval.models.prepared_query import PreparedQuery

SEEN_PAIR: PreparedQuery[Any] = PreparedQuery(
    lambda user, pair: Seen.objects.filter(user=user, pair=pair, verdict=True).values_list("pair", flat=True),
    *(int, int),
)
MOST_PAIRS: Final = 1000
"""A list of so many pairs is remembered pair by pair; of more the whole build is."""


def pairs_of_study_rows(rows: QuerySet[StudyPair]) -> set[int]:
    """The pairs (ids) of these rows of a study: two where it compares two snippets."""
    return {pair for both in rows.values_list("pair", "other") for pair in both if pair is not None}


def mark_seen(user: AbstractBaseUser | AnonymousUser, pairs: Iterable[int]) -> None:
    """Remember that `user` was served what was said of these pairs (ids). Safe to repeat."""
    if not user.is_authenticated:
        return
    shown = set(pairs)
    if len(shown) == 1:
        known: Iterable[int] = SEEN_PAIR.load(user.pk, *shown)
    else:
        rows = Seen.objects.filter(user_id=user.pk, pair_id__in=shown, verdict=True)
        known = rows.values_list("pair_id", flat=True)
    record_exposure(user, shown.difference(known))


def record_exposure(user: AbstractBaseUser, pairs: Iterable[int]) -> None:
    rows = [Seen(user_id=user.pk, pair_id=pair) for pair in sorted(pairs)]
    if rows:
        Seen.objects.bulk_create(
            rows, update_conflicts=True, unique_fields=["user", "pair"], update_fields=["verdict"]
        )


def mark_test_seen(user: AbstractBaseUser | AnonymousUser, pair: int) -> None:
    """Remember that `user` was shown the agents' test of a pair, and not what they said. Safe to repeat."""
    if user.is_authenticated and not Seen.objects.filter(user_id=user.pk, pair_id=pair).exists():
        row = Seen(user_id=user.pk, pair_id=pair, verdict=False)
        Seen.objects.bulk_create([row], ignore_conflicts=True)


def mark_counts_seen(
    user: AbstractBaseUser | AnonymousUser, cases: QuerySet[Case], queries: Iterable[int]
) -> None:
    """Remember what counts of labels tell: where all cases of a query have one label, that of each pair.

    One query, also where many pairs are told, as long as none of them is new.
    """
    if not user.is_authenticated:
        return
    known = Seen.objects.filter(user_id=user.pk, pair=OuterRef("pair"), verdict=True)
    labelled = Q(label__isnull=False) | Q(label_in_force__isnull=False)
    told = cases.filter(~Exists(known), labelled, query__in=list(queries)).order_by()
    record_exposure(user, set(told.values_list("pair", flat=True)))


def mark_list_seen(user: AbstractBaseUser | AnonymousUser, build: int, among: QuerySet[Case]) -> None:
    """Remember a list of a build's cases that was filtered, sorted or counted by verdicts.

    It tells of all the cases that it was taken from (`among`). Safe to repeat.
    """
    if not user.is_authenticated or SeenBuild.objects.filter(user_id=user.pk, build=build).exists():
        return
    pairs = list(among.order_by().values_list("pair", flat=True)[: MOST_PAIRS + 1])
    if len(pairs) > MOST_PAIRS:
        mark_builds_seen(user, [build])
    else:
        mark_seen(user, pairs)


def mark_builds_seen(user: AbstractBaseUser | AnonymousUser, builds: Iterable[int]) -> None:
    """The same of all pairs of these builds (ids)."""
    if user.is_authenticated:
        rows = [SeenBuild(user_id=user.pk, build_id=build) for build in builds]
        SeenBuild.objects.bulk_create(rows, ignore_conflicts=True)


def mark_benchmark_seen(user: AbstractBaseUser | AnonymousUser, benchmark: Benchmark) -> None:
    """Remember that `user` was given all labels of a benchmark. Safe to repeat."""
    if user.is_authenticated:
        row = SeenBenchmark(user_id=user.pk, benchmark=benchmark)
        SeenBenchmark.objects.bulk_create([row], ignore_conflicts=True)


def has_seen(user: Any, pair: Any) -> Q:
    """Whether `user` has seen `pair`: ids or references to columns of an outer query."""
    alone = Seen.objects.filter(user=user, pair=pair)
    files = BenchmarkLabel.objects.filter(benchmark__seen__user=user, pair=pair)
    lists = Case.objects.filter(build__seen__user=user, pair=pair)
    return Q(Exists(alone)) | Q(Exists(files)) | Q(Exists(lists.order_by()))


def seen_among(users: Collection[int], pairs: Collection[int]) -> set[tuple[int, int]]:
    """(user, pair) of those that these users (ids) have seen. One query."""
    alone = Seen.objects.filter(user__in=users, pair__in=pairs).values_list("user_id", "pair_id")
    files = BenchmarkLabel.objects.filter(benchmark__seen__user__in=users, pair__in=pairs)
    lists = Case.objects.filter(build__seen__user__in=users, pair__in=pairs).order_by()
    return set(
        alone.union(
            files.values_list("benchmark__seen__user_id", "pair_id"),
            lists.values_list("build__seen__user_id", "pair_id"),
        )
    )


def is_exposed_to_pairs(user: int, pairs: Collection[int], *, beyond_test: bool) -> bool:
    """Whether a user (id) may know what was said of any of these pairs (ids).

    `beyond_test`: the agents' test alone does not count, as it was there when the label was given.
    """
    alone = Seen.objects.filter(user=user, pair__in=pairs)
    if (alone.filter(verdict=True) if beyond_test else alone).exists():
        return True
    files = BenchmarkLabel.objects.filter(benchmark__seen__user=user, pair__in=pairs)
    return files.exists() or Case.objects.filter(build__seen__user=user, pair__in=pairs).exists()
