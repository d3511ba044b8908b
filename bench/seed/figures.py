"""What a build counts while it works, as it stands at the end: totals, bills, times, causes, progress."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from annotation.builds.results import history
from annotation.models import Abandonment, AgentBill, Build, Duration, Moment, ProjectTally, Tally
from annotation.stages import Stage
from bench.seed.plan import Stretch
from bench.seed.tables import MOMENT

PACE: Final = 20.0
"""Cases a second: how long the build is said to have worked."""


def store_build_figures(build: int, made: Stretch) -> None:
    """All figures of a finished build. `made` has those of all its stretches."""
    totals = dict(made.totals)
    finished = totals["settled"] + totals.get("abandoned", 0)
    Tally.objects.filter(pk=build).update(version=finished, **totals)
    began = MOMENT - timedelta(seconds=finished / PACE)
    Build.objects.filter(pk=build).update(created_at=began)
    keep_bills(build, made)
    durations = sorted(made.durations.items())
    Duration.objects.bulk_create(
        Duration(build_id=build, path=path, bucket=bucket, cases=cases) for (path, bucket), cases in durations
    )
    Abandonment.objects.bulk_create(
        Abandonment(build_id=build, cause=cause, left_stage=Stage.SCREENING, cases=cases)
        for cause, cases in sorted(made.abandoned.items())
    )
    keep_moments(Tally.objects.get(pk=build), finished / PACE)


def keep_bills(build: int, made: Stretch) -> None:
    """A bill for each agent; the project's money has all of them."""
    bills: dict[str, dict[str, int]] = {}
    for (agent, column), value in made.bills.items():
        bills.setdefault(agent, {})[column] = value
    AgentBill.objects.bulk_create(
        AgentBill(build_id=build, agent=agent, **columns) for agent, columns in sorted(bills.items())
    )
    ProjectTally.objects.book(spent=made.totals["spent"])


def keep_moments(tally: Tally, seconds: float) -> None:
    """The totals growing evenly, noted as often as a build notes them."""
    noted, now = [], 0.0
    while now < seconds:
        noted.append(now)
        now += max(history.DENSEST, timedelta(seconds=now) * history.SPARSER).total_seconds()
    shares = [(at, at / seconds) for at in [*noted, seconds]]
    Moment.objects.bulk_create(
        Moment(
            build_id=tally.pk,
            at=MOMENT - timedelta(seconds=seconds - at),
            total=tally.total,
            settled=int(tally.settled * share),
            abandoned=int(tally.abandoned * share),
            spent=int(tally.spent * share),
        )
        for at, share in shares
    )
