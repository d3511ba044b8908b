"""The label in force is kept with each case, and counted in its build's totals.

It changes in the transaction that changes what people say: a review, a published study, an accepted function,
another rule of the build. Locks are taken in one order: builds, cases, totals. Whoever changes a rule holds
the build, so no review of that moment is counted by the old rule.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Final, TypeVar

from django.db import connection, transaction
from django.db.models import Count, F, Q

from annotation.models.builds.build import Build, Tally
from annotation.models.builds.cases import Case
from annotation.models.builds.label_in_force import (
    PEOPLE,
    count_label_in_force,
    find_label_in_force,
    load_people_statements,
)
from retrieval.models import Annotator, Label

Row = TypeVar("Row")
ROWS_AT_ONCE: Final = 500
VALUES: Final = (None, 0, 1)


@contextmanager
def track_people(pairs: Collection[int]) -> Iterator[None]:
    """Within a transaction: in the block, what people say of the pairs may change."""
    hold_cases(pairs)
    yield
    refresh_labels_in_force(pairs)


def hold_cases(pairs: Collection[int]) -> None:
    """Keep verdicts and rules of the pairs' builds from changing meanwhile."""
    if not connection.features.has_select_for_update:  # then the transaction holds the whole database
        return
    builds = Build.objects.filter(cases__pair__in=pairs).order_by().values("pk")
    list(
        Build.objects.select_for_update(no_key=True)
        .filter(pk__in=builds)
        .order_by("pk")
        .values_list("pk", flat=True)
    )
    cases = Case.objects.select_for_update(no_key=True).filter(pair__in=pairs)
    list(cases.order_by("pk").values_list("pk", flat=True))


def refresh_labels_in_force(pairs: Iterable[int], build: int | None = None) -> int:
    """Put right what is kept with the pairs' cases, of all builds or one, and in the totals.

    Returns how many labels in force have changed. In a transaction.
    """
    changed, totals = 0, defaultdict[int, Counter[str]](Counter)
    for some in chunk_rows(pairs):
        changed += refresh_some(some, build, totals)
    for key in sorted(totals):
        Tally(pk=key).change(**totals[key])
    return changed


def chunk_rows(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows, a few hundred at a time."""
    rest = iter(rows)
    while some := list(islice(rest, ROWS_AT_ONCE)):
        yield some


def refresh_some(pairs: Collection[int], build: int | None, totals: dict[int, Counter[str]]) -> int:
    """The same of a few hundred pairs; what changes in a build's totals is added to `totals`."""
    people = load_people_statements(pairs)
    cases = Case.objects.filter(pair__in=pairs).order_by("pk")
    if build is not None:
        cases = cases.filter(build=build)
    columns = "pk", "build_id", "build__reviews_needed", "pair_id", "label", "label_in_force"
    wrong: dict[int | None, list[int]] = {value: [] for value in VALUES}
    for key, of, needed, pair, label, kept in cases.values_list(*columns):
        found = find_label_in_force(label, people.get(pair, ()), needed).label
        if found != kept:
            wrong[found].append(key)
            totals[of].update(count_label_in_force(kept, found))
    for value, keys in wrong.items():
        if keys:
            Case.objects.filter(pk__in=keys).update(label_in_force=value)
    return sum(map(len, wrong.values()))


def refresh_new_cases(build: int) -> None:
    """In the transaction that adds cases to a build: what people said of their pairs before."""
    refresh_labels_in_force(list_labelled_pairs(build), build)
    if connection.features.has_select_for_update:
        transaction.on_commit(partial(refresh_after_reviews, build), robust=True)


def refresh_after_reviews(build: int) -> None:
    """Put right what reviews under way said: neither they nor the new cases could see the other.

    A review locks the builds of its pair until it is stored. So once every build could be locked here, all
    those reviews are stored, and later ones see the new cases.
    """
    with transaction.atomic():
        list(Build.objects.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))
    for some in chunk_rows(list_labelled_pairs(build)):
        with transaction.atomic():
            hold_cases(some)
            refresh_labels_in_force(some, build)


def list_labelled_pairs(build: int) -> list[int]:
    """The build's pairs that any person or study labelled. People label few pairs, so theirs come first."""
    people = Annotator.objects.filter(kind__in=PEOPLE).values_list("pk", flat=True)
    labelled = Label.objects.filter(annotator__in=list(people)).order_by("pair_id")
    pairs = labelled.values_list("pair_id", flat=True).distinct()
    found: list[int] = []
    for some in chunk_rows(pairs.iterator()):
        own = Case.objects.filter(build=build, pair__in=some).order_by("pair_id")
        found += own.values_list("pair_id", flat=True).distinct()
    return found


def recount_labels_in_force() -> None:
    """Work out all of it from what is stored, for cases that were written without it.

    A migration calls it, so it reads and writes only the columns that it names.
    """
    Case.objects.exclude(label=None).filter(label_in_force=None).update(label_in_force=F("label"))
    for build in Build.objects.order_by("pk").values_list("pk", flat=True):
        for some in chunk_rows(list_labelled_pairs(build)):
            refresh_some(some, build, defaultdict(Counter))
        found = Case.objects.filter(build=build).aggregate(
            matches_in_force=Count("pk", filter=Q(label_in_force=1)),
            no_matches_in_force=Count("pk", filter=Q(label_in_force=0)),
        )
        Tally.objects.filter(pk=build).update(**found)
