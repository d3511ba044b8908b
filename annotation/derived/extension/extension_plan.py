"""An extension of a build: what is added, what that costs, the decision.

Its pairs are mined first; `execution` makes cases of those that are new.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Final, Self

from django.db.models import Max

from annotation.builds.control.pause_resume import ControlRefused
from annotation.builds.launch import launcher
from annotation.builds.launch.estimates.estimate import estimate_order
from annotation.builds.launch.estimates.figures import Estimate, Range
from annotation.builds.launch.estimates.tokens import Counter
from annotation.builds.launch.from_build import order_of
from annotation.builds.launch.order import LaunchRefused, Order
from annotation.builds.limits import canary
from annotation.derived.derivation import Derivation, Launch
from annotation.derived.extension.reach import (
    Reach,
    count_passing_snippets,
    draw_new_queries,
    measure_build_reach,
    new_pairs,
    snippets_end,
)
from annotation.models import Build, Extension
from annotation.schemas.derived.derived_builds import ExtensionWish
from retrieval.models import Mining
from retrieval.texts.plurals import count_noun

MOST_K: Final = 1000
STATES: Final = (Build.State.RUNNING, Build.State.PAUSED, Build.State.WAITING, Build.State.DONE)


@dataclass(frozen=True)
class ExtensionPlan(Derivation[Extension]):
    """What a wish comes to. `drawn` are positions of new queries; `pairs` is how many will be new.

    `searched` are the positions of all queries that are mined: the new ones alone where that is enough.
    """

    needs_reason: ClassVar[bool] = True

    build: Build
    wish: ExtensionWish
    before: Reach
    k: int
    until: int
    passing: int
    drawn: tuple[int, ...]
    searched: tuple[int, ...]
    pairs: Range

    @property
    def words(self) -> str:
        """What is added, in one line."""
        added = self.passing - self.before.passing
        parts = [
            f"k {self.before.k:,} → {self.k:,}" if self.k > self.before.k else "",
            f"{len(self.drawn):,} more queries (seed {self.wish.seed})" if self.drawn else "",
            f"{count_noun(added, 'snippet')} added since" if added else "",
        ]
        return "; ".join(filter(None, parts))

    @property
    def about(self) -> str:
        asked = self.wish.dict(include=set(ExtensionWish.model_fields))
        return f"extension of {self.build.pk}: {asked} {self.pairs}"

    @property
    def cases(self) -> int:
        """By the most that there can be: so few that there is no canary are opened at once after all."""
        return round(self.pairs.high) * self.build.rounds

    def refuse_keyless(self) -> None:
        """Its build has its provider already, and waits for a person where that has lost its key."""

    def refuse_bad(self) -> None:
        if refused := why_not(self.build):
            raise ControlRefused(refused)

    def hold(self) -> Self:
        self.build.tally.change()  # held from here on, so that nobody else extends or ends the build
        self.build.refresh_from_db(fields=["state", "opened"])
        self.refuse_bad()
        return self

    def estimate(self, counter: Counter | None = None) -> Estimate:
        """What the new pairs will take, from the fewest to the most."""
        assert self.order.limit is not None, "set by order_for"
        found = (self.pairs.low, self.pairs.expected, self.pairs.high)
        factor = Range(*(some / self.order.limit for some in found))
        return replace(estimate_order(self.order, counter).times(factor), pairs=round(self.pairs.expected))

    def create(self, launch: Launch) -> Extension:
        """Let the build go on with further pairs, whose mining a worker takes up."""
        made = Extension.objects.create(
            build=self.build,
            number=1 + (self.build.extensions.aggregate(last=Max("number"))["last"] or 0),
            mining=mining_of(self),
            description=self.words[:400],
            estimate=launch.figures.to_json(),
            user=launcher.account_of_actor(launch.user),
            reason=launch.reason,
        )
        reopen_extended_build(self.build)
        told = f"{made.description}; {launch.price_line}: {launch.reason}"
        launcher.record_build_event(self.build, launch.user, "extended", told)
        if launch.skip_canary:
            told = f"extension {made.number}: {launch.skip_canary}"
            launcher.record_build_event(self.build, launch.user, "skipped the canary", told)
        elif self.is_live:
            canary.plan_extension_canary(made)
        return made


def why_not(build: Build) -> str:
    """Why the build can't be extended now; empty where it can."""
    state = build.get_state_display().lower()
    if build.state not in STATES:
        return f"The build is {state}; what is done, running, paused or waiting can be extended."
    if not build.opened:
        return "The build is still being mined: its own pairs come first."
    row = canary.canary_of_build(build)
    if row is not None and not row.rest_opened:
        return "The build waits at its canary: continue or cancel it."
    if hasattr(build, "rerun"):
        return "The build runs cases of another build again; extend that one, and run its new cases again."
    if hasattr(build, "filling"):
        return "The build writes functions for queries of another build; extend that one."
    if build.pair_list_id is not None:
        return "The build judges given pairs; use another build for more pairs."
    if hasattr(build.mining, "holes"):
        return "This build judges what a run left unjudged. Start another build to judge more."
    if Extension.objects.filter(build=build, state=Extension.State.CANARY).exists():
        return "An extension waits at its canary: continue it, or leave its other pairs."
    if Extension.objects.filter(build=build, state=Extension.State.MINING).exists():
        return "An extension is already being mined; wait for its pairs, or cancel it."
    return launcher.why_uncounted(build.model) if build.provider == Build.Provider.LIVE else ""


def plan_extension(build: Build, wish: ExtensionWish) -> ExtensionPlan:
    """What `wish` comes to now. Raises ControlRefused or LaunchRefused, which says what to change."""
    why = why_not(build)
    if why:
        raise ControlRefused(why)
    before = measure_build_reach(build)
    k = before.k if wish.k is None else wish.k
    if not before.k <= k <= MOST_K:
        raise LaunchRefused(f"k is {before.k:,} and can only grow: choose {before.k:,} to {MOST_K:,}.")
    until = snippets_end(build) if wish.newer else before.until
    drawn = draw_new_queries(build, before, wish)
    now = count_passing_snippets(build, until)
    deeper = k > before.k or now > before.passing
    pairs = new_pairs(before, len(drawn), k, now)
    if not pairs.high:
        raise LaunchRefused("Nothing would be new: ask for more queries, a larger k, or added functions.")
    searched = tuple(sorted((*before.queries, *drawn))) if deeper else drawn
    order = order_for(build, k, len(searched), pairs)
    return ExtensionPlan(order, build, wish, before, k, until, now, drawn, searched, pairs)


def order_for(build: Build, k: int, searched: int, new: Range) -> Order:
    """So many `new` pairs as an order, to be estimated and confirmed."""
    pairs = max(1, round(new.expected))
    each = max(1, min(k, -(-pairs // max(1, searched))))
    return replace(order_of(build), k=each, limit=pairs)


def mining_of(plan: ExtensionPlan) -> Mining:
    build, first = plan.build, plan.build.own_mining
    same = "encoders", "rule", "query_rule", "text_option", "fusion", "approximate"
    return Mining.objects.create(
        queries=build.queries,
        snippets=build.snippets,
        k=plan.k,
        chosen=list(plan.searched),
        seed=plan.wish.seed if plan.drawn else None,
        until=plan.until,
        **{name: getattr(first, name) for name in same},
    )


def reopen_extended_build(build: Build) -> None:
    """A build that was done has work again; one that a person stopped stays stopped."""
    done = Build.objects.filter(pk=build.pk, state=Build.State.DONE)
    done.update(state=Build.State.RUNNING, reason="", finished_at=None)
    build.refresh_from_db(fields=["state"])
