"""A large live build begins with a few random pairs, and goes on with all others when a person says so.

Until then the cases of the others do not exist, so that nothing has to keep workers away from them.
"""

from __future__ import annotations

import secrets
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


def plan(build: Build) -> Canary:
    """Give a build that was just launched its canary, with a seed of its own."""
    return Canary.objects.create(build=build, seed=secrets.randbelow(SEEDS))


def is_large(pairs: int) -> bool:
    """Whether a live build of so many pairs has a canary."""
    return pairs > max(settings.CANARY_ABOVE, settings.CANARY_CASES)


def draw(build: Build, candidates: QuerySet[Candidate]) -> list[int]:
    """Ids of those of `candidates` that the build begins with, each pair as likely as any other.

    Empty where it begins with all of them: it has no canary, or too few pairs for one.
    """
    planned = Canary.objects.filter(build=build)
    row = planned.first()
    if row is None:
        return []
    ids = list(candidates.values_list("pk", flat=True))
    if not is_large(len(ids)):
        planned.delete()
        return []
    places = np.random.default_rng(row.seed).choice(len(ids), settings.CANARY_CASES, replace=False)
    found = [ids[place] for place in places]
    planned.update(drawn=found, pairs=len(ids))
    return found


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
        f"{tally.total // rounds:,} random pairs of {row.pairs:,} are finished{each}{unjudged}. "
        "Read what they cost and say, then go on with all others, or cancel the build."
    )


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
