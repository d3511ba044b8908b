"""The list of a build's pairs for reviewers: filters, lists with names, orders, and a way through it.

Each condition is written here once. The page shows the pairs that pass, and the review page walks the same
ones: its address carries the filters.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256
from heapq import nsmallest
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db.models import Case as Choice
from django.db.models import Exists, F, IntegerField, Q, QuerySet, Value, When

from annotation.builds.results.rounds import find_disagreeing_cases
from annotation.models import Basis, Build, Case, Review, TestProgram, Trial
from annotation.review.hidden_labels import hides_labels_from
from annotation.review.own_runs.strength import load_test_strengths
from annotation.review.tags import Tag
from annotation.review.worklists.code_search import find_code
from annotation.review.worklists.keyset import build_keyset_condition
from annotation.review.worklists.reviewed_cases import first_round, open_assignments, reviews_by, tagged_pairs
from retrieval.models import QueryText
from sandbox.reports.report import Outcome

MOST_SAMPLED: Final = 1_000
SAMPLED: Final = 50
"""Pairs of a random sample, where the address says no number."""
NO_TEST: Final = "none"
FEW_LINES: Final = 1
"""So many lines of a test with an assertion that touches the function are few."""


class SmartList(StrEnum):
    """A list with a name."""

    UNTESTED = "untested"
    FAILED_MATCH = "failed_match"
    PASSED_NO_MATCH = "passed_no_match"
    AGENTS_DISAGREE = "agents_disagree"
    EXPERTS_DISAGREE = "experts_disagree"
    WEAK_EVIDENCE = "weak_evidence"
    FEW_TOUCHING = "few_touching"
    MISSES_BUGS = "misses_bugs"
    SAMPLE = "sample"


class Sort(StrEnum):
    """An order of the list."""

    QUERY = "query"
    INFORMATION = "information"
    RANK = "rank"
    SCORE = "score"
    CHANGED = "changed"


ORDERS: Final[Mapping[Sort, tuple[str, ...]]] = {
    Sort.QUERY: ("query_id", "rank", "pk"),
    Sort.INFORMATION: ("tier", "query_id", "rank", "pk"),
    Sort.RANK: ("rank", "pk"),
    Sort.SCORE: ("-score", "-pk"),
    Sort.CHANGED: ("-updated_at", "-pk"),
}
NEUTRAL: Final = frozenset({"q", "mine", "assigned", "seed", "size", "sort"})
"""Filters that nothing which agents or others said decides on, where the order does not either."""


@dataclass(frozen=True, slots=True)
class ListFilters:
    """Which pairs are wanted; empty means all. `seed` and `size` are those of the random sample."""

    q: str = ""
    smart: str = ""
    label: str = ""
    basis: str = ""
    outcome: str = ""
    mine: str = ""
    tag: str = ""
    assigned: str = ""
    seed: int = 0
    size: int = SAMPLED
    sort: Sort = Sort.QUERY

    @property
    def is_sample(self) -> bool:
        return self.smart == SmartList.SAMPLE

    @property
    def narrows(self) -> bool:
        """Whether any filter is set, the order aside."""
        return any(getattr(self, known.name) for known in fields(self) if known.name not in OF_SAMPLE)

    @property
    def tells(self) -> bool:
        """Whether the pairs in the list, or their order, give away what agents or others said."""
        told = (getattr(self, known.name) for known in fields(self) if known.name not in NEUTRAL)
        chosen = [value for value in told if value and value != SmartList.SAMPLE]
        return bool(chosen) or self.sort in {Sort.INFORMATION, Sort.CHANGED}

    @property
    def query(self) -> str:
        """The filters as an address has them, without those that are as usual."""
        usual = ListFilters()
        names = [known.name for known in fields(self) if known.name not in {"seed", "size"}]
        chosen = {name: getattr(self, name) for name in names}
        found = {name: str(value) for name, value in chosen.items() if value != getattr(usual, name)}
        return urlencode(found | ({"seed": self.seed, "size": self.size} if self.is_sample else {}))


OF_SAMPLE: Final = frozenset({"seed", "size", "sort"})


@dataclass(frozen=True, slots=True)
class FilteredList:
    """The pairs of the list that the person has not labelled, or those that `mine` asks for.

    As text it has no character that an address would have to escape.
    """

    filters: ListFilters

    def __str__(self) -> str:
        return f"list-{urlsafe_b64encode(self.filters.query.encode()).decode().rstrip('=')}"


def smart_condition(smart: SmartList, build: Build, filters: ListFilters) -> Q:
    """The one place where each list with a name is defined."""
    match smart:
        case SmartList.UNTESTED:
            return Q(label__isnull=False, program__isnull=True)
        case SmartList.FAILED_MATCH:
            return Q(label=1, execution__outcome=Outcome.FAILED.value)
        case SmartList.PASSED_NO_MATCH:
            return Q(label=0, execution__outcome=Outcome.PASSED.value)
        case SmartList.AGENTS_DISAGREE:
            disputed = Q(basis=Basis.DISPUTED)
            if build.rounds == 1:
                return disputed
            return disputed | Q(pk__in=find_disagreeing_cases(build).order_by().values("pk"))
        case SmartList.EXPERTS_DISAGREE:
            said = Review.objects.current().order_by()
            return Q(pair__in=said.filter(label=1).values("pair")) & Q(
                pair__in=said.filter(label=0).values("pair")
            )
        case SmartList.WEAK_EVIDENCE:
            return Q(label__isnull=False, program__isnull=False) & (
                Q(execution__isnull=True)
                | Q(execution__touched=False)
                | ~Q(execution__outcome__in=[Outcome.PASSED.value, Outcome.FAILED.value])
                | Q(neighbour_run__outcome=Outcome.PASSED.value)
                | Q(reference_run__outcome=Outcome.FAILED.value)
            )
        case SmartList.FEW_TOUCHING:
            return Q(label__isnull=False, execution__touching_lines__lte=FEW_LINES)
        case SmartList.MISSES_BUGS:
            return Q(label__isnull=False, program__in=find_weak_programs(build))
        case SmartList.SAMPLE:
            return Q(pk__in=draw_sample(build, filters.seed, filters.size))


def find_weak_programs(build: Build) -> list[int]:
    """The tests (ids) of the build that missed at least half of the bugs that were planted for them.

    Of all tests of which anybody asked the strength: people ask for one at a time. Two queries.
    """
    asked = Trial.objects.filter(program__cases__build=build, mutant__isnull=False).order_by()
    programs = TestProgram.objects.filter(pk__in=asked.values("program"))
    known = load_test_strengths(programs)
    return [pk for pk, found in known.items() if found.tried and 2 * found.caught <= found.tried]


def tiers_of(user: User, build: Build) -> list[Q]:
    """The groups of the order by expected information, the first one first; what is in none comes last."""
    filters = ListFilters()
    alone = Q(contradicted=True, label_in_force=F("label"))
    if hides_labels_from(user, build):
        alone &= Q(Exists(reviews_by(user)))
    return [
        alone,
        smart_condition(SmartList.AGENTS_DISAGREE, build, filters),
        smart_condition(SmartList.FAILED_MATCH, build, filters)
        | smart_condition(SmartList.PASSED_NO_MATCH, build, filters),
        smart_condition(SmartList.WEAK_EVIDENCE, build, filters),
        smart_condition(SmartList.MISSES_BUGS, build, filters),
        smart_condition(SmartList.UNTESTED, build, filters),
        smart_condition(SmartList.FEW_TOUCHING, build, filters),
        Q(label__isnull=False),
    ]


def with_order(rows: QuerySet[Case], user: User, build: Build, sort: Sort) -> QuerySet[Case]:
    """The rows with what the order needs besides their columns."""
    if sort is not Sort.INFORMATION:
        return rows
    groups = tiers_of(user, build)
    whens = [When(group, then=Value(place)) for place, group in enumerate(groups)]
    return rows.annotate(tier=Choice(*whens, default=Value(len(groups)), output_field=IntegerField()))


def draw_sample(build: Build, seed: int, size: int) -> list[int]:
    """The cases (ids) of a random sample of the pairs with a verdict: the same ones for the same seed.

    Each pair has its own place by a hash, so that pairs that join later change little.
    """
    return list(sample_cases(build.pk, build.tally.settled, seed, size))


@lru_cache(maxsize=16)
def sample_cases(build: int, settled: int, seed: int, size: int) -> tuple[int, ...]:
    """The same, kept as long as no further pair has a verdict."""
    rows = Case.objects.filter(build=build, round=1, label__isnull=False).order_by()
    keys = rows.values_list("pk", "pair_id").iterator()
    drawn = nsmallest(size, ((sha256(f"{seed}:{pair}".encode()).digest(), pk) for pk, pair in keys))
    return tuple(pk for _, pk in drawn)


def filter_listed_cases(user: User, build: Build, filters: ListFilters) -> QuerySet[Case]:
    """The pairs' cases that pass the filters, in no order; of several rounds the first.

    Where others' labels are hidden, filters by them find only pairs that the person has labelled.
    """
    rows = with_order(first_round(build), user, build, filters.sort)
    if filters.smart:
        rows = rows.filter(smart_condition(SmartList(filters.smart), build, filters))
    if filters.q:
        rows = rows.filter(build_search_condition(build, filters.q))
    if filters.label:
        rows = rows.filter(Q(label__isnull=True) if filters.label == "none" else Q(label=int(filters.label)))
    if filters.basis:
        rows = rows.filter(basis=filters.basis)
    if filters.outcome:
        no_test = filters.outcome == NO_TEST
        rows = rows.filter(Q(execution__isnull=True) if no_test else Q(execution__outcome=filters.outcome))
    if filters.tag:
        rows = rows.filter(pair__in=tagged_pairs(Tag(filters.tag)))
    if filters.assigned:
        rows = rows.filter(build_assignment_condition(user, filters.assigned))
    if filters.mine:
        rows = rows.filter(build_own_label_condition(user, filters.mine))
    if (filters.tag or filters.smart == SmartList.EXPERTS_DISAGREE) and hides_labels_from(user, build):
        rows = rows.filter(Exists(reviews_by(user)))
    return rows


def build_search_condition(build: Build, part: str) -> Q:
    """Pairs whose query, or whose function, contains the text."""
    queries = QueryText.objects.containing(part).values("text")
    return Q(query__in=queries) | Q(pair__snippet__in=find_code(build.snippets, part).texts)


def build_assignment_condition(user: User, assigned: str) -> Q:
    """`me`, `others` (to somebody, and not to me) or `none`."""
    if assigned == "me":
        return Q(Exists(open_assignments(user)))
    anybody = Q(Exists(open_assignments()))
    return anybody & ~Q(Exists(open_assignments(user))) if assigned == "others" else ~anybody


def build_own_label_condition(user: User, mine: str) -> Q:
    """`none`, `any`, `1`, `0` or `unsure`."""
    own = reviews_by(user)
    if mine == "none":
        return ~Q(Exists(own))
    if mine == "any":
        return Q(Exists(own))
    return Q(Exists(own.filter(label=None if mine == "unsure" else int(mine))))


def cases_to_walk(user: User, build: Build, filters: ListFilters, *, again: bool = False) -> QuerySet[Case]:
    """What the review page goes through: without a filter by one's own label the unlabelled pairs.

    `again`: those that were labelled meanwhile, too.
    """
    rows = filter_listed_cases(user, build, filters)
    if not filters.mine and not again:
        rows = rows.filter(~Exists(reviews_by(user)))
    return rows.order_by(*ORDERS[filters.sort])


def next_listed_case(user: User, build: Build, filters: ListFilters, after: Case | None) -> Case | None:
    """The case behind `after`; at the end it goes on from the beginning. None: nothing is left."""
    rows = cases_to_walk(user, build, filters)
    if after is None:
        return rows.first()
    others = rows.exclude(pk=after.pk)
    values = load_order_values(user, build, filters, after)
    beyond = build_keyset_condition(ORDERS[filters.sort], values, forward=True)
    return others.filter(beyond).first() or others.first()


def previous_listed_case(user: User, build: Build, filters: ListFilters, before: Case) -> Case | None:
    """The case ahead of `before`, also one that was just labelled; None at the beginning."""
    rows = cases_to_walk(user, build, filters, again=True)
    values = load_order_values(user, build, filters, before)
    ahead = build_keyset_condition(ORDERS[filters.sort], values, forward=False)
    return rows.filter(ahead).reverse().first()


def load_order_values(user: User, build: Build, filters: ListFilters, case: Case) -> dict[str, Any]:
    """The case's values of what the list is ordered by, also where it has left the list."""
    rows = with_order(Case.objects.filter(pk=case.pk), user, build, filters.sort)
    names = [name.lstrip("-") for name in ORDERS[filters.sort]]
    found: dict[str, Any] = rows.values(*names).get()
    return found
