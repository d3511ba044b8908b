"""Who was served agent evidence on which pair: nobody who has seen a pair can label it blind afterwards.

A pair is seen by itself, or with all others of a benchmark whose labels somebody was given as a file: that is
one row, whatever the benchmark's size, and the pairs are looked up when somebody asks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Exists, Q, QuerySet

from annotation.models import Seen, SeenBenchmark, StudyPair
from retrieval.models import Benchmark, BenchmarkLabel


def sides(rows: QuerySet[StudyPair]) -> set[int]:
    """The pairs (ids) of these rows of a study: two where it compares two snippets."""
    return {pair for both in rows.values_list("pair", "other") for pair in both if pair is not None}


def mark_seen(user: AbstractBaseUser | AnonymousUser, pairs: Iterable[int]) -> None:
    """Remember that `user` was served a page with agent evidence on these pairs (ids). Safe to repeat."""
    if not user.is_authenticated:
        return
    shown = set(pairs)
    known = Seen.objects.filter(user_id=user.pk, pair_id__in=shown).values_list("pair_id", flat=True)
    rows = [Seen(user_id=user.pk, pair_id=pair) for pair in sorted(shown.difference(known))]
    if rows:
        Seen.objects.bulk_create(rows, ignore_conflicts=True)


def mark_benchmark_seen(user: AbstractBaseUser | AnonymousUser, benchmark: Benchmark) -> None:
    """Remember that `user` was given all labels of a benchmark. Safe to repeat."""
    if user.is_authenticated:
        row = SeenBenchmark(user_id=user.pk, benchmark=benchmark)
        SeenBenchmark.objects.bulk_create([row], ignore_conflicts=True)


def has_seen(user: Any, pair: Any) -> Q:
    """Whether `user` has seen `pair`: ids or references to columns of an outer query."""
    alone = Seen.objects.filter(user=user, pair=pair)
    files = BenchmarkLabel.objects.filter(benchmark__seen__user=user, pair=pair)
    return Q(Exists(alone)) | Q(Exists(files))


def seen_among(users: Collection[int], pairs: Collection[int]) -> set[tuple[int, int]]:
    """(user, pair) of those that these users (ids) have seen. One query."""
    alone = Seen.objects.filter(user__in=users, pair__in=pairs).values_list("user_id", "pair_id")
    files = BenchmarkLabel.objects.filter(benchmark__seen__user__in=users, pair__in=pairs)
    return set(alone.union(files.values_list("benchmark__seen__user_id", "pair_id")))
