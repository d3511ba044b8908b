"""Decide an extension, make its cases once its pairs are mined, or take it back."""

from __future__ import annotations

from collections.abc import Callable

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, QuerySet
from django.utils import timezone

from annotation import caps, trend
from annotation.estimating import confirming
from annotation.extending import wishing
from annotation.extending.wishing import Plan, Wish
from annotation.launching import Actor, person, record
from annotation.models import Build, Case, Extension
from annotation.steering import ControlRefused
from retrieval.models import Candidate, Mining

State = Extension.State


def extend(build: Build, wish: Wish, why: str, user: Actor = None, word: str = "") -> Extension:
    """Let `build` go on with further pairs, whose mining a worker takes up; `why` is kept in its history.

    `word` confirms the estimate that was seen; without one nobody has confirmed any.
    Raises ControlRefused, LaunchRefused and CapRefused.
    """
    reason = caps.checked_reason(why)
    found = wishing.plan(build, wish)
    order, about = wishing.order_for(build, found), wishing.about(build, found)
    figures = confirming.confirmed(order, word, about) if word else wishing.price(build, found)
    with transaction.atomic():
        build.tally.change()  # held from here on, so that nobody else extends or ends the build
        build.refresh_from_db(fields=["state", "opened"])
        if refused := wishing.why_not(build):
            raise ControlRefused(refused)
        made = Extension.objects.create(
            build=build,
            number=1 + (build.extensions.aggregate(last=Max("number"))["last"] or 0),
            mining=mining_of(build, found),
            words=found.words[:400],
            estimate=figures.to_json(),
            user=person(user),
            why=reason,
        )
        go_on(build)
        told = "" if word else ", confirmed by nobody"
        record(build, user, "extended", f"{made.words}; {confirming.in_words(figures)}{told}: {reason}")
    return made


def mining_of(build: Build, found: Plan) -> Mining:
    first = build.mining
    return Mining.objects.create(
        queries=build.queries,
        snippets=build.snippets,
        encoders=first.encoders,
        k=found.k,
        chosen=list(found.searched),
        seed=found.wish.seed if found.drawn else None,
        until=found.until,
        rule=first.rule,
        query_rule=first.query_rule,
        text_option=first.text_option,
        fusion=first.fusion,
        approximate=first.approximate,
    )


def go_on(build: Build) -> None:
    """A build that was done has work again; one that a person stopped stays stopped."""
    done = Build.objects.filter(pk=build.pk, state=Build.State.DONE)
    done.update(state=Build.State.RUNNING, reason="", finished_at=None)
    build.refresh_from_db(fields=["state"])


def pending(build: Build) -> Extension | None:
    """The extension whose pairs are still mined."""
    return Extension.objects.filter(build=build, state=State.MINING).select_related("mining").first()


def new_candidates(extension: Extension) -> QuerySet[Candidate]:
    """What its mining proposes and the build has not got, whichever mining proposed it first."""
    known = Case.objects.filter(build=extension.build_id, pair=OuterRef("pair"))
    found = Candidate.objects.filter(~Exists(known), mining=extension.mining_id)
    return found.order_by("query_id", "rank")


def look_after(build: Build, add_cases: Callable[[Build, QuerySet[Candidate]], int]) -> bool:
    """Open the cases of an extension that is mined, or note that it failed; says whether one is pending.

    `add_cases` makes a case of each candidate.
    """
    extension = pending(build)
    if extension is None:
        return False
    if extension.mining.state == Mining.State.DONE:
        open_cases(build, extension, add_cases)
    elif extension.mining.state == Mining.State.FAILED:
        end(extension, State.FAILED, f"mining failed: {extension.mining.message}")
    else:
        build.tally.change()
    return True


def open_cases(
    build: Build, extension: Extension, add_cases: Callable[[Build, QuerySet[Candidate]], int]
) -> int:
    """Make the new cases once, however many workers try; returns how many."""
    with transaction.atomic():
        build.tally.change()
        mine = Extension.objects.filter(pk=extension.pk, state=State.MINING)
        if not mine.update(state=State.OPENED, ended_at=timezone.now()):
            return 0
        made = add_cases(build, new_candidates(extension))
        Extension.objects.filter(pk=extension.pk).update(pairs=made)
        record(build, None, "extension opened", f"{made:,} new pairs: {extension.words}")
    trend.note(build, timezone.now(), always=True)
    return made


def cancel(build: Build, user: Actor = None, why: str = "") -> None:
    """Take an extension back whose pairs are still mined: the build is as it was. Raises ControlRefused."""
    extension = pending(build)
    if extension is None or not end(extension, State.CANCELLED, why, user):
        raise ControlRefused("No extension is being mined; its pairs may have been opened meanwhile.")


def end(extension: Extension, state: str, note: str, user: Actor = None) -> bool:
    """Close an extension that came to nothing; False where it was opened or closed meanwhile."""
    with transaction.atomic():
        extension.build.tally.change()
        mine = Extension.objects.filter(pk=extension.pk, state=State.MINING)
        if not mine.update(state=state, ended_at=timezone.now()):
            return False
        unfinished = Mining.objects.filter(pk=extension.mining_id).exclude(state=Mining.State.DONE)
        unfinished.update(state=Mining.State.FAILED, lease_until=None)
        told = f"{extension.words}. {note}" if note else extension.words
        record(extension.build, user, f"extension {state}", told)
    return True
