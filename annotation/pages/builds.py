"""What the pages of builds show."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from django.utils import timezone

from annotation import canary as canaries
from annotation import place_effect, progress, trend
from annotation.drift.watching import has_shifted
from annotation.models import Build, BuildEvent, Rerun
from annotation.pages import batches, canary, drift, estimates, missing, money, notices
from annotation.pages.abandoned import Group, groups
from annotation.pages.embedding import Embedded, embedded
from annotation.pages.extending import Known, known
from annotation.pages.figures import Figures, figures
from annotation.pages.ordering import QUERY_RULES
from annotation.pages.pin_models import is_unknown
from annotation.pages.switches import Switch, switches
from annotation.pages.trends import Trend
from annotation.pages.trends import trend as trend_of
from annotation.pinning.minings import has_figures
from annotation.rerunning import sent_back
from annotation.steering import STATES, Action
from retrieval.filters import Rule
from retrieval.filters.queries import QueryRule
from retrieval.models import Mining

EVENTS = 20
CAUSES = 5
"""The causes on the build's own page; the page of abandoned cases has more."""


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
    Control(Action.GO_ON, "Go on with all pairs", "▶", "primary"),
    Control(Action.LEAVE, "Leave the other pairs", "■", ""),
    Control(Action.CANCEL, "Cancel …", "■", "danger", confirmed=True),
)

WITH_A_REASON = Control(Action.RESUME, "Resume …", "▶", "primary", confirmed=True)
"""Where the model has shifted, whoever goes on with it says why."""


@dataclass(frozen=True)
class ProgressPage:
    """The live part of a build's page."""

    shot: progress.Snapshot
    figures: Figures
    groups: tuple[Group, ...]
    trend: Trend | None
    events: tuple[BuildEvent, ...]
    controls: tuple[Control, ...]
    canaries: tuple[canary.Card, ...]
    told: tuple[notices.Told, ...]

    @property
    def build(self) -> Build:
        return self.shot.build

    @property
    def extensions(self) -> tuple[Known, ...]:
        """What was added to it, the last first."""
        return known(self.shot.build)

    @property
    def rerun(self) -> Rerun | None:
        """Whose cases it runs again, if any."""
        return Rerun.objects.filter(build=self.shot.build).select_related("of").first()

    @property
    def drift(self) -> drift.Card | None:
        """Its drift check; None where none was ordered."""
        return drift.card(self.shot.build, self.shot.tally)

    @property
    def batches(self) -> batches.Batches | None:
        """What it asks by batch."""
        return batches.batches(self.shot.build)

    @property
    def screens_by_query(self) -> bool:
        return place_effect.is_by_query(self.shot.build)

    @property
    def place_effect(self) -> place_effect.Effect | None:
        """As somebody's look at the distribution found it: to find it every case is read."""
        return place_effect.known(self.shot.build) if self.screens_by_query else None

    @property
    def money(self) -> money.BuildMoney:
        """The caps that hold it."""
        return money.build_money(self.shot.build, self.shot.tally)

    @cached_property
    def missing(self) -> missing.MissingCard | None:
        """What is written for its queries without a match; None before that can be known."""
        return missing.card(self.shot.build)

    @property
    def comparison(self) -> estimates.Comparison | None:
        """What it was expected to take against what it took."""
        return estimates.comparison(self.shot.build, self.shot.tally)


@dataclass(frozen=True)
class BuildPage(ProgressPage):
    """The whole page: the live part and what was ordered. `sent_back`: tests to be written again."""

    rule: str
    query_rules: str
    embedded: tuple[Embedded, ...]
    sent_back: int
    switches: tuple[Switch, ...]

    @property
    def mining_figures(self) -> bool:
        """Whether its mining has figures that can be pinned."""
        mining = self.shot.mining
        return mining is not None and mining.state == Mining.State.DONE and has_figures(mining)

    @property
    def weights_unknown(self) -> bool:
        """Whether its mining does not say what its encoders were."""
        return self.shot.mining is not None and is_unknown(self.shot.mining)


def progress_page(build: Build) -> ProgressPage:
    """The live part, the same for the page, the polled fragment and the websocket."""
    shot = progress.snapshot(build)
    numbers = figures(shot, minutes_of(shot.build))
    causes = groups(shot.build, shot.tally, CAUSES)
    over_time = trend_of(shot, timezone.now())
    cards = canary.cards(shot.build)
    told = notices.told_of(shot.build)
    return ProgressPage(
        shot, numbers, causes, over_time, events(shot.build), controls(shot.build), cards, told
    )


def minutes_of(build: Build) -> float | None:
    """Minutes since the build's cases were made, to its end if it is over; None where that is not known."""
    since = trend.began(build)
    return ((build.finished_at or timezone.now()) - since).total_seconds() / 60 if since else None


def build_page(build: Build) -> BuildPage:
    live = progress_page(build)
    mining = live.shot.mining
    return BuildPage(
        live.shot,
        live.figures,
        live.groups,
        live.trend,
        live.events,
        live.controls,
        live.canaries,
        live.told,
        rule=rule_words(mining.rule) if mining else "",
        query_rules=query_rule_words(mining.query_rule) if mining else "",
        embedded=tuple(embedded(mining)) if mining else (),
        sent_back=sent_back.waiting(build).count(),
        switches=switches(build.annotator),
    )


def events(build: Build) -> tuple[BuildEvent, ...]:
    return tuple(BuildEvent.objects.filter(build=build).select_related("user")[:EVENTS])


def controls(build: Build) -> tuple[Control, ...]:
    """The buttons that the state allows."""
    found = tuple(button for button in CONTROLS if build.state in STATES[button.action][0])
    if build.state == Build.State.CANARY and not canaries.is_of_extension(build):
        found = tuple(button for button in found if button.action is not Action.LEAVE)
    if build.state == Build.State.PAUSED and has_shifted(build):
        return tuple(WITH_A_REASON if button.action is Action.RESUME else button for button in found)
    return found


def rule_words(rule: int) -> str:
    """The rule's name in words: `TESTABLE_WITH_SELF` → `testable with self`."""
    names = [str(one.name).lower().replace("_", " ") for one in Rule if one & rule]
    return ", ".join(names) or "no rule: every snippet"


def query_rule_words(rule: int) -> str:
    """As the launch form says them; empty for none."""
    return "; ".join(words for name, words in QUERY_RULES if QueryRule[name.upper()] & rule)


DONE = {
    Action.PAUSE: "Paused. What is in the air now still ends; nothing new is begun.",
    Action.RESUME: "Resumed.",
    Action.GO_ON: "The build goes on with all of its pairs.",
    Action.LEAVE: "The other new pairs are left. The build is done with those that it has.",
    Action.CANCEL: "Cancelled. Labels that were settled stay; open cases stay unjudged.",
}


def done(action: Action, touched: int) -> str:
    """What an action did, for the person who did it."""
    if action is Action.RETRY:
        return f"{touched:,} abandoned cases go back to the stage that they left."
    return DONE[action]
