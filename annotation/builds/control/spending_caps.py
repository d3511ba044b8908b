"""Change the cap of a build, or the one that all live builds share. Who, when and why is recorded."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from annotation.builds.control.pause_resume import Action, ControlRefused, control_build
from annotation.builds.launch.launcher import MOST_DOLLARS, Actor, account_of_actor, record_build_event
from annotation.builds.launch.prices import is_priced
from annotation.builds.limits import budget
from annotation.models import Build, ProjectCapChange, ProjectTally, Tally
from annotation.models.builds.build import NANO
from retrieval.texts.hostile import mark_hostile_characters

OPEN: Final = (Build.State.RUNNING, Build.State.PAUSED, Build.State.WAITING, Build.State.CANARY)
LONGEST_REASON: Final = 1000


class CapRefused(ValueError):
    """The cap can't be changed so; the message says what to do."""


def change_cap(build: Build, dollars: Decimal | None, user: Actor, why: str) -> None:
    """Give `build` another cap, or none. Raises CapRefused."""
    reason, cap = checked_reason(why), convert_cap_to_nanodollars(dollars)
    if cap is not None and build.provider == Build.Provider.LIVE and not is_priced(build.model):
        raise CapRefused(f"A cap can't be kept without a price: enter that of {build.model} first.")
    with transaction.atomic():
        build.tally.change()  # held from here on, so that nothing is spent meanwhile
        build.refresh_from_db(fields=["state"])
        if build.state not in OPEN:
            raise CapRefused(f"The build is {build.get_state_display()}; it spends nothing any more.")
        tally = Tally.objects.get(pk=build.pk)
        refuse_passed(cap, tally.spent + tally.reserved)
        Tally.objects.filter(pk=build.pk).update(cap=cap)
        record_build_event(
            build,
            user,
            "cap changed",
            f"from {format_nanodollars(tally.cap)} to {format_nanodollars(cap)}: {reason}",
        )


def change_project_cap(dollars: Decimal | None, user: Actor, why: str) -> None:
    """Give all live builds another common cap, or none. Raises CapRefused.

    The history names those that it can't hold.
    """
    reason, cap = checked_reason(why), convert_cap_to_nanodollars(dollars)
    with transaction.atomic():
        ProjectTally.objects.now()
        row = ProjectTally.objects.select_for_update().get(pk=ProjectTally.ONLY)
        refuse_passed(cap, row.spent + row.reserved)
        ProjectTally.objects.filter(pk=row.pk).update(cap=cap)
        told = (
            f"{reason} (not held by it: {format_builds_with_models(free)})"
            if cap is not None and (free := find_unpriced_builds())
            else reason
        )
        ProjectCapChange.objects.create(user=account_of_actor(user), before=row.cap, after=cap, reason=told)


def find_unpriced_builds(among: QuerySet[Build] | None = None) -> list[Build]:
    """The open live builds (`among` some) whose model has no price: it counts against no cap."""
    builds = Build.objects.all() if among is None else among
    live = list(builds.filter(provider=Build.Provider.LIVE, state__in=OPEN).order_by("pk"))
    priced = {model: is_priced(model) for model in {build.model for build in live}}
    return [build for build in live if not priced[build.model]]


def format_builds_with_models(builds: list[Build]) -> str:
    """Builds with the models that they ask."""
    return ", ".join(f"{build.name} ({build.model})" for build in builds)


def stopped_at_project_cap() -> QuerySet[Build]:
    """The builds that stand still because the cap of all live builds left nothing for their next call."""
    return Build.objects.filter(state=Build.State.PAUSED, reason__startswith=budget.PROJECT_USED_UP)


def resume_stopped(user: Actor) -> list[Build]:
    """Resume them; where the cap leaves nothing they stop again. Gives those that go on."""
    resumed = []
    for build in stopped_at_project_cap().order_by("pk"):
        try:
            control_build(build, Action.RESUME, user, "the project's cap was looked at")
        except ControlRefused:
            continue  # somebody else has resumed or cancelled it at the same moment
        resumed.append(build)
    return resumed


def checked_reason(why: str) -> str:
    """The reason, as it can be stored. Raises CapRefused where there is none."""
    reason = mark_hostile_characters(why).strip()[:LONGEST_REASON]
    if not reason:
        raise CapRefused("Say why: the reason is kept in the history.")
    return reason


def convert_cap_to_nanodollars(dollars: Decimal | None) -> int | None:
    """Raises CapRefused for what is no amount of money."""
    if dollars is None:
        return None
    if not (dollars.is_finite() and 0 <= dollars <= MOST_DOLLARS):
        raise CapRefused(f"A cap is in dollars: 0 to {MOST_DOLLARS:,}, or leave it empty for none.")
    return int(dollars * NANO)


def refuse_passed(cap: int | None, gone: int) -> None:
    """A cap below what is gone already would say something that is not true."""
    if cap is not None and cap < gone:
        raise CapRefused(f"{format_nanodollars(gone)} are spent or reserved already; choose at least that.")


def format_nanodollars(amount: int | None) -> str:
    """Nanodollars in words, all digits that there are but no more."""
    if amount is None:
        return "no cap"
    exact = f"{Decimal(amount) / NANO:,f}"
    whole, _, cents = exact.partition(".")
    return f"${whole}.{cents.rstrip('0').ljust(2, '0')}"
