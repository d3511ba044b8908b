"""The page on which a collection of what passes filters is made of another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from django import forms
from django.contrib.auth.models import User
from django.core.cache import cache
from django.urls import reverse

from annotation.web.shared import jobs
from annotation.web.shared.forms import set_choices
from retrieval.collections import derivation, filter_steps
from retrieval.collections.derivation import (
    CODESEARCHNET,
    DISTINCT,
    PYTHON,
    QUERY_FILTERS,
    REDISTRIBUTABLE,
    SNIPPET_FILTERS,
)
from retrieval.collections.filter_job import FilterOrder
from retrieval.filters.queries import NAMES, QueryRule
from retrieval.jobs import find_open_job, submit_job
from retrieval.licences import LicenseStanding
from retrieval.models import Collection, Job
from retrieval.models.jobs import JobQuerySet
from retrieval.texts.plurals import count_noun

KEPT_SECONDS: Final = 3600
SAMPLED: Final = 500
"""Snippets that the page shows to the parsers of two filters; the variants' flags are counted for all."""
MOST_WAITING: Final = 10
EXAMPLES: Final = 3
WORDS: Final = {
    "testable": "testable: an input, and a return with a value",
    "testable_with_self": "testable; self counts as an input",
    "testable_with_bare_return": "testable; a bare return counts as a value",
    "testable_with_yield": "testable; a yield counts as a value",
    "testable_in_any_sense": "testable; all of these count",
    "testable_without_output": "testable; an input is enough",
    "testable_by_call": "testable; self and yield count where a test can call it",
    REDISTRIBUTABLE: "a licence that is known to allow sharing",
    PYTHON: "Python that works on its own",
    CODESEARCHNET: "CodeSearchNet\u2019s rules for documented functions",
    DISTINCT: "one of each group of exact and near duplicates",
}
QUERY_WORDS: Final = {
    "english": "English",
    "no_identifier": "more than a bare identifier",
    DISTINCT: "not nearly the same as an earlier one",
}


@dataclass(frozen=True, slots=True)
class FilterChoice:
    """A filter, and what it refuses by itself of so many that were `looked_at`; None: not counted here."""

    name: str
    words: str
    refused: int | None
    looked_at: int
    steps: tuple[tuple[str, int, tuple[str, ...]], ...]


def choices_of(collection: Collection) -> tuple[FilterChoice, ...]:
    """Every filter of the collection's kind with its counts, kept for an hour.

    Of snippets as a worker counted them, if it did; else what can be counted while a page waits.
    """
    order = counted_of(collection)
    key = f"filters:{collection.pk}.{collection.created_at:%s%f}.{collection.size}.{order and order.pk}"

    def count() -> tuple[FilterChoice, ...]:
        if collection.kind == Collection.Kind.QUERIES:
            return _queries(collection)
        return _snippets(collection, order.result["counts"] if order else None)

    return cast("tuple[FilterChoice, ...]", cache.get_or_set(key, count, KEPT_SECONDS))


def counted_of(collection: Collection) -> Job | None:
    """The order by which all that it has now was counted."""
    done = jobs_of(collection).filter(order__filters=[], state=Job.State.DONE).first()
    return done if done and done.result["counts"]["snippets"] == collection.size else None


def jobs_of(collection: Collection) -> JobQuerySet:
    """The orders of collections of what of this one passes filters, and of counts."""
    return Job.objects.about(Job.Kind.FILTER, collection.pk)


def may_count(collection: Collection) -> bool:
    """Whether the page shows less than a worker can count, and none is at it."""
    waits = jobs_of(collection).open().filter(order__filters=[])
    return (
        collection.kind == Collection.Kind.SNIPPETS
        and collection.size > 0
        and counted_of(collection) is None
        and not waits.exists()
    )


def _snippets(collection: Collection, whole: Mapping[str, Any] | None) -> tuple[FilterChoice, ...]:
    looked_at = collection.size if whole else min(SAMPLED, collection.size)
    sample = whole or filter_steps.sample_of_snippets(collection, looked_at)
    passing = filter_steps.count_testable_variants(collection)
    standings = filter_steps.count_licence_standings(collection.members.all())
    made = list[FilterChoice]()
    for name in SNIPPET_FILTERS:
        if name == DISTINCT:
            made.append(_distinct(collection, whole))
            continue
        spoken, of = name.replace("_", " "), collection.size
        if spoken in passing:
            refused = of - passing[spoken]
            steps = sample["not testable"] if name == "testable" else {spoken: sample["testable"][spoken]}
        elif name == REDISTRIBUTABLE:
            refused, steps = of - standings[LicenseStanding.ALLOWED], sample[name]["steps"]
        else:
            of = looked_at
            refused, steps = of - sample[name]["kept"], sample[name]["steps"]
        made.append(FilterChoice(name, WORDS[name], refused, of, _steps(steps)))
    return tuple(made)


def _distinct(collection: Collection, whole: Mapping[str, Any] | None) -> FilterChoice:
    """Duplicates, which nobody can tell of a sample."""
    if whole is None:
        return FilterChoice(DISTINCT, WORDS[DISTINCT], None, collection.size, ())
    same = whole["duplicates"]
    said = f"in {count_noun(same['groups'], 'group')}, of which the largest"
    step = (said, same["refused"], tuple(" = ".join(group) for group in same["examples"]))
    steps = (step,) if same["groups"] else ()
    return FilterChoice(DISTINCT, WORDS[DISTINCT], same["refused"], collection.size, steps)


def _queries(collection: Collection) -> tuple[FilterChoice, ...]:
    found = filter_steps.of_queries(collection)
    made = list[FilterChoice]()
    for name in QUERY_FILTERS:
        spoken = NAMES[QueryRule[name.upper()]]
        step = found["steps"][spoken]
        steps = ((spoken, step["refused"], tuple(step["examples"])),)
        made.append(FilterChoice(name, QUERY_WORDS[name], step["refused"], found["queries"], steps))
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
        help_text="The same filters find or complete it; other filters make its next version.",
    )

    def __init__(self, collection: Collection, data: Any = None) -> None:
        super().__init__(data)
        self.collection = collection
        names = QUERY_FILTERS if collection.kind == Collection.Kind.QUERIES else SNIPPET_FILTERS
        set_choices(self, "filters", [(name, name) for name in names])

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        try:
            derivation.refuse_bad_derivation(name, self.collection)
        except derivation.NotMade as why:
            raise forms.ValidationError(str(why)) from why
        return name

    def job(self, user: User) -> Job | None:
        """The order of a valid form, or the same one; None, with an error, where none can be given."""
        order = FilterOrder(**self.cleaned_data)
        waits = jobs_of(self.collection).open().count() >= MOST_WAITING
        if waits and not find_open_job(order, self.collection.pk):
            self.add_error(
                None, f"{MOST_WAITING} orders of this collection are waiting: let them finish first."
            )
            return None
        job, _ = submit_job(order, user, self.collection.pk)
        if FilterOrder.of(job) == order:
            return job
        self.add_error("name", "It is being made now with other filters: wait, or choose another name.")
        return None


def filter_jobs_of_collection(collection: Collection) -> jobs.Table:
    """The newest orders of filtered collections of this one."""
    rows, address = jobs_of(collection), reverse("collection-filter-jobs", args=[collection.pk])
    return jobs.build_job_table(
        rows, jobs.build_filter_job_row, "Filtered collections", "Collection", address
    )
