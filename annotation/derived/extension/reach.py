"""How far a build reaches, and how many pairs are new where it reaches further."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from django.db.models import Exists, OuterRef

from annotation.builds.launch.estimates.figures import Range
from annotation.builds.launch.order import LaunchRefused
from annotation.models import Build, Case, Extension
from annotation.schemas.derived.derived_builds import ExtensionWish
from retrieval.collections.filter_steps import find_query_positions
from retrieval.filters import Rule
from retrieval.filters.queries import QueryRule
from retrieval.models import Mining
from retrieval.texts.plurals import count_noun


@dataclass(frozen=True)
class Reach:
    """How far a build reaches: positions of its queries, k, snippets before `until`, how many pairs."""

    queries: tuple[int, ...]
    k: int
    until: int
    passing: int
    pairs: int


def last_mining(build: Build) -> Mining:
    """The mining that reaches furthest: of the last extension that came to something, else the first one."""
    found = Mining.objects.filter(extension__build=build, extension__state=Extension.State.OPENED)
    return found.order_by("-extension__number").first() or build.own_mining


def measure_build_reach(build: Build) -> Reach:
    """How far the build reaches now. A few reads, which grow with the number of its queries."""
    mining, cases = last_mining(build), Case.objects.filter(build=build)
    known = build.queries.members.filter(Exists(cases.filter(query=OuterRef("text"))))
    until = snippets_end(build) if mining.until is None else mining.until
    return Reach(
        queries=tuple(known.order_by("position").values_list("position", flat=True)),
        k=mining.k,
        until=until,
        passing=count_passing_snippets(build, until),
        pairs=cases.order_by().values("pair").distinct().count(),
    )


def snippets_end(build: Build) -> int:
    """The position after the last snippet that the collection has now."""
    last = build.snippets.members.order_by("-position").values_list("position", flat=True).first()
    return 0 if last is None else last + 1


def count_passing_snippets(build: Build, until: int) -> int:
    """How many snippets before a position pass the build's rule."""
    rule = Rule(build.own_mining.rule)
    return build.snippets.members.passing(rule).filter(position__lt=until).count()


def draw_new_queries(build: Build, before: Reach, wish: ExtensionWish) -> tuple[int, ...]:
    """Positions of queries that the build has not got, drawn by the seed. Raises LaunchRefused."""
    if not wish.queries:
        return ()
    known = set(before.queries)
    passing = find_query_positions(build.queries, QueryRule(build.own_mining.query_rule))
    rest = [position for position in passing if position not in known]
    if wish.queries > len(rest):
        raise LaunchRefused(
            f"The collection has {count_noun(len(rest), 'query', 'queries')} that "
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
