"""What a study will take before it starts: ratings, hours and money, and what speaks against starting it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from types import MappingProxyType
from typing import Any, Final

from django.db.models import Count

from annotation.models import Condition, Rating, Study
from annotation.seen import seen_among
from annotation.studies.ordering import GAP
from annotation.studies.sampling.drawing import Stratum
from annotation.studies.splits import Splitting
from retrieval.counting import counted

FEW_QUERIES: Final = 30
MOST_MEASURED: Final = 5_000
MEASURED_FROM: Final = 20
CHUNK: Final = 5_000
SECONDS: Final[Mapping[str, float]] = MappingProxyType(
    {
        Condition.Kind.READING: 60.0,
        Condition.Kind.OWN_TESTS: 300.0,
        Condition.Kind.AGENTS_TESTS: 120.0,
        Condition.Kind.REVEAL: 90.0,
        Condition.Kind.SECOND_LOOK: 90.0,
    }
)
"""Assumed active time of one rating in each condition, until enough were measured."""


@dataclass(frozen=True, slots=True)
class Rater:
    """A rater as far as a plan cares: a name to show, what they can be given, pairs of the sample seen."""

    name: str
    condition: str
    capacity: int
    seen: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Load:
    """One condition: ratings a pair, and the seconds that one is assumed to take."""

    kind: str
    raters: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Share:
    """What a condition takes. `capacity` is how many ratings of sampled pairs its raters can give.

    `planted` of the `ratings` are of planted pairs. `more` are expected beside the planned ones, where raters
    split; `spare` is the room for them.
    """

    kind: str
    word: str
    raters_a_pair: int
    enrolled: int
    ratings: int
    capacity: int
    hours: float
    problem: str
    more: int = 0
    spare: int = 0
    planted: int = 0

    @property
    def sampled(self) -> int:
        """Ratings of sampled pairs, as `capacity` counts them."""
        return self.ratings - self.planted


@dataclass(frozen=True, slots=True)
class Room:
    """How many pairs can be drawn at most, from so many of so many queries; `per_query` 0: no limit."""

    pairs: int
    per_query: int
    population: int
    queries: int

    @property
    def told(self) -> str:
        most = f", and at most {self.per_query:,} of a query are taken" if self.per_query else ""
        there = f"{counted(self.population, 'pair')} of {counted(self.queries, 'query', 'queries')}"
        return f"there are {there} to draw from{most}"

    def lacking(self, size: int) -> str:
        """What to do for a study of so many pairs, where it can't be drawn; else empty."""
        if size <= self.pairs:
            return ""
        more = (
            "Add a build, or take more pairs of a query." if self.pairs < self.population else "Add a build."
        )
        return f"At most {counted(self.pairs, 'pair')} can be drawn: {self.told}. {more}"


@dataclass(frozen=True, slots=True)
class Outlook:
    """A study before it starts. `problems` stop it from starting, `warnings` do not; `notes` explain.

    `drawn`: stratum and inclusion probability of each pair, where the sample is not stored; then `room`, too:
    how many pairs could be drawn at most, and why not more.
    """

    pairs: int
    planted: int
    queries: int
    strata: tuple[Stratum, ...]
    shares: tuple[Share, ...]
    hours: float
    dollars: float
    seen: tuple[tuple[str, int], ...]
    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...] = ()
    drawn: tuple[tuple[str, float], ...] = ()
    room: Room | None = None

    @property
    def ratings(self) -> int:
        return sum(one.ratings for one in self.shares)

    @property
    def more(self) -> int:
        """Ratings that are expected where raters split; hours and money count them."""
        return sum(one.more for one in self.shares)


def outlook(
    pairs: Collection[int],
    planted: int,
    queries: int,
    strata: Sequence[Stratum],
    loads: Sequence[Load],
    raters: Sequence[Rater],
    hourly_rate: float,
    *,
    one_more: Splitting | None = None,
) -> Outlook:
    """What a sample of these pairs (ids) takes with these conditions and raters.

    `one_more`: where the planned raters split, as often as this says, one more is asked.
    """
    shares = tuple(share_of(load, pairs, planted, raters, one_more) for load in loads)
    hours = sum(one.hours for one in shares)
    return Outlook(
        pairs=len(pairs),
        planted=planted,
        queries=queries,
        strata=tuple(strata),
        shares=shares,
        hours=hours,
        dollars=hours * hourly_rate,
        seen=tuple((one.name, len(one.seen)) for one in raters if one.seen),
        problems=tuple(one.problem for one in shares if one.problem),
        warnings=(*warnings_of(queries, strata), *(spare_of(shares) if one_more else ())),
        notes=tuple(expected_of(shares, one_more)) if one_more else (),
    )


def share_of(
    load: Load,
    pairs: Collection[int],
    planted: int,
    raters: Sequence[Rater],
    one_more: Splitting | None = None,
) -> Share:
    own = [one for one in raters if one.condition == load.kind]
    sampled = len(pairs) * load.raters
    # A rater is given a pair once, no pair that they have seen, and the planted ones besides.
    room = sum(max(0, min(one.capacity - planted, len(pairs) - len(one.seen))) for one in own)
    ratings = sampled + planted * len(own)
    asked = one_more is not None and len(own) > load.raters
    more = one_more.expected(len(pairs), load.raters) if one_more and asked else 0
    word = str(Condition.Kind(load.kind).label)
    return Share(
        kind=load.kind,
        word=word,
        raters_a_pair=load.raters,
        enrolled=len(own),
        ratings=ratings,
        capacity=room,
        hours=(ratings + more) * load.seconds / 3600,
        problem=problem_of(load, word, len(pairs), sampled, room, own),
        more=more,
        spare=room - sampled,
        planted=planted * len(own),
    )


def problem_of(load: Load, word: str, pairs: int, sampled: int, room: int, raters: Sequence[Rater]) -> str:
    """Why the raters of a condition can't do it; empty where they can."""
    if len(raters) < load.raters:
        return f"{word}: {load.raters} raters a pair are wanted, and {len(raters)} are enrolled."
    if room < sampled:
        return (
            f"{word}: {pairs:,} pairs × {load.raters} raters = {sampled:,} ratings are wanted, and the "
            f"raters can give {room:,}: enrol more, raise capacities, or draw fewer pairs."
        )
    times = Counter(pair for one in raters for pair in one.seen)
    short = sum(len(raters) - count < load.raters for count in times.values())
    if short:
        return (
            f"{word}: {counted(short, 'pair has', 'pairs have')} been seen by so many of the raters that "
            f"fewer than {load.raters} are left to rate: enrol people who have not seen what agents said."
        )
    return ""


def warnings_of(queries: int, strata: Sequence[Stratum]) -> Iterable[str]:
    if queries < FEW_QUERIES:
        yield (
            f"The sample has {counted(queries, 'query', 'queries')}: with fewer than {FEW_QUERIES} every "
            "interval that resamples queries is too short."
        )
    thin = [one.name for one in strata if one.name and one.drawn < 5]
    if thin:
        yield f"Fewer than 5 pairs are drawn of: {', '.join(thin)}. Figures of such a stratum say little."


def smaller(size: int, drawn: int, room: Room) -> tuple[str, ...]:
    """Where fewer pairs are drawn than were asked for."""
    if drawn >= size:
        return ()
    return (f"{counted(drawn, 'pair')} drawn where {size:,} were asked for: {room.told}.",)


def crowded(order: str, sizes: Sequence[int]) -> tuple[str, ...]:
    """Where pairs of a query can't be kept GAP apart; `sizes` are how many pairs each query has."""
    most = max(sizes, default=0)
    if order != Study.Order.SPACED or (most - 1) * GAP + sizes.count(most) <= sum(sizes):
        return ()
    told = f"Whoever rates all {sum(sizes):,} pairs gets some of one query nearer than {GAP} apart"
    return (f"{told}: there are queries with {most:,}. Draw fewer of each, or pairs of more queries.",)


def spare_of(shares: Iterable[Share]) -> Iterable[str]:
    """Where nobody is left to be asked one more time, or has no room."""
    for one in shares:
        if one.enrolled == one.raters_a_pair:
            yield (
                f"{one.word}: no rater is left for a pair on which {one.raters_a_pair} part: enrol one more, "
                "or splits go to Decisions at once."
            )
        elif 0 <= one.spare < one.more:
            yield (
                f"{one.word}: the raters have room for {one.spare:,} of about {one.more:,} ratings that "
                "splits will ask for: raise capacities, or the rest goes to Decisions at once."
            )


def expected_of(shares: Iterable[Share], one_more: Splitting) -> Iterable[str]:
    """What one more rater on a split is expected to add."""
    more = sum(one.more for one in shares)
    if more:
        yield (
            f"Where raters split one more is asked: about {counted(more, 'rating')} more, if a rater is "
            f"right in {one_more.accuracy:.0%} and unsure in {one_more.unsure:.0%} of pairs. Hours and "
            "cost count them."
        )


def outlook_of(study: Study) -> Outlook:
    """The same for a stored study, from its rows."""
    rows = list(study.pairs.values_list("pair_id", "other_id", "planted"))
    sampled = {pair for pair, _, planted in rows if not planted}
    shown = owners((pair, other) for pair, other, planted in rows if not planted)
    kept = study.sample if isinstance(study.sample, dict) else {}
    seconds = kept.get("seconds", {})
    loads = [
        Load(one.kind, one.raters, seconds.get(one.kind, SECONDS[one.kind])) for one in study.conditions.all()
    ]
    enrolled = list(study.enrolments.select_related("user", "condition").filter(finished_at__isnull=True))
    seen = seen_by([one.user_id for one in enrolled], shown)
    raters = [
        Rater(str(one.user), one.condition.kind, one.capacity, seen.get(one.user_id, frozenset()))
        for one in enrolled
    ]
    strata = [Stratum(*one) for one in kept.get("strata", [])]
    of_queries = study.pairs.filter(planted="").values("pair__query")
    queries = kept.get("queries") or of_queries.distinct().count()
    planted = sum(bool(planted) for *_, planted in rows)
    found = outlook(
        sampled,
        planted,
        queries,
        strata,
        loads,
        raters,
        kept.get("hourly_rate", 0.0),
        one_more=Splitting.of(kept.get("rates", {})) if study.one_more else None,
    )
    room = room_of(kept)
    if room is None:
        return found
    few = smaller(kept["wish"]["size"], len(sampled), room)
    sizes = of_queries.order_by().annotate(pairs=Count("pk")).values_list("pairs", flat=True)
    return replace(found, warnings=(*few, *crowded(study.order, list(sizes)), *found.warnings))


def room_of(kept: Mapping[str, Any]) -> Room | None:
    """What a stored draw was from; None where it is not known. Without `room` all of it could be drawn."""
    if "wish" not in kept or "population" not in kept:
        return None
    population = kept["population"]
    room = kept.get("room", population)
    return Room(room, kept["wish"]["per_query"], population, kept["population_queries"])


def owners(pairs: Iterable[tuple[int, int | None]]) -> dict[int, int]:
    """Each pair that is shown, with the pair of the sample that it is shown for: a comparison has two."""
    return {shown: pair for pair, other in pairs for shown in (pair, other) if shown is not None}


def seen_by(users: Sequence[int], shown: Mapping[int, int]) -> dict[int, frozenset[int]]:
    """Which pairs of the sample each person has seen with agents' evidence: they get no blind label."""
    found: dict[int, set[int]] = {}
    wanted = sorted(shown)
    for start in range(0, len(wanted), CHUNK):
        for user, pair in seen_among(users, wanted[start : start + CHUNK]):
            found.setdefault(user, set()).add(shown[pair])
    return {user: frozenset(some) for user, some in found.items()}


def usual_seconds() -> dict[str, tuple[float, int]]:
    """Seconds of one rating by condition, and of how many ratings that is the median; 0: it is assumed.

    The latest ratings of all studies count, planted pairs left out; a second look is part of its rating.
    """
    return {kind: measured(kind) for kind in SECONDS}


def measured(kind: str) -> tuple[float, int]:
    """A revision holds the time up to it, so that of a pair the longest is that of all its revisions."""
    rows = Rating.objects.filter(
        assignment__condition__kind=kind, assignment__study_pair__planted="", withdrawn=False, seconds__gt=0
    )
    latest = rows.order_by("-pk").values_list("assignment", "seconds")[:MOST_MEASURED]
    longest: dict[int, float] = {}
    for assignment, seconds in latest:
        longest[assignment] = max(seconds, longest.get(assignment, 0.0))
    found = list(longest.values())
    if len(found) < MEASURED_FROM:
        return SECONDS[kind], 0
    return float(median(found)), len(found)
