"""One way to make pairs of a build, or of a run, into a build: choose, price, confirm, launch.

A kind of derivation says which pairs are chosen and what is taken over. The rest is the same for all kinds:
what is refused, the price, the word that confirms it, the canary, and the order in which that is looked at.
The plainest kind is an order as it is, whose pairs are mined or given. Given pairs may be judged by several
annotators at once: that is such an order for each, and a queue for experts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Generic, Self, TypeVar

from django.conf import settings
from django.db import IntegrityError, transaction

from annotation.builds.control.spending_caps import checked_reason
from annotation.builds.launch import launcher
from annotation.builds.launch.estimates import confirmation
from annotation.builds.launch.estimates.estimate import estimate_order, passing_queries
from annotation.builds.launch.estimates.figures import Estimate
from annotation.builds.launch.estimates.tokens import Counter
from annotation.builds.launch.launcher import Actor
from annotation.builds.launch.order import Judge, LaunchRefused, Order, asking_nobody
from annotation.builds.limits import canary
from annotation.models import Build
from retrieval.texts.hostile import mark_hostile_characters

Made = TypeVar("Made")
EXPERTS: Final = "experts"
CHOICES: Final = (*(judge.value for judge in Judge), EXPERTS)


@dataclass(frozen=True)
class Decision:
    """Who launches it, why, and on which word; `skip_canary` says why all of it is paid for at once.

    Without a word nobody has confirmed a price.
    """

    user: Actor = None
    reason: str = ""
    word: str = ""
    skip_canary: str = ""


@dataclass(frozen=True)
class Quote:
    """A price as it is shown, and the word that launches on this very price."""

    figures: Estimate
    word: str


@dataclass(frozen=True)
class Launch:
    """A decision that was checked, and the price that it is launched on."""

    figures: Estimate
    user: Actor
    reason: str
    skip_canary: str
    confirmed: bool

    @property
    def price_line(self) -> str:
        """The price for the history, and whether anybody has confirmed it."""
        seen = "" if self.confirmed else ", confirmed by nobody"
        return f"{confirmation.format_estimate_line(self.figures)}{seen}"

    def keep_estimate(self, build: Build) -> None:
        """Keep the price with the build, to be compared with what came of it."""
        build.estimate = self.figures.to_json()
        build.save(update_fields=["estimate"])

    def record_price(self, build: Build) -> None:
        """The price as an event of its own."""
        event = "estimate confirmed" if self.confirmed else "estimated, confirmed by nobody"
        launcher.record_build_event(build, self.user, event, confirmation.format_estimate_line(self.figures))


@dataclass(frozen=True)
class Derivation(ABC, Generic[Made]):
    """Chosen pairs in the terms of any order. Launched, they are `Made`: a build, or more of one."""

    order: Order
    needs_reason: ClassVar[bool] = False

    @property
    @abstractmethod
    def about(self) -> str:
        """What a confirmation is for; it holds for no other choice of pairs."""

    @property
    @abstractmethod
    def cases(self) -> int:
        """How many cases there will be at the most, in all rounds."""

    @abstractmethod
    def create(self, launch: Launch) -> Made:
        """Make the rows, inside of a transaction. Raises IntegrityError where the name is taken."""

    def refuse_bad(self) -> None:
        """What can be known to be wrong before any work. Raises LaunchRefused."""
        launcher.refuse_bad_name(self.order)
        launcher.refuse_bad_provider(self.order)

    def refuse_keyless(self) -> None:
        """A launch takes the key that an estimate can do without. Raises LaunchRefused."""
        launcher.refuse_missing_key(self.order)

    def hold(self) -> Self:
        """The same as the database has it, inside of a transaction that keeps others from changing it."""
        return self

    def estimate(self, counter: Counter | None = None) -> Estimate:
        """What it will take, stage by stage; `counter` is the provider's own, where it has one."""
        return estimate_order(self.order, counter)

    def quote(self, counter: Counter | None = None) -> Quote:
        """The price to be shown, and its word."""
        figures = self.estimate(counter)
        return Quote(figures, confirmation.sign_estimate(self.order, figures, self.about))

    @property
    def is_live(self) -> bool:
        return self.order.provider == Build.Provider.LIVE

    @property
    def canary(self) -> int:
        """How many of the cases would go first as a canary; 0 where so many have none."""
        return settings.CANARY_CASES if self.is_live and canary.is_large(self.cases) else 0

    def launch(self, decision: Decision | None = None) -> Made:
        """Make it. Raises LaunchRefused, and CapRefused where a reason is needed and none is given."""
        said = decision or Decision()
        why = (
            checked_reason(said.reason) if self.needs_reason else mark_hostile_characters(said.reason).strip()
        )
        skipped = mark_hostile_characters(said.skip_canary).strip()
        self.refuse_keyless()
        self.refuse_bad()
        unseen = None if said.word else self.estimate()  # before any row is held: it takes a while
        try:
            with transaction.atomic():
                held = self.hold()
                figures = unseen or held.confirm(said.word)
                return held.create(Launch(figures, said.user, why, skipped, confirmed=bool(said.word)))
        except IntegrityError:
            self.refuse_bad()  # somebody, or a second click, took the name meanwhile
            raise

    def confirm(self, word: str) -> Estimate:
        """The price in the word. Raises LaunchRefused where it was of other pairs, or holds no more."""
        return confirmation.confirm_estimate(self.order, word, self.about)


@dataclass(frozen=True)
class OrderPlan(Derivation[Build]):
    """An order as it is: it says everything itself, also why, and whether its canary is skipped."""

    @property
    def about(self) -> str:
        return ""

    @property
    def cases(self) -> int:
        given = self.order.given
        whole = given.size if given else passing_queries(self.order) * launcher.pairs_a_query(self.order)
        return min(whole, self.order.limit or whole) * self.order.rounds

    def refuse_bad(self) -> None:
        launcher.refuse_bad_order(self.order)

    def launch(self, decision: Decision | None = None) -> Build:
        """What is free is not estimated."""
        if self.is_live:
            return super().launch(decision)
        return launcher.launch_build(self.order, decision.user if decision else None)

    def create(self, launch: Launch) -> Build:
        build = launcher.create_build_rows(self.order, launch.user)
        launch.keep_estimate(build)
        launch.record_price(build)
        return build


@dataclass(frozen=True, slots=True)
class Who:
    """Who judges: agents or models by their builds, people by plain review or a study; at least one."""

    judges: tuple[Judge, ...] = (Judge.AGENTS,)
    experts: bool = False

    @classmethod
    def named(cls, names: list[str]) -> Who:
        """Those of `CHOICES`. Raises ValueError for others, and for none."""
        judges = tuple(Judge(name) for name in dict.fromkeys(names) if name != EXPERTS)
        if not names:
            raise ValueError("nobody is named")
        return cls(judges, EXPERTS in names)

    @property
    def several(self) -> bool:
        return len(self.judges) + self.experts > 1


def orders_of(order: Order, who: Who) -> list[Order]:
    """An order for each annotator that is asked, by names of their own where there are several.

    Raises LaunchRefused where names are taken, or where a mining is to be judged by several.
    """
    if order.given is None and (who.several or who.experts):
        raise LaunchRefused(
            "Several annotators, or experts, can judge given pairs only. Give pairs, or choose one annotator."
        )
    orders = [replace(order, annotator=judge, name=name_for(order, who, judge)) for judge in who.judges]
    for named in (*orders, *([queue_order(order, who)] if who.experts else [])):
        launcher.refuse_bad_name(named)
    return orders


def name_for(order: Order, who: Who, annotator: str) -> str:
    return f"{order.name.strip()} {annotator}" if who.several else order.name.strip()


def queue_order(order: Order, who: Who) -> Order:
    """The order of the queue, which has a name of its own."""
    return replace(asking_nobody(order), name=name_for(order, who, EXPERTS))
