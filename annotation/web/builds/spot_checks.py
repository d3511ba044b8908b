"""What tests made of pairs that a build's screener found clear: how often the screener errs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Count, F, OuterRef, Q, Subquery

from annotation.models import Build, Case, Rerun
from annotation.stages import Stage
from annotation.stats.intervals import clopper_pearson

VERDICTS: Final = (("match", 1), ("no match", 0))


@dataclass(frozen=True, slots=True)
class Verdict:
    """Of the pairs with one verdict of the screener: `tested`, and `changed` by reader, test and arbiter."""

    said: str
    tested: int
    changed: int

    @property
    def interval(self) -> tuple[float, float]:
        """95 % of the share that a test changes (Clopper and Pearson)."""
        return clopper_pearson(self.changed, self.tested)


def spot_checks_of(build: Build) -> dict[str, Any] | None:
    """What is known of a build's clear pairs; None where it has none, or none that could be tested.

    `builds` are the builds that made its spot checks.
    """
    has_reader = build.annotator.config.get("reader", False)
    if not (build.tally.cleared and has_reader):
        return None
    rows = Rerun.objects.filter(of=build, spot_check=True).select_related("build")
    builds = tuple(row.build for row in rows.order_by("pk"))
    counts = counts_of(build, builds) if builds else {}
    verdicts = [
        Verdict(said, counts.get(f"tested_{label}", 0), counts.get(f"changed_{label}", 0))
        for said, label in VERDICTS
    ]
    return {
        "clear": build.tally.cleared,
        "verdicts": [verdict for verdict in verdicts if verdict.tested],
        "unjudged": counts.get("unjudged", 0),
        "open": counts.get("open", 0),
        "builds": builds,
        "may_begin": build.is_over,
    }


def counts_of(build: Build, checks: Sequence[Build]) -> dict[str, int]:
    """By one query: how the cases of the spot checks ended, by what the screener of `build` had said."""
    before = Case.objects.filter(build=build, candidate=OuterRef("candidate")).order_by("-round")
    rows = Case.objects.filter(build__in=checks, round=1).annotate(was=Subquery(before.values("label")[:1]))
    tested = {f"tested_{label}": Count("pk", Q(label__isnull=False, was=label)) for _, label in VERDICTS}
    changed = {f"changed_{label}": Count("pk", Q(was=label) & Q(label=1 - F("was"))) for _, label in VERDICTS}
    unjudged = Q(stage=Stage.ABANDONED)
    found: dict[str, int] = rows.aggregate(
        unjudged=Count("pk", unjudged),
        open=Count("pk", Q(label__isnull=True) & ~unjudged),
        **tested,
        **changed,
    )
    return found
