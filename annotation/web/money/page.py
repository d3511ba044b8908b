"""Caps as pages show them, and the forms that change them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from django import forms
from django.db.models import Count, Sum
from django.urls import reverse
from django.utils.html import format_html

from annotation.builds.control.spending_caps import LONGEST_REASON, OPEN, stopped_at_project_cap
from annotation.builds.limits import budget
from annotation.models import Build, LLMCall, ProjectCapChange, ProjectTally, Tally
from annotation.models.builds.build import NANO
from annotation.web.builds.notices import build_unpriced_notices, of_project
from annotation.web.shared.words import Sign

NEARLY: Final = 0.8
"""From this share of a cap on, the page warns."""
CHANGES: Final = 50

THERE_IS_NONE: Final = Sign("–", "no cap")
ENOUGH_LEFT: Final = Sign("✓", "less than 80 % is used", "good")
NEARLY_USED: Final = Sign("!", "more than 80 % is used", "warn")
USED_UP: Final = Sign("✗", "used up", "bad")
TOO_LITTLE: Final = Sign("✗", "too little is left for the next call", "bad")


@dataclass(frozen=True)
class Cap:
    """A cap and what is gone of it, in nanodollars; `cap` is None where there is none."""

    cap: int | None
    spent: int
    reserved: int
    has_stopped: bool = False
    """Whether the build is paused as its next call may cost more than is left."""

    @property
    def left(self) -> int | None:
        return None if self.cap is None else max(0, self.cap - self.spent - self.reserved)

    @property
    def used(self) -> float:
        """The share that is spent or reserved; 0 without a cap."""
        gone = self.spent + self.reserved
        if not self.cap:
            return 0.0 if self.cap is None else 1.0
        return min(gone / self.cap, 1.0)

    @property
    def percent(self) -> int:
        """Rounded down, so that 100 is said only where nothing is left."""
        return int(100 * self.used)

    @property
    def sign(self) -> Sign:
        if self.cap is None:
            return THERE_IS_NONE
        if self.used >= 1:
            return USED_UP
        if self.has_stopped:
            return TOO_LITTLE
        return NEARLY_USED if self.used >= NEARLY else ENOUGH_LEFT


def cap_of(row: Tally | ProjectTally) -> Cap:
    return Cap(row.cap, row.spent, row.reserved)


def project_cap() -> Cap:
    """What all live builds share, and what they have spent."""
    return cap_of(ProjectTally.objects.filter(pk=ProjectTally.ONLY).first() or ProjectTally())


def build_money(build: Build, tally: Tally) -> dict[str, Any]:
    """A build's cap, and the project's where it counts for the build.

    `unknown`: calls of which no word came back, and the nanodollars that are counted for them, their bounds.
    """
    lost = LLMCall.objects.filter(build=build, status=LLMCall.Status.UNKNOWN)
    return {
        "own": replace(cap_of(tally), has_stopped=has_stopped_at_cap(build)),
        "project": project_cap() if build.provider == Build.Provider.LIVE else None,
        "can_change": build.state in OPEN,
        "unknown": lost.aggregate(calls=Count("pk"), spent=Sum("cost", default=0)),
    }


def has_stopped_at_cap(build: Build) -> bool:
    return build.state == Build.State.PAUSED and build.reason.startswith(budget.USED_UP)


def warn_of_short_cap(build: Build) -> str:
    """What to tell whoever resumes a build that has stopped at a cap, with a link to it; empty for others."""
    is_shared = build.state == Build.State.PAUSED and build.reason.startswith(budget.PROJECT_USED_UP)
    if not (is_shared or has_stopped_at_cap(build)):
        return ""
    cap = project_cap() if is_shared else cap_of(build.tally)
    if cap.left is None:  # it was taken away since
        return ""
    return format_html(
        "Resumed, with ${} left. The build pauses again if its next call may cost more: then "
        '<a href="{}">raise the cap</a>, and resume.',
        f"{cap.left / NANO:,.6f}",
        reverse("project-cap") if is_shared else reverse("build-cap", args=[build.pk]),
    )


def project_money() -> dict[str, Any]:
    """The page of the project's cap, with its history, the newest first."""
    return {
        "cap": project_cap(),
        "changes": ProjectCapChange.objects.select_related("user")[:CHANGES],
        "stopped": list(stopped_at_project_cap().order_by("pk")),
        "notices": [*of_project(), *build_unpriced_notices()],
    }


class CapForm(forms.Form):
    """A new cap and the reason for it."""

    budget = forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=10,
        decimal_places=4,
        label="Cap in dollars",
        help_text="Empty: no cap.",
    )
    reason = forms.CharField(
        max_length=LONGEST_REASON, label="Why", help_text="Kept in the history, with your name and the time."
    )

    def __init__(self, data: Any, cap: Cap) -> None:
        shown = None if cap.cap is None else f"{cap.cap / NANO:.4f}".rstrip("0").rstrip(".")
        super().__init__(data, initial={"budget": shown})

    def wanted(self, by: Any) -> tuple[Any, Any, str]:
        """Of a valid form the new cap, who changes it, and why."""
        return self.cleaned_data["budget"], by, self.cleaned_data["reason"]
