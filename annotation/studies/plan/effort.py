"""What a study will take before it starts: ratings, hours and money, and what speaks against starting it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from types import MappingProxyType
from typing import Any, Final

from django.contrib.auth.models import User
from django.db.models import Count

from annotation.models import Condition, Rating, Study
from annotation.studies.enrolment.pair_order import GAP
from annotation.studies.exposure import seen_among
from annotation.studies.plan.split_rates import Splitting
from annotation.studies.sampling.draw import Stratum
from retrieval.metrics.resampling import FEW
from retrieval.texts.plurals import count_noun

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
        there = f"{count_noun(self.population, 'pair')} of {count_noun(self.queries, 'query', 'queries')}"
        return f"there are {there} to draw from{most}"

    def lacking(self, size: int) -> str:
        """What to do for a study of so many pairs, where it can't be drawn; else empty."""
        if size <= self.pairs:
            return ""
        more = (
            "Add a build, or take more pairs of a query." if self.pairs < self.population else "Add a build."
        )
        return f"At most {count_noun(self.pairs, 'pair')} can be drawn: {self.told}. {more}"


@dataclass(frozen=True, slots=True)
class StudyOutlook:
    """A study before it starts. `problems` stop it from starting, `warnings` do not; `notes` explain.

    `room`: how many pairs could be drawn at most, and why not more, where that is known. `drawn`: stratum and
    inclusion probability of each pair, where the sample is not stored.
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
        return sum(share.ratings for share in self.shares)

    @property
    def more(self) -> int:
        """Ratings that are expected where raters split; hours and money count them."""
        return sum(share.more for share in self.shares)


def estimate_study_effort(
    pairs: Collection[int],
    planted: int,
    queries: int,
    strata: Sequence[Stratum],
    loads: Sequence[Load],
    raters: Sequence[Rater],
    hourly_rate: float,
    *,
    one_more: Splitting | None = None,
) -> StudyOutlook:
    """What a sample of these pairs (ids) takes with these conditions and raters.

    `one_more`: where the planned raters split, as often as this says, one more is asked.
    """
    shares = tuple(share_of(load, pairs, planted, raters, one_more) for load in loads)
    hours = sum(share.hours for share in shares)
    return StudyOutlook(
        pairs=len(pairs),
        planted=planted,
        queries=queries,
        strata=tuple(strata),
        shares=shares,
        hours=hours,
        dollars=hours * hourly_rate,
        seen=tuple((rater.name, len(rater.seen)) for rater in raters if rater.seen),
        problems=tuple(share.problem for share in shares if share.problem),
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
    own = [rater for rater in raters if rater.condition == load.kind]
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
    times = Counter(pair for rater in raters for pair in rater.seen)
    short = sum(len(raters) - count < load.raters for count in times.values())
    if short:
        return (
            f"{word}: {count_noun(short, 'pair has', 'pairs have')} been seen by so many of the raters that "
            f"fewer than {load.raters} are left to rate: enrol people who have not seen what agents said."
        )
    return ""


def warnings_of(queries: int, strata: Sequence[Stratum]) -> Iterable[str]:
    if queries < FEW:
        yield (
            f"The sample has {count_noun(queries, 'query', 'queries')}: with fewer than {FEW} every "
            "interval that resamples queries is too short."
        )
    thin = [stratum.name for stratum in strata if stratum.name and stratum.drawn < 5]
    if thin:
        yield f"Fewer than 5 pairs are drawn of: {', '.join(thin)}. Figures of such a stratum say little."


def warn_of_draw(
    found: StudyOutlook,
    room: Room,
    size: int,
    order: str,
    sizes: Sequence[int],
    drawn: tuple[tuple[str, float], ...] = (),
) -> StudyOutlook:
    """The outlook with what speaks against a draw of `size` pairs; `sizes` are the pairs of each query."""
    warnings = describe_smaller_sample(size, found.pairs, room) + describe_crowded_queries(order, sizes)
    return replace(found, room=room, drawn=drawn, warnings=warnings + found.warnings)


def describe_smaller_sample(size: int, drawn: int, room: Room) -> tuple[str, ...]:
    """Where fewer pairs are drawn than were asked for."""
    if drawn >= size:
        return ()
    return (f"{count_noun(drawn, 'pair')} drawn where {size:,} were asked for: {room.told}.",)


def describe_crowded_queries(order: str, sizes: Sequence[int]) -> tuple[str, ...]:
    """Where pairs of a query can't be kept GAP apart; `sizes` are how many pairs each query has."""
    most = max(sizes, default=0)
    if order != Study.Order.SPACED or (most - 1) * GAP + sizes.count(most) <= sum(sizes):
        return ()
    told = f"A rater of all {sum(sizes):,} pairs gets some pairs of one query less than {GAP} apart"
    return (f"{told}: there are queries with {most:,}. Draw fewer of each, or pairs of more queries.",)


def spare_of(shares: Iterable[Share]) -> Iterable[str]:
    """Where nobody is left to be asked one more time, or has no room."""
    for share in shares:
        if share.enrolled == share.raters_a_pair:
            yield (
                f"{share.word}: no rater is left for a pair on which {share.raters_a_pair} part: "
                "enrol one more, or splits go to Decisions at once."
            )
        elif 0 <= share.spare < share.more:
            yield (
                f"{share.word}: the raters have room for {share.spare:,} of about {share.more:,} ratings "
                "that splits will ask for: raise capacities, or the rest goes to Decisions at once."
            )


def expected_of(shares: Iterable[Share], one_more: Splitting) -> Iterable[str]:
    """What one more rater on a split is expected to add."""
    more = sum(share.more for share in shares)
    if more:
        yield (
            f"Where raters split one more is asked: about {count_noun(more, 'rating')} more, if a rater is "
            f"right in {one_more.accuracy:.0%} and unsure in {one_more.unsure:.0%} of pairs. Hours and "
            "cost count them."
        )


def outlook_of(study: Study) -> StudyOutlook:
    """The same for a stored study, from its rows."""
    rows = list(study.pairs.values_list("pair_id", "other_id", "planted"))
    sampled = {pair for pair, _, planted in rows if not planted}
    shown = owners_of_shown_pairs((pair, other) for pair, other, planted in rows if not planted)
    kept = study.sample if isinstance(study.sample, dict) else {}
    seconds = kept.get("seconds", {})
    loads = [
        Load(condition.kind, condition.raters, seconds.get(condition.kind, SECONDS[condition.kind]))
        for condition in study.conditions.all()
    ]
    enrolled = study.enrolments.select_related("user", "condition").filter(finished_at__isnull=True)
    raters = raters_of_plan([(rater.user, rater.condition.kind, rater.capacity) for rater in enrolled], shown)
    strata = [Stratum(*one) for one in kept.get("strata", [])]
    of_queries = study.pairs.filter(planted="").values("pair__query")
    queries = kept.get("queries") or of_queries.distinct().count()
    planted = sum(bool(planted) for *_, planted in rows)
    found = estimate_study_effort(
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
    sizes = of_queries.order_by().annotate(pairs=Count("pk")).values_list("pairs", flat=True)
    return warn_of_draw(found, room, kept["wish"]["size"], study.order, list(sizes))


def room_of(kept: Mapping[str, Any]) -> Room | None:
    """What a stored draw was from; None where it is not known. Without `room` all of it could be drawn."""
    if "wish" not in kept or "population" not in kept:
        return None
    population = kept["population"]
    room = kept.get("room", population)
    return Room(room, kept["wish"]["per_query"], population, kept["population_queries"])


def owners_of_shown_pairs(pairs: Iterable[tuple[int, int | None]]) -> dict[int, int]:
    """Each pair that is shown, with the pair of the sample that it is shown for: a comparison has two."""
    return {shown: pair for pair, other in pairs for shown in (pair, other) if shown is not None}


def raters_of_plan(people: Sequence[tuple[User, str, int]], shown: Mapping[int, int]) -> list[Rater]:
    """From each person's condition and capacity; `shown` as in `owners_of_shown_pairs`."""
    seen = seen_by([user.pk for user, *_ in people], shown)
    return [
        Rater(str(user), condition, capacity, seen.get(user.pk, frozenset()))
        for user, condition, capacity in people
    ]


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
    return {kind: measure_seconds_per_pair(kind) for kind in SECONDS}


def measure_seconds_per_pair(kind: str) -> tuple[float, int]:
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
