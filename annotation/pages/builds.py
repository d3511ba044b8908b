"""What the pages of builds show."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils import timezone

from annotation import progress, trend
from annotation.launching import STATES, Action
from annotation.models import Build, BuildEvent, Case
from annotation.pages import estimates, money
from annotation.pages.figures import Figures, figures
from annotation.stages import Stage
from retrieval.filters import Rule

PAGE = 50
EVENTS = 20


@dataclass(frozen=True)
class Control:
    """A button: what it does, and whether the server asks once more before it does it."""

    action: Action
    word: str
    mark: str
    kind: str
    confirmed: bool = False


CONTROLS = (
    Control(Action.PAUSE, "Pause", "‖", ""),
    Control(Action.RESUME, "Resume", "▶", "primary"),
    Control(Action.CANCEL, "Cancel …", "■", "danger", confirmed=True),
)


@dataclass(frozen=True)
class ProgressPage:
    """The live part of a build's page."""

    shot: progress.Snapshot
    figures: Figures
    events: tuple[BuildEvent, ...]
    controls: tuple[Control, ...]

    @property
    def build(self) -> Build:
        return self.shot.build

    @property
    def money(self) -> money.BuildMoney:
        """The caps that hold it."""
        return money.build_money(self.shot.build, self.shot.tally)

    @property
    def comparison(self) -> estimates.Comparison | None:
        """What it was expected to take against what it took."""
        return estimates.comparison(self.shot.build, self.shot.tally)


@dataclass(frozen=True)
class BuildPage(ProgressPage):
    """The whole page: the live part and what was ordered."""

    rule: str


@dataclass(frozen=True)
class AbandonedPage:
    """Cases that could not be judged, in pages of 50; `after` is the cursor of the next page."""

    build: Build
    abandoned: int
    reasons: tuple[tuple[str, int], ...]
    cases: tuple[Case, ...]
    after: int | None
    is_first: bool
    can_retry: bool


def progress_page(build: Build) -> ProgressPage:
    """The live part, the same for the page, the polled fragment and the websocket."""
    shot = progress.snapshot(build)
    numbers = figures(shot, minutes_of(shot.build))
    return ProgressPage(shot, numbers, events(shot.build), controls(shot.build))


def minutes_of(build: Build) -> float | None:
    """Minutes since the build's cases were made, to its end if it is over; None where that is not known."""
    since = trend.began(build)
    return ((build.finished_at or timezone.now()) - since).total_seconds() / 60 if since else None


def build_page(build: Build) -> BuildPage:
    live = progress_page(build)
    return BuildPage(
        live.shot, live.figures, live.events, live.controls, rule=rule_words(live.shot.mining.rule)
    )


def events(build: Build) -> tuple[BuildEvent, ...]:
    return tuple(BuildEvent.objects.filter(build=build).select_related("user")[:EVENTS])


def controls(build: Build) -> tuple[Control, ...]:
    """The buttons that the state allows."""
    return tuple(button for button in CONTROLS if build.state in STATES[button.action][0])


def rule_words(rule: int) -> str:
    """The rule's name in words: `TESTABLE_WITH_SELF` → `testable with self`."""
    names = [str(one.name).lower().replace("_", " ") for one in Rule if one & rule]
    return ", ".join(names) or "no rule: every snippet"


def abandoned_page(build: Build, after: int) -> AbandonedPage:
    """The page of abandoned cases behind case `after` (0 = the first)."""
    rows: QuerySet[Case] = Case.objects.filter(build=build, stage=Stage.ABANDONED, pk__gt=after)
    found = list(rows.select_related("pair__query", "pair__snippet").order_by("pk")[: PAGE + 1])
    shown = tuple(found[:PAGE])
    return AbandonedPage(
        build=build,
        abandoned=build.tally.abandoned,
        reasons=progress.reasons(build),
        cases=shown,
        after=shown[-1].pk if len(found) > PAGE else None,
        is_first=not after,
        can_retry=bool(build.tally.abandoned) and build.state != Build.State.CANCELLED,
    )


DONE = {
    Action.PAUSE: "Paused. What is in the air now still ends; nothing new is begun.",
    Action.RESUME: "Resumed.",
    Action.CANCEL: "Cancelled. Labels that were settled stay; open cases stay unjudged.",
}


def done(action: Action, touched: int) -> str:
    """What an action did, for the person who did it."""
    if action is Action.RETRY:
        return f"{touched:,} abandoned cases go back to the stage that they left."
    return DONE[action]
