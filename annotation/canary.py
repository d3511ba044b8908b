"""A large live build begins with a few random pairs, and goes on with all others when a person says so.

Until then the cases of the others do not exist, so that nothing has to keep workers away from them.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, Final

import numpy as np
from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import Build, BuildEvent, Canary, Tally
from retrieval.models import Candidate

SEEDS: Final = 2**31
FEWEST_QUERIES: Final = 2
"""Of one query alone nothing tells how far queries differ."""


def plan(build: Build) -> Canary:
    """Give a build that was just launched its canary, with a seed of its own."""
    return Canary.objects.create(build=build, seed=secrets.randbelow(SEEDS))


def is_large(cases: int) -> bool:
    """Whether a live build of so many cases, which are its pairs in all rounds, has a canary."""
    return cases > max(settings.CANARY_ABOVE, settings.CANARY_CASES)


def by_query(build: Build) -> bool:
    """Whether the candidates of a query are judged together, so that only whole queries show the cost."""
    return bool(build.annotator.config.get("screener") == "query")


def draw(build: Build, candidates: QuerySet[Candidate]) -> list[int]:
    """Ids of those of `candidates` that the build begins with, each pair as likely as any other.

    Empty where it begins with all of them: it has no canary, or too few cases for one.
    """
    planned = Canary.objects.filter(build=build)
    row = planned.first()
    if row is None:
        return []
    rows = list(candidates.values_list("pk", "query_id"))
    if not is_large(len(rows) * build.rounds):
        planned.delete()
        return []
    size = -(-settings.CANARY_CASES // build.rounds)
    found = some_queries(rows, size, row.seed) if by_query(build) else some_pairs(rows, size, row.seed)
    planned.update(drawn=found, pairs=len(rows))
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


def of(build: Build) -> Canary | None:
    """The build's canary; no query where the build was read with it."""
    try:
        return build.canary
    except ObjectDoesNotExist:
        return None


def drawn(build: Build) -> frozenset[int]:
    """Ids of the canary's candidates."""
    return frozenset(Canary.objects.values_list("drawn", flat=True).get(build=build))


def is_undecided(build: Build) -> bool:
    """Whether the build has a canary after which nobody has let it go on."""
    row = of(build)
    return row is not None and row.decided_at is None


def stop(build: Build) -> bool:
    """Stop a build whose canary is done for a person to decide; the totals are held while we look again.

    False where it has open cases after all, or where somebody was faster.
    """
    with transaction.atomic():
        build.tally.change()
        tally = Tally.objects.get(pk=build.pk)
        running = Build.objects.filter(pk=build.pk, state=Build.State.RUNNING, canary__isnull=False)
        if tally.open or not running.filter(canary__decided_at=None).update(
            state=Build.State.CANARY, reason=words(tally, Canary.objects.get(build=build), build.rounds)
        ):
            return False
        Canary.objects.filter(build=build).update(done_at=timezone.now(), spent=tally.spent)
        BuildEvent.objects.create(build=build, event="canary done")
    return True


def words(tally: Tally, row: Canary, rounds: int) -> str:
    """Why the build stands still, for whoever opens its page."""
    of = "them" if rounds == 1 else f"their {tally.total:,} cases"
    unjudged = f", {tally.abandoned:,} of {of} abandoned" if tally.abandoned else ""
    each = "" if rounds == 1 else f" in {rounds} rounds each"
    return (
        f"{tally.total // rounds:,} {kind_of(row)} of {row.pairs:,} are finished{each}{unjudged}. "
        "Read what they cost and say, then go on with all others, or cancel the build."
    )


def kind_of(row: Canary) -> str:
    """What was drawn, in words."""
    return "pairs of random queries" if by_query(row.build) else "random pairs"


def decide(build: Build, user: Any) -> None:
    """Note that `user`, or nobody known, lets the build go on."""
    Canary.objects.filter(build=build).update(decided_at=timezone.now(), decided_by=user)


def rest_is_due(build: Build) -> bool:
    """Whether a person has let the build go on, and the cases of all other pairs are still to be made."""
    row = of(build)
    return row is not None and row.decided_at is not None and not row.rest_opened


def take_rest(build: Build) -> bool:
    """Make it this worker's to open all other cases; False where another one did."""
    due = Canary.objects.filter(build=build, decided_at__isnull=False, rest_opened=False)
    return due.update(rest_opened=True) == 1
