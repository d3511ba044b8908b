"""How many labels a person gave lately, how fast, and how often others said the same later."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.contrib.auth.models import User
from django.db.models import Avg, Count, F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from annotation.models import Build, Review

TIMED: Final = 50
"""So many of a person's latest labels tell how long the next ones take."""
WEEK: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class LabelPace:
    """Labels that still count, of `today` and of the last seven days (`week`).

    `agreed` of `compared`: later labels of others, match or no match, on pairs that the person labelled.
    """

    today: int
    week: int
    per_hour: float | None
    agreed: int
    compared: int


def measure_label_pace(user: User, builds: QuerySet[Build], now: datetime | None = None) -> LabelPace:
    """The person's pace in plain review; others' labels count in these builds alone. Four queries."""
    moment = now or timezone.now()
    midnight = timezone.localtime(moment).replace(hour=0, minute=0, second=0, microsecond=0)
    own = Review.objects.current().filter(rater=user, created_at__gt=min(moment - WEEK, midnight))
    given = own.aggregate(
        today=Count("pk", filter=Q(created_at__gte=midnight)),
        week=Count("pk", filter=Q(created_at__gt=moment - WEEK)),
    )
    seconds = seconds_a_label(user)
    return LabelPace(**given, per_hour=3600 / seconds if seconds else None, **count_agreement(user, builds))


def seconds_a_label(user: User) -> float | None:
    """How long the person's latest labels took each; None where nobody measured it."""
    latest = Review.objects.filter(rater=user, seconds__gt=0).order_by("-id").values("pk")[:TIMED]
    found: float | None = Review.objects.filter(pk__in=list(latest.values_list("pk", flat=True))).aggregate(
        mean=Avg("seconds")
    )["mean"]
    return found


def count_agreement(user: User, builds: QuerySet[Build]) -> dict[str, int]:
    """How many later labels of others on the person's pairs of these builds are the same."""
    own = Review.objects.current().filter(
        rater=user, pair=OuterRef("pair"), label__isnull=False, case__build__in=builds
    )
    others = (
        Review.objects.current()
        .exclude(rater=user)
        .filter(label__isnull=False, pair__in=Review.objects.filter(rater=user).values("pair"))
        .annotate(mine=Subquery(own.values("label")[:1]), mine_at=Subquery(own.values("created_at")[:1]))
        .filter(mine__isnull=False, created_at__gt=F("mine_at"))
    )
    return others.order_by().aggregate(compared=Count("pk"), agreed=Count("pk", filter=Q(label=F("mine"))))
