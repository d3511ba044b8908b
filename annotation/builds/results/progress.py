"""How far a build is: a snapshot from totals and bounded reads, and a version that says when it changed."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from django.db.models import QuerySet
from django.utils import timezone

from annotation.builds.limits import rate_limit
from annotation.models import Build, Case, LLMCall, Price, Proposal, Step, Tally
from annotation.stages import Stage
from retrieval.models import Mining

ENDS: Final = (Stage.SETTLED, Stage.ABANDONED)
WINDOW: Final = timedelta(minutes=3)
"""The rate is that of the last minutes: what was true an hour ago says nothing about the next one."""
SAMPLE: Final = 600
"""Steps are read newest first and at most so many, so that the rate costs the same for any build."""
ENOUGH: Final = 3
"""A rate from fewer finished cases would jump about; it is not shown."""
REASONS: Final = 1000
LOST: Final = (LLMCall.Status.FAILED, LLMCall.Status.UNKNOWN)
DIGEST: Final = re.compile(r"\b[0-9a-f]{64}\b")
COUNTED: Final = 10_000
REFRESH: Final = 10
"""Seconds after which a build that does nothing is shown anew, because its rate has sunk meanwhile."""

WORKERS: Final[Mapping[Stage, str]] = MappingProxyType(
    {
        Stage.SCREENING: "screener",
        Stage.READING: "reader",
        Stage.WRITING_TEST: "test writer",
        Stage.EXECUTING: "sandbox",
        Stage.FIXING: "fixer",
        Stage.ARBITRATING: "arbiter",
        Stage.TIE_BREAKING: "tie breaker",
        Stage.SETTLED: "has its label",
        Stage.ABANDONED: "could not be judged",
    }
)


@dataclass(frozen=True)
class Bar:
    """One stage of the funnel: `count` of `total` cases, drawn in a bar of 1,000 from `start` on."""

    stage: Stage
    word: str
    worker: str
    count: int
    total: int
    start: float

    @property
    def width(self) -> float:
        return 1000 * self.count / self.total if self.total else 0.0


@dataclass(frozen=True)
class Pace:
    """Cases finished a minute over the last minutes, and the seconds that the open ones take at that rate.

    Both are None where too little was finished to tell.
    """

    a_minute: float | None = None
    seconds_left: float | None = None


@dataclass(frozen=True)
class Snapshot:
    """A build at one moment. Money is in nanodollars."""

    build: Build
    mining: Mining | None
    tally: Tally
    version: str
    funnel: tuple[Bar, ...]
    pace: Pace
    seconds: float
    waiting_replies: int
    has_price: bool
    reasons: tuple[tuple[str, int], ...]
    errors: tuple[LLMCall, ...]
    at_once: int | None

    @property
    def finished(self) -> int:
        return self.tally.settled + self.tally.abandoned

    @property
    def is_mining(self) -> bool:
        """Cases are not there yet: the mining, if there is one, is what one watches."""
        return not self.build.opened

    @property
    def left(self) -> int | None:
        """Nanodollars that may still be spent; None without a cap."""
        tally = self.tally
        return None if tally.cap is None else max(0, tally.cap - tally.spent - tally.reserved)


WATCHED: Final = ("tally__version", "state", "opened", "mining__state", "mining__done", "mining__phase")


def version_of(builds: QuerySet[Build], pk: int, now: datetime | None = None) -> str | None:
    """What changes whenever build `pk` looks different; None if it is not among `builds`. Reads one row."""
    row = builds.filter(pk=pk).values_list(*WATCHED).first()
    return None if row is None else compute_progress_version(row, now or timezone.now())


def compute_progress_version(row: tuple[object, ...], now: datetime) -> str:
    """The watched columns as one word; while the build runs, time itself is one of them."""
    beat = int(now.timestamp()) // REFRESH if row[1] == Build.State.RUNNING else 0
    return hashlib.sha256(repr((*map(str, row), beat)).encode()).hexdigest()[:16]


def take_progress_snapshot(build: Build, now: datetime | None = None) -> Snapshot:
    """`build` as it is now; a fixed number of reads, none of which grows with the build."""
    now = now or timezone.now()
    fresh = Build.objects.select_related(
        "mining", "pair_list__benchmark", "tally", "created_by", "queries", "snippets", "annotator"
    ).get(pk=build.pk)
    tally, mining = fresh.tally, fresh.mining
    stands = (mining.state, mining.done, mining.phase) if mining else (None, None, None)
    watched = (tally.version, fresh.state, fresh.opened, *stands)
    return Snapshot(
        build=fresh,
        mining=mining,
        tally=tally,
        version=compute_progress_version(watched, now),
        funnel=list_funnel_bars(tally),
        pace=measure_build_pace(fresh, now) if has_pace(fresh) else Pace(),
        seconds=((fresh.finished_at or now) - fresh.created_at).total_seconds(),
        waiting_replies=waiting_replies(fresh),
        has_price=Price.objects.at(fresh.model, now) is not None,
        reasons=list_abandonment_reasons(fresh) if tally.abandoned else (),
        errors=list_failed_calls(fresh),
        at_once=rate_limit.at_once(fresh),
    )


def has_pace(build: Build) -> bool:
    """Whether a rate tells when the build ends: not where people bring the replies."""
    return build.state == Build.State.RUNNING and build.provider != Build.Provider.EXCHANGE


def list_funnel_bars(tally: Tally) -> tuple[Bar, ...]:
    """Every stage, also the empty ones, in the order of a case's life."""
    bars, total, start = [], tally.total, 0.0
    for stage in Stage:
        bar = Bar(stage, stage.replace("_", " "), WORKERS[stage], getattr(tally, stage), total, start)
        bars.append(bar)
        start += bar.width
    return tuple(bars)


def measure_build_pace(build: Build, now: datetime) -> Pace:
    """From the newest steps of all builds: how many of them ended a case of this one."""
    rows = Step.objects.order_by("-pk").values_list("at", "after", "case__build_id")[:SAMPLE]
    recent = [row for row in rows if row[0] >= now - WINDOW]
    own = [at for at, _, owner in recent if owner == build.pk]
    ended = sum(1 for _, after, owner in recent if owner == build.pk and after in ENDS)
    if ended < ENOUGH:
        return Pace()
    since = own[-1]  # not the sample's oldest: before it the build may have been waiting or not yet there
    minutes = max((now - since).total_seconds(), 1.0) / 60
    return Pace(ended / minutes, 60 * build.tally.open * minutes / ended)


def waiting_replies(build: Build) -> int:
    """Requests that wait for a reply by file; counted to 10,000, one more stands for more.

    The build's own come from an index; only where they are few it is asked what else its cases wait for.
    """
    writes = build.annotator.config.get("writes_snippets", False)
    if build.provider != Build.Provider.EXCHANGE or not (build.tally.open or writes):
        return 0
    waiting = LLMCall.Status.WAITING
    own = LLMCall.objects.filter(build=build, status=waiting).order_by()[: COUNTED + 1].count()
    if own > COUNTED:
        return own
    parked = Case.objects.filter(build=build, waiting_for__isnull=False, waiting_for__status=waiting)
    others = parked.exclude(waiting_for__build=build).values("waiting_for").order_by().distinct()
    cases = own + others[: COUNTED + 1 - own].count()
    if not writes:
        return cases
    proposed = Proposal.objects.filter(filling__build=build, waiting_for__status=waiting)
    return cases + proposed.exclude(waiting_for__build=build).count()


def list_abandonment_reasons(build: Build) -> tuple[tuple[str, int], ...]:
    """The most frequent reasons among the last abandoned cases, with how many cases each has.

    A request's id is left out: with it, each of a thousand missing replies would be a reason of its own.
    """
    rows = Case.objects.filter(build=build, stage=Stage.ABANDONED).order_by("-pk")
    counts = Counter(DIGEST.sub("…", reason) for reason in rows.values_list("reason", flat=True)[:REASONS])
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:5])


def list_failed_calls(build: Build) -> tuple[LLMCall, ...]:
    """The newest calls that failed, or of which no word came back; what no agent could use is a reason above.

    Each status by itself, as the index has it: asked for both at once, a database reads all calls.
    """
    calls = LLMCall.objects.filter(build=build).order_by("-pk")
    calls = calls.only("agent", "error", "finished_at", "attempt")
    found = [call for status in LOST for call in calls.filter(status=status)[:3]]
    return tuple(sorted(found, key=lambda call: -call.pk)[:3])
