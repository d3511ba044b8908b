"""The page on which a collection of what passes filters is made of another one."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import IntegrityError, transaction
from django.urls import reverse

from annotation.pages import jobs
from retrieval import deriving, filtering
from retrieval.counting import counted
from retrieval.deriving import (
    CODESEARCHNET,
    DISTINCT,
    PYTHON,
    QUERY_FILTERS,
    REDISTRIBUTABLE,
    SNIPPET_FILTERS,
)
from retrieval.filters.licences import Standing
from retrieval.filters.queries import NAMES, QueryRule
from retrieval.models import Collection, FilterJob

KEPT_SECONDS: Final = 3600
SAMPLED: Final = 500
"""Snippets that the page shows to the parsers of two filters; the variants' flags are counted for all."""
MOST_WAITING: Final = 10
EXAMPLES: Final = 3
WORDS: Final = {
    "testable": "testable: an input, and a return with a value",
    "testable_with_self": "testable, where self counts as input",
    "testable_with_bare_return": "testable, where a bare return counts as a value",
    "testable_with_yield": "testable, where a yield counts as a value",
    "testable_in_any_sense": "testable, where all of these count",
    "testable_without_output": "testable, where an input is enough",
    REDISTRIBUTABLE: "a stated licence that is known to allow passing on",
    PYTHON: "Python that can stand alone",
    CODESEARCHNET: "CodeSearchNet\u2019s rules for documented functions",
    DISTINCT: "one of each group of exact and near duplicates",
}
QUERY_WORDS: Final = {
    "english": "English",
    "no_identifier": "more than a bare identifier",
    DISTINCT: "not nearly the same as an earlier one",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """A filter, and what it refuses by itself of so many that were `looked_at`; None: not counted here."""

    name: str
    words: str
    refused: int | None
    looked_at: int
    steps: tuple[tuple[str, int, tuple[str, ...]], ...]


def choices_of(collection: Collection) -> tuple[Choice, ...]:
    """Every filter of the collection's kind with its counts, kept for an hour.

    Of snippets as a worker counted them, if it did; else what can be counted while a page waits.
    """
    order = counted_of(collection)
    key = f"filters:{collection.pk}.{collection.created_at:%s%f}.{collection.size}.{order and order.pk}"
    found: tuple[Choice, ...] | None = cache.get(key)
    if found is None:
        is_queries = collection.kind == Collection.Kind.QUERIES
        whole = order.counts if order else None
        found = _queries(collection) if is_queries else _snippets(collection, whole)
        cache.set(key, found, KEPT_SECONDS)
    return found


def counted_of(collection: Collection) -> FilterJob | None:
    """The order by which all that it has now was counted."""
    done = collection.filter_jobs.filter(filters=[], state=FilterJob.State.DONE).first()
    return done if done and done.counts and done.counts["snippets"] == collection.size else None


def order_counts(collection: Collection, user: User) -> None:
    """Have a worker count every filter over all snippets, unless that is ordered already."""
    order = {"source": collection, "name": "", "filters": [], "created_by": user}
    with suppress(IntegrityError), transaction.atomic():
        FilterJob.objects.create(**order)


def may_count(collection: Collection) -> bool:
    """Whether the page shows less than a worker can count, and none is at it."""
    waits = collection.filter_jobs.filter(filters=[], state__in=FilterJob.OPEN)
    return (
        collection.kind == Collection.Kind.SNIPPETS
        and collection.size > 0
        and counted_of(collection) is None
        and not waits.exists()
    )


def _snippets(collection: Collection, whole: Mapping[str, Any] | None) -> tuple[Choice, ...]:
    looked_at = collection.size if whole else min(SAMPLED, collection.size)
    sample = whole or filtering.sample_of_snippets(collection, looked_at)
    passing = filtering.variants(collection)
    made = list[Choice]()
    for name in SNIPPET_FILTERS:
        spoken = name.replace("_", " ")
        if spoken in passing:
            steps = sample["not testable"] if name == "testable" else {spoken: sample["testable"][spoken]}
            refused = collection.size - passing[spoken]
            made.append(Choice(name, WORDS[name], refused, collection.size, _steps(steps)))
        elif name == REDISTRIBUTABLE:
            refused = collection.size - filtering.standings(collection.members.all())[Standing.ALLOWED]
            made.append(Choice(name, WORDS[name], refused, collection.size, _steps(sample[name]["steps"])))
        elif name == DISTINCT:
            made.append(_distinct(collection, whole))
        else:
            refused = looked_at - sample[name]["kept"]
            made.append(Choice(name, WORDS[name], refused, looked_at, _steps(sample[name]["steps"])))
    return tuple(made)


def _distinct(collection: Collection, whole: Mapping[str, Any] | None) -> Choice:
    """Duplicates, which nobody can tell of a sample."""
    if whole is None:
        return Choice(DISTINCT, WORDS[DISTINCT], None, collection.size, ())
    same = whole["duplicates"]
    said = f"in {counted(same['groups'], 'group')}, of which the largest"
    step = (said, same["refused"], tuple(" = ".join(group) for group in same["examples"]))
    steps = (step,) if same["groups"] else ()
    return Choice(DISTINCT, WORDS[DISTINCT], same["refused"], collection.size, steps)


def _queries(collection: Collection) -> tuple[Choice, ...]:
    found = filtering.of_queries(collection)
    made = list[Choice]()
    for name in QUERY_FILTERS:
        step = found["steps"][NAMES[QueryRule[name.upper()]]]
        one = ((NAMES[QueryRule[name.upper()]], step["refused"], tuple(step["examples"])),)
        made.append(Choice(name, QUERY_WORDS[name], step["refused"], found["queries"], one))
    return tuple(made)


def _steps(found: Mapping[str, Any]) -> tuple[tuple[str, int, tuple[str, ...]], ...]:
    return tuple((name, one["refused"], tuple(one["examples"][:EXAMPLES])) for name, one in found.items())


class FilterForm(forms.Form):
    """Which filters, and what the new collection is called."""

    filters = forms.MultipleChoiceField(
        label="Filters", error_messages={"required": "Choose at least one filter."}
    )
    name = forms.CharField(
        max_length=120,
        label="Name of the new collection",
        help_text="The same filters again complete or find it; others make its next version.",
    )

    def __init__(self, collection: Collection, data: Any = None) -> None:
        super().__init__(data)
        self.collection = collection
        names = QUERY_FILTERS if collection.kind == Collection.Kind.QUERIES else SNIPPET_FILTERS
        self.fields["filters"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        try:
            deriving.refuse_bad(name, self.collection)
        except deriving.NotMade as why:
            raise forms.ValidationError(str(why)) from why
        return name

    def job(self, user: User) -> FilterJob | None:
        """The order of a valid form, or the same one; None, with an error, where none can be given."""
        values, of_this = self.cleaned_data, self.collection.filter_jobs.filter(state__in=FilterJob.OPEN)
        if same := of_this.filter(name=values["name"], filters=values["filters"]).first():
            return same
        if of_this.count() >= MOST_WAITING:
            self.add_error(
                None, f"{MOST_WAITING} orders of this collection wait already: let them end first."
            )
            return None
        try:
            with transaction.atomic():
                return FilterJob.objects.create(source=self.collection, created_by=user, **values)
        except IntegrityError:
            self.add_error("name", "It is being made now with other filters: wait, or choose another name.")
            return None


def jobs_of(collection: Collection) -> jobs.Table:
    """The newest orders of filtered collections of this one."""
    rows = collection.filter_jobs.select_related("created_by", "made")[: jobs.SHOWN]
    address = reverse("collection-filter-jobs", args=[collection.pk])
    return jobs.Table("Filtered collections", "Collection", address, [jobs.derived(job) for job in rows])
