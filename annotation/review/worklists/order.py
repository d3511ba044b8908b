"""Which case comes next for a person in a build: by query, then by rank.

A pair comes once, by its first round; the page of its case leads to the other rounds.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from django.contrib.auth.models import User
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotation.builds.results.annotator_comparison import few_flips, find_flipped_labels, side_of
from annotation.builds.results.rounds import find_disagreeing_cases
from annotation.models import Basis, Build, Case, Review
from annotation.models.builds.cases import OPEN
from annotation.review.hidden_labels import hides_labels_from
from annotation.review.tags import Tag
from annotation.review.worklists.case_list import FilteredList, next_listed_case, previous_listed_case
from annotation.review.worklists.reviewed_cases import first_round, open_assignments, reviews_by, tagged_pairs
from annotation.stages import Stage
from annotation.studies.plan.seals import find_sealed_annotators, is_open
from retrieval.models import Annotator, BenchmarkLabel
from retrieval.models.prepared_query import PreparedQuery


class Show(StrEnum):
    """Which cases of a build a person goes through."""

    WAITING = "waiting"
    DISPUTED = "disputed"
    UNSETTLED = "unsettled"
    REVIEWED = "reviewed"
    UNSURE = "unsure"
    OVERRIDDEN = "overridden"
    ASSIGNED = "assigned"
    ALL = "all"


OF_ANY_LABEL: Final = frozenset({Show.REVIEWED, Show.UNSURE, Show.OVERRIDDEN, Show.ALL})
"""Lists that a case does not leave once its person has labelled it."""


@dataclass(frozen=True, slots=True)
class Flipped:
    """The cases that another build, `against`, labelled otherwise, and the person has not labelled."""

    against: int

    def __str__(self) -> str:
        return f"flipped-{self.against}"


@dataclass(frozen=True, slots=True)
class Apart:
    """The cases whose pair two annotators labelled otherwise, and that the person has not labelled.

    Each annotator is its id and the number of its round, `annotator_comparison.LAST` for each pair's last.
    Whoever is kept blind must be refused before: labels tell of a study's pairs.
    """

    first: tuple[int, int]
    second: tuple[int, int]

    def __str__(self) -> str:
        return f"apart-{self.first[0]}.{self.first[1]}-{self.second[0]}.{self.second[1]}"


@dataclass(frozen=True, slots=True)
class Disputed:
    """The cases of given pairs whose label is not the one that the pair came with, and that the person has
    not labelled. Whoever is kept blind must be refused before: labels tell of a study's pairs; those of a
    sealed study, on which the build is not scored, are left out.
    """

    def __str__(self) -> str:
        return "disputed"


@dataclass(frozen=True, slots=True)
class Parted:
    """The cases of which two rounds said different things, and that the person has not labelled."""

    def __str__(self) -> str:
        return "parted"


@dataclass(frozen=True, slots=True)
class Tagged:
    """The cases whose pair carries a tag of anybody's label that stands."""

    tag: Tag

    def __str__(self) -> str:
        return f"tagged-{self.tag}"


Worklist: TypeAlias = Show | Flipped | Apart | Disputed | Parted | Tagged | FilteredList
"""What a person goes through; as text it is what addresses carry."""


@dataclass(frozen=True)
class Progress:
    """How far a person is: labels given in the build, pairs of the build, and what waits of one query."""

    reviewed: int
    total: int
    left_of_query: int


def tells_of_agents(build: Build, show: Worklist) -> bool:
    """Whether a list's order, or what it leaves out, tells what agents or others said of pairs.

    Plain lists tell of a case at most that it is settled. Of those that wait the disputed ones come first, so
    that the order tells of every pair whether reader and arbiter differ.
    """
    if show is Show.WAITING:
        return build.tally.disputed > 0
    if isinstance(show, FilteredList):
        return show.filters.tells
    return show not in {Show.REVIEWED, Show.UNSURE, Show.ASSIGNED, Show.ALL}


def cases_of_worklist(user: User, build: Build, show: Worklist) -> QuerySet[Case]:
    """The cases that `show` names, by query and rank.

    Where others' labels are hidden, lists by them have only what the person has labelled.
    """
    match show:
        case Show.REVIEWED:
            cases = first_round(build).filter(Exists(reviews_by(user)))
        case Show.UNSURE:
            cases = first_round(build).filter(Exists(reviews_by(user).filter(label=None)))
        case Show.OVERRIDDEN:
            cases = first_round(build).filter(contradicted=True)
        case Tagged(tag=tag):
            cases = first_round(build).filter(pair__in=tagged_pairs(tag))
        case Show.ALL:
            cases = first_round(build)
        case _:
            cases = cases_to_label(user, build, show).filter(~Exists(reviews_by(user)))
    if (show is Show.OVERRIDDEN or isinstance(show, Tagged)) and hides_labels_from(user, build):
        cases = cases.filter(Exists(reviews_by(user)))
    return cases.order_by("query_id", "rank", "id")


def cases_to_label(user: User, build: Build, show: Worklist) -> QuerySet[Case]:
    """What a list of cases without one's own label is chosen from, those with one included."""
    cases = first_round(build)
    match show:
        case Show.UNSETTLED:
            return cases.filter(stage__in=[*OPEN, Stage.ABANDONED])
        case Show.DISPUTED:
            return cases.filter(basis=Basis.DISPUTED)
        case Show.ASSIGNED:
            return cases.filter(Exists(open_assignments(user)))
        case Flipped(against=other):
            return filter_flipped_cases(cases, other)
        case Apart():
            return filter_disagreeing_cases(cases, show)
        case Disputed():
            return filter_disputed_cases(cases, build)
        case Parted():
            return find_disagreeing_cases(build)
    return cases.filter(stage=Stage.SETTLED)


def filter_flipped_cases(cases: QuerySet[Case], against: int) -> QuerySet[Case]:
    """Of `cases` those whose pair the build `against` settled with the other label."""
    others = Case.objects.filter(build=against, pair=OuterRef("pair"), round=1, label__isnull=False)
    return cases.filter(Exists(others.exclude(label=OuterRef("label"))), label__isnull=False)


def filter_disagreeing_cases(cases: QuerySet[Case], wanted: Apart) -> QuerySet[Case]:
    """Of `cases` those whose pair the two annotators labelled otherwise; none where one of them is gone."""
    known = Annotator.objects.in_bulk([wanted.first[0], wanted.second[0]])
    sides = [side_of(known[pk], number) for pk, number in (wanted.first, wanted.second) if pk in known]
    if len(sides) < 2:
        return cases.none()
    few = few_flips(*sides)
    if few is not None:
        return cases.filter(pair__in=few)
    return cases.filter(pair__in=find_flipped_labels(*sides).values("pair"))


def filter_disputed_cases(cases: QuerySet[Case], build: Build) -> QuerySet[Case]:
    """Of `cases` those that the build of given pairs settled with another label than they came with."""
    given = build.pair_list
    if given is None or given.benchmark_id is None:
        return cases.none()
    labels = BenchmarkLabel.objects.filter(benchmark=given.benchmark_id)
    closed = [truth.pk for truth in find_sealed_annotators() if not is_open(truth, build.annotator)]
    said = labels.filter(pair=OuterRef("pair")).exclude(label__annotator__in=closed)
    return cases.filter(
        Q(Exists(said.filter(relevance__gt=0)), label=0) | Q(Exists(said.filter(relevance__lte=0)), label=1)
    )


def next_case(user: User, build: Build, show: Worklist, after: Case | None = None) -> Case | None:
    """The first case behind `after`; at the end it goes on from the beginning. None: nothing is left.

    Of those that wait, the ones come first on which reader and arbiter differ: there a person changes most.
    """
    if isinstance(show, FilteredList):
        return next_listed_case(user, build, show.filters, after)
    are_disputed = show is Show.WAITING and build.tally.disputed
    if are_disputed and (disputed := next_case(user, build, Show.DISPUTED, after)):
        return disputed
    cases = cases_of_worklist(user, build, show)
    if after is None:
        return cases.first()
    others = cases.exclude(pk=after.pk)
    if show is Show.WAITING:
        found = NEXT_WAITING.first(user.pk, build.pk, after.pk, after.query_id, after.rank)
    else:
        found = others.filter(filter_after_case(after)).first()
    return found or others.first()


def compose_next_waiting(user: int, build: int, after: int, query: int, rank: int) -> QuerySet[Case]:
    """What `next_case` asks of those that wait, by ids."""
    cases = cases_of_worklist(User(pk=user), Build(pk=build), Show.WAITING)
    behind = filter_after_case(Case(pk=after, query_id=query, rank=rank))
    return cases.exclude(pk=after).filter(behind)[:1]


NEXT_WAITING: PreparedQuery[Case] = PreparedQuery(compose_next_waiting, int, int, int, int, int)


def previous_case(user: User, build: Build, show: Worklist, before: Case) -> Case | None:
    """The case ahead of `before`, None at the beginning.

    While the waiting or flipped ones are gone through, those already reviewed count too: going back means
    to see what was just labelled.
    """
    if isinstance(show, FilteredList):
        return previous_listed_case(user, build, show.filters, before)
    seen_again = not isinstance(show, Tagged) and show not in OF_ANY_LABEL
    cases = cases_to_label(user, build, show) if seen_again else cases_of_worklist(user, build, show)
    return cases.filter(filter_before_case(before)).order_by("-query_id", "-rank", "-id").first()


def filter_after_case(case: Case) -> Q:
    """After `case` by (query, rank, id)."""
    later = Q(rank__gt=case.rank) | Q(rank=case.rank, pk__gt=case.pk)
    return Q(query__gte=case.query_id) & (Q(query__gt=case.query_id) | later)


def filter_before_case(case: Case) -> Q:
    """Before `case` by (query, rank, id)."""
    earlier = Q(rank__lt=case.rank) | Q(rank=case.rank, pk__lt=case.pk)
    return Q(query__lte=case.query_id) & (Q(query__lt=case.query_id) | earlier)


def count_review_progress(user: User, build: Build, query_id: int) -> Progress:
    """Counts from the person's own reviews and one query's cases, never from all cases. Two queries."""
    mine = Review.objects.current().filter(rater=user, pair__cases__build=build)
    left = first_round(build).filter(~Exists(reviews_by(user)), query=query_id)
    total = build.pair_count
    return Progress(mine.values("pair").distinct().count(), total, left.count())


def count_pairs_by_state(build: Build) -> dict[str, int]:
    """How many pairs are settled, open and abandoned; of several rounds the first is counted."""
    tally = build.tally
    if build.rounds == 1:
        return {"settled": tally.settled, "open": tally.open, "abandoned": tally.abandoned}
    return first_round(build).aggregate(
        settled=Count("pk", filter=Q(stage=Stage.SETTLED)),
        open=Count("pk", filter=Q(stage__in=OPEN)),
        abandoned=Count("pk", filter=Q(stage=Stage.ABANDONED)),
    )


def count_assigned(user: User, builds: QuerySet[Build]) -> list[tuple[int, str, int]]:
    """(build, its name, how many pairs wait) where pairs are assigned to the person. One query."""
    mine = Case.objects.filter(assignments__expert=user, assignments__removed=None, build__in=builds)
    waiting = mine.filter(~Exists(reviews_by(user))).order_by("build__name")
    return list(waiting.values_list("build", "build__name").annotate(number=Count("pk")))


def reviewed_counts(user: User, builds: QuerySet[Build]) -> dict[int, int]:
    """How many pairs of each build the person has labelled. One query."""
    mine = Review.objects.current().filter(rater=user, pair__cases__build__in=builds)
    pairs = mine.values_list(F("pair__cases__build"), "pair").distinct()
    return Counter(build for build, _ in pairs)
