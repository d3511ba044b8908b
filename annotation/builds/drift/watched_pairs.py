"""Which pairs are asked, and when the next check is due."""

from __future__ import annotations

import secrets
from typing import Final

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from annotation.builds.limits import canary, circuit_breaker
from annotation.models import Build, Canary, Case, DriftAnswer, DriftCheck, DriftWatch, Tally

PAIRS: Final = 50
SEEDS: Final = 2**31


def plan_drift_watch(build: Build) -> DriftWatch:
    """Give a build that was just launched its drift check, with a seed of its own."""
    return DriftWatch.objects.create(build=build, seed=secrets.randbelow(SEEDS), every=settings.DRIFT_EVERY)


def look_after(watch: DriftWatch) -> None:
    """Draw the pairs once all cases are there, and begin the check that is due.

    Not while an extension is at its canary, whose cost is its own.
    """
    if canary.find_current_canary(watch.build) is not None:
        return
    if not watch.drawn and not draw_drift_pairs(watch):
        return
    if find_due_drift_check(watch) is not None:
        begin_drift_check(watch)


def is_complete(build: Build) -> bool:
    """Whether all cases of the build have been made: the canary, where there is one, stays by itself."""
    row = canary.canary_of_build(build)
    return build.opened and (row is None or row.rest_opened)


def draw_drift_pairs(watch: DriftWatch) -> bool:
    """Draw the pairs; False where that can't be done yet, or where the build ends before its first check."""
    build = watch.build
    if not is_complete(build):
        return False
    most = Tally.objects.get(pk=build.pk).total // watch.every
    if not most:
        watch.delete()
        circuit_breaker.note_automatic_event(
            build, "no drift check", f"it has fewer than {watch.every:,} pairs"
        )
        return False
    ids = list(find_drift_cases(build).order_by("pk").values_list("pk", flat=True))
    places = np.random.default_rng(watch.seed).choice(len(ids), min(PAIRS, len(ids)), replace=False)
    watch.drawn, watch.max_checks = [ids[place] for place in places], most
    watch.save(update_fields=["drawn", "max_checks"])
    return True


def find_drift_cases(build: Build) -> QuerySet[Case]:
    """The cases to draw from: the canary's, which are random and which a person has seen, else all."""
    cases = Case.objects.filter(build=build)
    found = Canary.objects.of_whole_build(build).values_list("drawn", flat=True).first()
    return cases.filter(candidate__in=found) if found else cases


def last_of(watch: DriftWatch) -> DriftCheck | None:
    return DriftCheck.objects.filter(watch=watch).last()


def next_at(watch: DriftWatch, last: DriftCheck) -> int:
    """How many cases are to be settled before the check after `last`."""
    return (last.settled // watch.every + 1) * watch.every


def find_due_drift_check(watch: DriftWatch) -> bool | None:
    """Whether a baseline (True) or a check (False) is due; None where nothing is.

    A person who resumes a build after a shift takes the model as it is now: another baseline is made.
    """
    last, tally = last_of(watch), Tally.objects.get(pk=watch.pk)
    if last is None:
        return True
    if last.finished_at is None:
        return None
    at = next_at(watch, last)
    if last.shifted:
        return True if at <= tally.total else None
    return False if tally.settled >= at else None


def begin_drift_check(watch: DriftWatch) -> None:
    """Make the questions of the check that is due, once, however many workers look."""
    with transaction.atomic():
        watch.build.tally.change()  # held from here on, so that nobody else begins it
        baseline = find_due_drift_check(watch)
        if baseline is None:
            return
        check = DriftCheck.objects.create(
            watch=watch,
            number=DriftCheck.objects.filter(watch=watch).count(),
            is_baseline=baseline,
            settled=Tally.objects.get(pk=watch.pk).settled,
        )
        rounds = (1, 2) if baseline else (1,)
        DriftAnswer.objects.bulk_create(
            DriftAnswer(check_of=check, case_id=case, round=number)
            for number in rounds
            for case in watch.drawn
        )


def count_drift_calls(pairs: int) -> int:
    """How many questions a build of so many pairs is asked for its drift: a baseline, and every check."""
    checks = pairs // settings.DRIFT_EVERY
    return min(PAIRS, pairs) * (2 + checks) if checks else 0


def keeps_open(build: Build) -> bool:
    """Whether a check is to be finished before the build may end."""
    watch = DriftWatch.objects.filter(build=build).first()
    if watch is None:
        return False
    last = last_of(watch)
    return (last is not None and last.finished_at is None) or find_due_drift_check(watch) is not None


def has_shifted(build: Build) -> bool:
    """Whether the last check found a shift, which nobody has taken for the new baseline yet."""
    last = DriftCheck.objects.filter(watch=build.pk).last()
    return last is not None and last.shifted
