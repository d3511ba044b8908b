"""Make the cases of an extension once its pairs are mined, or take it back."""

from __future__ import annotations

from collections.abc import Callable

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from annotation.builds.control.pause_resume import ControlRefused
from annotation.builds.drift import watched_pairs
from annotation.builds.launch.launcher import Actor, record_build_event
from annotation.builds.limits import canary
from annotation.builds.results import canary_statistics, history
from annotation.models import Build, Canary, Case, Extension, LLMCall
from retrieval.models import Candidate, Mining

State = Extension.State
AddCases = Callable[[Build, QuerySet[Candidate]], int]


def new_candidates(extension: Extension) -> QuerySet[Candidate]:
    """What its mining proposes and the build has not got, whichever mining proposed it first."""
    known = Case.objects.filter(build=extension.build_id, pair=OuterRef("pair"))
    found = Candidate.objects.filter(~Exists(known), mining=extension.mining_id)
    return found.order_by("query_id", "rank")


def find_unfinished_extension(build: Build) -> Extension | None:
    """The extension whose pairs are not all in the build yet: it is mined, or at its canary."""
    rows = Extension.objects.filter(build=build, state__in=(State.MINING, State.CANARY))
    return rows.select_related("mining", "canary").defer("canary__drawn").first()


def look_after(build: Build, add_cases: AddCases) -> bool:
    """Open the cases of an extension that is mined, or note that it failed; says whether more are to come.

    Those of a canary first, and the others when a person has said so. `add_cases` makes a case of each
    candidate.
    """
    extension = find_unfinished_extension(build)
    if extension is None:
        return False
    if extension.state == State.CANARY:
        return open_rest(build, extension, add_cases)
    if extension.mining.state == Mining.State.DONE:
        if may_open(build, extension):
            open_cases(build, extension, add_cases)
    elif extension.mining.state == Mining.State.FAILED:
        close_extension(extension, State.FAILED, f"mining failed: {extension.mining.message}")
    else:
        build.tally.change()
    return True


def may_open(build: Build, extension: Extension) -> bool:
    """Whether its pairs are opened now: a canary waits for all that is open, to be measured by itself."""
    row = canary.canary_of_extension(extension)
    if row is None:
        return True
    if not row.pairs:
        row.pairs = new_candidates(extension).count()
        Canary.objects.filter(pk=row.pk).update(pairs=row.pairs)
    if not canary.is_large(row.pairs * build.rounds):
        return True
    return not build.tally.open and not watched_pairs.keeps_open(build)


def open_cases(build: Build, extension: Extension, add_cases: AddCases) -> int:
    """Make the new cases, or those of its canary, once, however many workers try; returns how many."""
    with transaction.atomic():
        build.tally.change()
        mine = Extension.objects.filter(pk=extension.pk, state=State.MINING)
        if not mine.update(state=State.OPENED, ended_at=timezone.now()):
            return 0
        found = new_candidates(extension)
        row = Canary.objects.filter(extension=extension).select_related("build__tally").first()
        drawn = canary.drawn_by(row, found) if row else []
        if row is not None and drawn:
            if row.build.tally.open:  # a person has sent a case back meanwhile
                transaction.set_rollback(True)
                return 0
            begin_canary(row)
        made = add_cases(build, Candidate.objects.filter(pk__in=drawn) if drawn else found)
        Extension.objects.filter(pk=extension.pk).update(pairs=made // build.rounds)
        first = f" of {row.pairs:,} new ones first, as a canary" if row and drawn else " new pairs"
        record_build_event(
            build, None, "extension opened", f"{made // build.rounds:,}{first}: {extension.description}"
        )
    history.record_build_totals(build, timezone.now(), always=True)
    return made


def begin_canary(row: Canary) -> None:
    """Note what was before it: the totals are held, and nothing is open."""
    build = row.build
    row.began, row.before = build.tally.spent, canary_statistics.to_json(canary_statistics.of_build(build))
    row.last_call = LLMCall.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    row.save(update_fields=["began", "before", "last_call"])
    Extension.objects.filter(canary=row).update(state=State.CANARY, ended_at=None)


def open_rest(build: Build, extension: Extension, add_cases: AddCases) -> bool:
    """What the canary left out, once, when a person has let the build go on; False before that."""
    if extension.canary.decided_at is None:
        return False
    with transaction.atomic():
        build.tally.change()
        mine = Extension.objects.filter(pk=extension.pk, state=State.CANARY)
        if not mine.update(state=State.OPENED, ended_at=timezone.now()):
            return True
        made = add_cases(build, new_candidates(extension)) // build.rounds
        Extension.objects.filter(pk=extension.pk).update(pairs=F("pairs") + made)
        record_build_event(
            build, None, "extension opened", f"{made:,} new pairs after its canary: {extension.description}"
        )
    history.record_build_totals(build, timezone.now(), always=True)
    return True


def cancel_extension(build: Build, user: Actor = None, why: str = "") -> None:
    """Take an extension back whose pairs are still mined: the build is as it was. Raises ControlRefused."""
    extension = Extension.objects.filter(build=build, state=State.MINING).select_related("mining").first()
    if extension is None or not close_extension(extension, State.CANCELLED, why, user):
        raise ControlRefused("No extension is being mined; its pairs may have been opened meanwhile.")


def close_extension(extension: Extension, state: str, note: str, user: Actor = None) -> bool:
    """Close an extension that came to nothing; False where it was opened or closed meanwhile."""
    with transaction.atomic():
        extension.build.tally.change()
        mine = Extension.objects.filter(pk=extension.pk, state=State.MINING)
        if not mine.update(state=state, ended_at=timezone.now()):
            return False
        unfinished = Mining.objects.filter(pk=extension.mining_id).exclude(state=Mining.State.DONE)
        unfinished.update(state=Mining.State.FAILED, lease_until=None)
        told = f"{extension.description}. {note}" if note else extension.description
        record_build_event(extension.build, user, f"extension {state}", told)
    return True
