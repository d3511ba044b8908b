"""What a wish to extend a build comes to: which queries and snippets, how many new pairs, what they cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from django.conf import settings
from django.db.models import Exists, OuterRef

from annotation import canary, launching
from annotation.estimating.figures import Estimate, Range
from annotation.estimating.making import estimate
from annotation.estimating.tokens import Counter
from annotation.launching import LaunchRefused, Order
from annotation.models import Build, Case, Extension
from annotation.ordered import order_of
from annotation.steering import ControlRefused
from retrieval.counting import counted
from retrieval.filtering import positions
from retrieval.filters import Rule
from retrieval.filters.queries import QueryRule
from retrieval.models import Mining

MOST_K: Final = 1000
SEEDS: Final = 2**31
STATES: Final = (Build.State.RUNNING, Build.State.PAUSED, Build.State.WAITING, Build.State.DONE)


@dataclass(frozen=True)
class Wish:
    """What to add: `queries` drawn by `seed`; `k` candidates a query; with `newer` also new snippets.

    `k` None is the k that there is. `newer` looks among the snippets that the collection has by now.
    """

    k: int | None = None
    queries: int = 0
    seed: int = 1
    newer: bool = False


@dataclass(frozen=True)
class Reach:
    """How far a build reaches: positions of its queries, k, snippets before `until`, how many pairs."""

    queries: tuple[int, ...]
    k: int
    until: int
    passing: int
    pairs: int


@dataclass(frozen=True)
class Plan:
    """What a wish comes to. `drawn` are positions of new queries; `pairs` is how many will be new.

    `searched` are the positions of all queries that are mined: the new ones alone where that is enough.
    """

    wish: Wish
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
            f"{counted(added, 'snippet')} added since" if added else "",
        ]
        return "; ".join(filter(None, parts))


def why_not(build: Build) -> str:
    """Why the build can't be extended now; empty where it can."""
    state = build.get_state_display().lower()
    if build.state not in STATES:
        return f"The build is {state}; what is done, running, paused or waiting can be extended."
    if not build.opened:
        return "The build is still mined: its own pairs come first."
    row = canary.of(build)
    if row is not None and not row.rest_opened:
        return "The build is at its canary: let it go on, or cancel it."
    if hasattr(build, "rerun"):
        return "The build runs cases of another build again; extend that one, and run its new cases again."
    if hasattr(build, "filling"):
        return "The build writes functions for queries of another build; extend that one."
    if build.given_id is not None:
        return "The build judges given pairs; have further pairs judged by another build."
    if hasattr(build.mining, "holes"):
        return "The build judges unjudged results of a run; fill more of them with another build."
    if Extension.objects.filter(build=build, state=Extension.State.CANARY).exists():
        return "An extension is at its canary: let it go on, or leave its other pairs."
    if Extension.objects.filter(build=build, state=Extension.State.MINING).exists():
        return "An extension is mined already; wait for its pairs, or take it back."
    return launching.why_uncounted(build.model) if build.provider == Build.Provider.LIVE else ""


def last_mining(build: Build) -> Mining:
    """The mining that reaches furthest: of the last extension that came to something, else the first one."""
    found = Mining.objects.filter(extension__build=build, extension__state=Extension.State.OPENED)
    return found.order_by("-extension__number").first() or build.own_mining


def reach(build: Build) -> Reach:
    """How far the build reaches now. A few reads, which grow with the number of its queries."""
    mining, cases = last_mining(build), Case.objects.filter(build=build)
    known = build.queries.members.filter(Exists(cases.filter(query=OuterRef("text"))))
    until = snippets_end(build) if mining.until is None else mining.until
    return Reach(
        queries=tuple(known.order_by("position").values_list("position", flat=True)),
        k=mining.k,
        until=until,
        passing=passing(build, until),
        pairs=cases.order_by().values("pair").distinct().count(),
    )


def snippets_end(build: Build) -> int:
    """The position after the last snippet that the collection has now."""
    last = build.snippets.members.order_by("-position").values_list("position", flat=True).first()
    return 0 if last is None else last + 1


def passing(build: Build, until: int) -> int:
    """How many snippets before a position pass the build's rule."""
    rule = Rule(build.own_mining.rule)
    return build.snippets.members.passing(rule).filter(position__lt=until).count()


def plan(build: Build, wish: Wish) -> Plan:
    """What `wish` comes to now. Raises ControlRefused or LaunchRefused, which says what to change."""
    why = why_not(build)
    if why:
        raise ControlRefused(why)
    before = reach(build)
    k = before.k if wish.k is None else wish.k
    if not before.k <= k <= MOST_K:
        raise LaunchRefused(f"k is {before.k:,} and can only grow: choose {before.k:,} to {MOST_K:,}.")
    until = snippets_end(build) if wish.newer else before.until
    drawn = draw(build, before, wish)
    now = passing(build, until)
    deeper = k > before.k or now > before.passing
    pairs = new_pairs(before, len(drawn), k, now)
    if not pairs.high:
        raise LaunchRefused("Nothing would be new: ask for more queries, a larger k, or added snippets.")
    searched = tuple(sorted((*before.queries, *drawn))) if deeper else drawn
    return Plan(wish, before, k, until, now, drawn, searched, pairs)


def draw(build: Build, before: Reach, wish: Wish) -> tuple[int, ...]:
    """Positions of queries that the build has not got, drawn by the seed. Raises LaunchRefused."""
    if wish.queries < 0 or not 0 <= wish.seed < SEEDS:
        raise LaunchRefused(f"Queries to add and their seed are 0 or more; seeds are below {SEEDS:,}.")
    if not wish.queries:
        return ()
    known = set(before.queries)
    passing = positions(build.queries, QueryRule(build.own_mining.query_rule))
    rest = [position for position in passing if position not in known]
    if wish.queries > len(rest):
        raise LaunchRefused(
            f"The collection has {counted(len(rest), 'query', 'queries')} that "
            f"{'is' if len(rest) == 1 else 'are'} not in the build."
        )
    places = np.random.default_rng(wish.seed).choice(len(rest), wish.queries, replace=False)
    return tuple(sorted(rest[place] for place in places))


def new_pairs(before: Reach, drawn: int, k: int, passing: int) -> Range:
    """How many pairs will be new: known unless snippets were added, which enter the lists or do not.

    An added snippet is expected among the best k as often as any other.
    """
    had, each, old = min(before.k, before.passing), min(k, passing), len(before.queries)
    new = Range.of(drawn * each)
    if each == had and passing == before.passing:
        return new
    least = max(old * each - before.pairs, 0)
    share = (passing - before.passing) / passing if passing else 0.0
    kept = min(had, each * (1 - share))
    most = old * min(each, each - had + passing - before.passing)
    likely = least if not share else min(max(old * (each - kept), least), most)
    return new + Range(least, likely, max(most, least))


def canary_of(build: Build, found: Plan) -> int:
    """How many cases, in all rounds, would go first as its canary; 0 where so many new pairs have none.

    Where not all is known it goes by the most that there can be: a smaller one is opened at once after all.
    """
    large = canary.is_large(round(found.pairs.high) * build.rounds)
    return settings.CANARY_CASES if build.provider == Build.Provider.LIVE and large else 0


def order_for(build: Build, found: Plan) -> Order:
    """The plan as an order of so many pairs, to be estimated and confirmed."""
    pairs = max(1, round(found.pairs.expected))
    queries = max(1, len(found.searched))
    each = max(1, min(found.k, -(-pairs // queries)))
    return replace(order_of(build), k=each, limit=pairs)


def about(build: Build, found: Plan) -> str:
    """What a confirmation is for."""
    return f"extension of {build.pk}: {found.wish} {found.pairs}"


def price(build: Build, found: Plan, counter: Counter | None = None) -> Estimate:
    """What the new pairs will take."""
    order = order_for(build, found)
    assert order.limit is not None, "set by order_for"
    factor = Range(
        *(some / order.limit for some in (found.pairs.low, found.pairs.expected, found.pairs.high))
    )
    return replace(estimate(order, counter).times(factor), pairs=round(found.pairs.expected))
