"""A large live build begins with a few random pairs, and goes on with all others when a person says so.

So does a large extension of one, by pairs of its own. Until then the cases of the others do not exist, so
that nothing has to keep workers away from them.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, Final

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import Prefetch, QuerySet, Sum
from django.utils import timezone

from annotation.models import (
    Build,
    BuildEvent,
    Canary,
    Case,
    Extension,
    LLMCall,
    Step,
    Tally,
    Webhook,
)
from annotation.stages import Stage
from annotation.webhooks.outbox import announce_build
from retrieval.models import Candidate

SEEDS: Final = 2**31
FEWEST_QUERIES: Final = 2
"""Of one query alone nothing tells how far queries differ."""
READ: Final = "read_canaries"
"""Where a build that was read with its own canary has it, in a list."""


def plan_canary(build: Build) -> Canary:
    """Give a build that was just launched its canary, with a seed of its own."""
    return Canary.objects.create(build=build, seed=secrets.randbelow(SEEDS))


def plan_extension_canary(extension: Extension) -> Canary:
    """Give an extension that was just decided its canary, with a seed of its own."""
    return Canary.objects.create(build=extension.build, extension=extension, seed=secrets.randbelow(SEEDS))


def is_large(cases: int) -> bool:
    """Whether a live build, or an extension, of so many cases (pairs in all rounds) has a canary."""
    return cases > max(settings.CANARY_ABOVE, settings.CANARY_CASES)


def by_query(build: Build) -> bool:
    """Whether the candidates of a query are judged together, so that only whole queries show the cost."""
    return bool(build.annotator.config.get("screener") == "query")


def draw_canary_candidates(build: Build, candidates: QuerySet[Candidate]) -> list[int]:
    """Ids of those of `candidates` that the build begins with, each pair as likely as any other.

    Empty where it begins with all of them: it has no canary, or too few cases for one.
    """
    row = Canary.objects.of_whole_build(build).first()
    return [] if row is None else drawn_by(row, candidates)


def drawn_by(row: Canary, candidates: QuerySet[Candidate]) -> list[int]:
    """The same for one canary, which is deleted where the candidates are too few for it."""
    build, rows = row.build, list(candidates.values_list("pk", "query_id"))
    if not is_large(len(rows) * build.rounds):
        row.delete()
        return []
    size = -(-settings.CANARY_CASES // build.rounds)
    found = some_queries(rows, size, row.seed) if by_query(build) else some_pairs(rows, size, row.seed)
    row.drawn, row.pairs = found, len(rows)
    row.save(update_fields=["drawn", "pairs"])
    return found


def some_pairs(rows: Sequence[tuple[int, int]], size: int, seed: int) -> list[int]:
    """So many of the candidates (id, query) at random."""
    places = np.random.default_rng(seed).choice(len(rows), size, replace=False)
    return [rows[place][0] for place in places]


def some_queries(rows: Sequence[tuple[int, int]], size: int, seed: int) -> list[int]:
    """All candidates (id, query) of random queries, `size` of them or a few more.

    Their order goes round the queries, so that the first ones are of many.
    """
    chance, whole = np.random.default_rng(seed), defaultdict[int, list[int]](list)
    for pk, query in rows:
        whole[query].append(pk)
    queries = min(len(whole), max(FEWEST_QUERIES, -(-size * len(whole) // len(rows))))
    names = list(whole)
    drawn = [whole[names[place]] for place in chance.choice(len(names), queries, replace=False)]
    shuffled = [[int(pk) for pk in chance.permutation(one)] for one in drawn]
    return [pk for turn in zip_longest(*shuffled) for pk in turn if pk is not None]


def prefetch_canary(place: str = "canaries") -> Prefetch[str, QuerySet[Canary], str]:
    """What loads each build with its canary, for `canary_of_build`, in one query."""
    return Prefetch(place, Canary.objects.filter(extension=None).defer("drawn"), to_attr=READ)


def canary_of_build(build: Build) -> Canary | None:
    """The build's own canary; no query where the build was read with it."""
    rows: list[Canary] | None = getattr(build, READ, None)
    if rows is None:
        return Canary.objects.of_whole_build(build).first()
    return rows[0] if rows else None


def canary_of_extension(extension: Extension) -> Canary | None:
    """The extension's canary; no query where the extension was read with it."""
    return getattr(extension, "canary", None)


def find_current_canary(build: Build) -> Canary | None:
    """The canary that the build is at: its own, or an extension's, until the other pairs are opened."""
    row = canary_of_build(build)
    if row is not None and not row.rest_opened:
        return row
    rows = Canary.objects.filter(build=build, extension__state=Extension.State.CANARY)
    return rows.select_related("build__annotator", "extension").first()


def find_canary_candidates(build: Build) -> frozenset[int]:
    """Ids of the candidates of the build's own canary."""
    return frozenset(Canary.objects.of_whole_build(build).values_list("drawn", flat=True).get())


def find_undecided_canary(build: Build) -> Canary | None:
    """The canary after which nobody has let the build go on yet."""
    row = find_current_canary(build)
    return row if row is not None and row.decided_at is None else None


def is_of_extension(build: Build) -> bool:
    """Whether the build is at the canary of an extension."""
    row = find_current_canary(build)
    return row is not None and row.is_of_extension


def stop_at_canary(build: Build) -> bool:
    """Stop a build whose canary is done for a person to decide; the totals are held while we look again.

    False where it has open cases after all, or where somebody was faster.
    """
    row = find_undecided_canary(build)
    if row is None:
        return False
    running = Build.objects.filter(pk=build.pk, state=Build.State.RUNNING)
    with transaction.atomic():
        build.tally.change()
        tally = Tally.objects.get(pk=build.pk)
        stopped = running.update(state=Build.State.CANARY, reason=describe_canary_stop(tally, row))
        # Looked at behind the build's row, which whoever decides changes first.
        if tally.open or not stopped or not find_canary_row(row).filter(decided_at=None).exists():
            transaction.set_rollback(True)
            return False
        find_canary_row(row).update(done_at=timezone.now(), spent=compute_canary_cost(row, tally))
        whose = f"extension {row.extension.number}" if row.extension else ""
        BuildEvent.objects.create(build=build, event="canary done", note=whose)
        announce_build(build, Webhook.Event.BUILD_NEEDS_PERSON)
    return True


def find_canary_row(row: Canary) -> QuerySet[Canary]:
    """The canary as it is stored now."""
    return Canary.objects.filter(pk=row.pk)


def compute_canary_cost(row: Canary, tally: Tally) -> int:
    """Nanodollars that the canary has cost, or had cost when somebody decided.

    What was tried again of older cases beside an extension's canary is not counted to it.
    """
    if row.decided_at is not None:
        return row.spent
    if not row.is_of_extension:
        return tally.spent
    return max(0, tally.spent - row.began - compute_cost_outside_canary(row))


def compute_cost_outside_canary(row: Canary) -> int:
    """Nanodollars of calls since the canary began that served other cases of the build."""
    calls = LLMCall.objects.filter(build=row.build, status=LLMCall.Status.SUCCEEDED, pk__gt=row.last_call)
    others = Step.objects.filter(call__in=calls).exclude(case__candidate__in=row.drawn)
    cost: int | None = calls.filter(pk__in=others.values("call")).aggregate(cost=Sum("cost"))["cost"]
    return cost or 0


def describe_canary_stop(tally: Tally, row: Canary) -> str:
    """Why the build stands still, for whoever opens its page."""
    total, abandoned = count_canary_cases(row, tally)
    rounds = row.build.rounds
    unjudged = f", {abandoned:,} abandoned" if abandoned else ""
    each = "" if rounds == 1 else f" in {rounds} rounds each"
    news, others = (" new ones", "leave them") if row.is_of_extension else ("", "cancel the build")
    return (
        f"{total // rounds:,} {kind_of(row)} of {row.pairs:,}{news} are finished{each}"
        f"{unjudged}. Look at their cost and verdicts, then continue with all others, or {others}."
    )


def count_canary_cases(row: Canary, tally: Tally) -> tuple[int, int]:
    """How many cases the canary has, in all rounds, and how many of them are abandoned."""
    if not row.is_of_extension:
        return tally.total, tally.abandoned
    cases = Case.objects.filter(build=row.build, candidate__in=row.drawn)
    return cases.count(), cases.filter(stage=Stage.ABANDONED).count()


def kind_of(row: Canary) -> str:
    """What was drawn, in words."""
    return "pairs of random queries" if by_query(row.build) else "random pairs"


def record_canary_decision(build: Build, user: Any) -> None:
    """Note that `user`, or nobody known, lets the build go on."""
    row = find_undecided_canary(build)
    if row is not None:
        find_canary_row(row).update(decided_at=timezone.now(), decided_by=user)


def decline_extension_pairs(build: Build, user: Any) -> bool:
    """Note that `user` wants none of an extension's other pairs; False where it is at no such canary."""
    row = find_undecided_canary(build)
    if row is None or row.extension is None:
        return False
    now = timezone.now()
    find_canary_row(row).update(decided_at=now, decided_by=user)
    Extension.objects.filter(pk=row.extension.pk).update(state=Extension.State.LEFT, ended_at=now)
    return True


def rest_is_due(build: Build) -> bool:
    """Whether a person has let the build go on, and the cases of its other pairs are still to be made."""
    row = canary_of_build(build)
    return row is not None and row.decided_at is not None and not row.rest_opened


def take_rest(build: Build) -> bool:
    """Make it this worker's to open all other cases; False where another one did."""
    due = Canary.objects.of_whole_build(build).filter(decided_at__isnull=False, rest_opened=False)
    return due.update(rest_opened=True) == 1
