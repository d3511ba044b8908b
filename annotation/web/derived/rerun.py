"""The page on which somebody orders cases of a build once more from a stage on."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, fields
from functools import partial
from typing import Final

from django import forms
from django.db.models import F, QuerySet
from django.http import QueryDict
from django.urls import reverse

from annotation.builds.launch.from_build import order_of
from annotation.builds.launch.launcher import LONGEST_NAME
from annotation.builds.launch.order import LaunchRefused
from annotation.derived.rerun import launch, sent_back
from annotation.derived.rerun.case_takeover import filter_rerunnable_cases
from annotation.derived.rerun.launch import STAGES, Again, RerunPlan
from annotation.llm.sampling import LONGER
from annotation.models import Build, Case
from annotation.schemas.derived.derived_builds import AgainIn
from annotation.stages import Stage
from annotation.web.cases.filters import Filters, filter_build_cases
from annotation.web.cases.page import describe_filters, filters_of
from annotation.web.derived.offer import (
    DecisionForm,
    DerivedForm,
    DerivedPage,
    Fact,
    Shown,
    budget_fact,
    build_offer,
)
from annotation.web.shared.forms import schema_field
from annotation.web.shared.pagination import whole_number
from retrieval.texts.plurals import count_noun

MOST_PICKED: Final = 1000
FRESH: Final = (
    ("", "if nothing else has changed"),
    ("yes", "always: every reply is paid for"),
    ("no", "never: earlier replies are reused"),
)
TAKEN_OVER: Final = {
    Stage.SCREENING: "nothing: every stage is run again",
    Stage.READING: "the screener’s verdict",
    Stage.WRITING_TEST: "the verdicts of screener and reader",
    Stage.EXECUTING: "the verdicts of screener and reader, and the test program",
    Stage.ARBITRATING: "everything up to the execution of the test program",
    Stage.TIE_BREAKING: "everything up to the arbiter’s verdict",
}
FILTERS: Final = tuple(field.name for field in fields(Filters) if field.name != "sort")
PICKING: Final = ("case", "flips", "sent_back", *FILTERS)
"""The parameters that say which cases are meant; the form's own have other names."""
again_field = partial(schema_field, AgainIn)


class AgainForm(DerivedForm):
    """What differs from the build whose cases are run again; its own choices stand at first."""

    start = forms.ChoiceField(
        choices=[(stage.value, stage.value.replace("_", " ")) for stage in STAGES],
        label="Start at",
        help_text="This stage and all later ones are run again.",
    )
    sampling = forms.CharField(
        required=False,
        max_length=1000,
        label="Sampling",
        help_text=f"As JSON. If replies were cut off, allow more tokens: {LONGER}. Empty: as in the build.",
    )
    fix_rounds = again_field("fix_rounds", label="Fixing rounds", required=True)
    rewrites = again_field("rewrites", required=True)
    second_test = again_field("second_test", "Write another test if the first one proved nothing.")
    spot_check = again_field(
        "spot_check",
        "Read and test pairs that the screener found clear, to see how often it errs. Begins at reading.",
    )
    sample = again_field("sample", "This many cases, drawn at random. Empty: all.")
    fresh = forms.ChoiceField(
        required=False,
        choices=FRESH,
        label="Ask again instead of reusing replies",
        help_text="An unchanged request would get its old reply.",
    )
    field_order = (
        *("name", "start", "spot_check", "sample", "provider", "recorded", "model", "sampling"),
        *("fix_rounds", "rewrites", "second_test", "fresh", "budget", "unpriced"),
    )

    def __init__(self, data: QueryDict | None, source: Build) -> None:
        super().__init__(data, initial=initial_of(source), also_recorded=source.recorded)

    def again(self) -> Again:
        """The wish of a valid form."""
        values = self.cleaned_data
        same = ("fix_rounds", "rewrites", "second_test", "spot_check", "sample")
        return Again(
            **self.answering(),
            **{name: values[name] for name in same},
            stage=Stage(values["start"]),
            sampling=values["sampling"] or None,
            fresh={"yes": True, "no": False}.get(values["fresh"]),
        )


@dataclass(frozen=True)
class Picked:
    """The cases that are meant, in words, and the parameters that say so."""

    cases: QuerySet[Case]
    words: str
    params: tuple[tuple[str, str], ...]
    of_test: bool = False


@dataclass(frozen=True)
class AgainPage(DerivedPage[RerunPlan]):
    """What is run again, how many cases can begin where, and what that comes to."""

    build: Build
    picked: Picked
    count: int
    able: tuple[tuple[str, int], ...]
    is_filled: bool

    @property
    def params(self) -> tuple[tuple[str, str], ...]:
        return self.picked.params

    @property
    def is_wrong(self) -> bool:
        # A link that is followed is never wrong, even where the build's own choices can't be had again.
        return self.is_filled and super().is_wrong


def initial_of(source: Build) -> dict[str, object]:
    order = order_of(source)
    return {
        "name": free_name(source),
        "start": Stage.ARBITRATING.value,
        "provider": order.provider,
        "recorded": order.recorded,
        "model": order.model,
        "sampling": json.dumps(order.sampling) if order.sampling else "",
        "fix_rounds": order.fix_rounds,
        "rewrites": order.rewrites,
        "second_test": order.second_test,
    }


def free_name(source: Build) -> str:
    """A name that no build has: `NAME again`, `NAME again 2` …"""
    stem = f"{source.name[: LONGEST_NAME - 12]} again"
    taken = set(Build.objects.filter(name__startswith=stem).values_list("name", flat=True))
    return next(
        name for name in (stem, *(f"{stem} {n}" for n in range(2, len(taken) + 3))) if name not in taken
    )


def pick_rerun_cases(build: Build, visible: QuerySet[Build], params: QueryDict) -> Picked:
    """Cases by hand, those sent back, the flips against another build, or what the cases' page filters."""
    given = tuple((name, value) for name in PICKING for value in params.getlist(name) if value)
    ids = [whole_number(value) for value in params.getlist("case")[:MOST_PICKED]]
    rows = Case.objects.filter(build=build)
    if ids:
        return Picked(rows.filter(pk__in=ids), "picked by hand", given)
    if params.get("sent_back"):
        return Picked(
            sent_back.find_cases_awaiting_test(build),
            "whose test was sent back by a tag",
            given,
            of_test=True,
        )
    other = visible.filter(pk=whole_number(params.get("flips", ""))).first()
    if other is not None:
        theirs = rows.filter(pair__cases__build=other, pair__cases__label=1 - F("label"))
        return Picked(theirs.distinct(), f"labelled differently in “{other.name}”", given)
    filters = filters_of(params)
    return Picked(
        filter_build_cases(build, visible, filters),
        describe_filters(filters) or "all cases",
        given,
        filters.of_test,
    )


def picked_by_words(
    build: Build, visible: QuerySet[Build], where: str, cases: Collection[int] = (), flips: int | None = None
) -> Picked:
    """As `pick_rerun_cases`, for words that a program sends. Raises LaunchRefused for a filter that there is
    not.

    Left out of account, as in an address, a misspelt one would choose all cases.
    """
    params = QueryDict(where, mutable=True)
    params.pop("sort", None)  # an address of the list may have it; it chooses nothing
    kept = QueryDict(filters_of(params).query)
    strange = [name for name in params if name not in PICKING or (name in FILTERS and name not in kept)]
    if strange:
        wrong = ", ".join(f"{name}={params[name]}" for name in strange)
        raise LaunchRefused(
            f"No cases are chosen by {wrong}: use the words in the address of the list of cases, "
            f"with the names {', '.join(FILTERS)}."
        )
    if cases:
        params.setlist("case", [str(pk) for pk in cases])
    if flips is not None:
        params["flips"] = str(flips)
    return pick_rerun_cases(build, visible, params)


def again_page(build: Build, found: Picked, params: QueryDict, decided: QueryDict | None = None) -> AgainPage:
    """The page, with an offer where the form is filled in; else the form says what is wrong."""
    form = AgainForm(build_rerun_form_data(params, build), build)
    if found.of_test:
        form.initial["start"] = Stage.WRITING_TEST.value
    counts = (
        (stage.replace("_", " "), filter_rerunnable_cases(found.cases, stage).count()) for stage in STAGES
    )
    return AgainPage(
        address=reverse("build-again", args=[build.pk]),
        form=form,
        decision=DecisionForm(decided),
        offer=build_offer(
            form, lambda: launch.plan_rerun(build, found.cases, form.again(), found.words), show_rerun_plan
        ),
        build=build,
        picked=found,
        count=found.cases.count(),
        able=tuple(counts),
        is_filled="start" in params,
    )


def build_rerun_form_data(params: QueryDict, build: Build) -> QueryDict | None:
    """What the form is filled in with: where an address names the stage alone (`from`), the build's choices.

    So a link to it shows the price at once.
    """
    if "start" in params or params.get("from") not in STAGES:
        return params if "start" in params else None
    filled = params.copy()
    usual = initial_of(build) | {"start": params["from"]}
    filled.update({name: str(value) for name, value in usual.items() if value is not False})
    return filled


def show_rerun_plan(plan: RerunPlan) -> Shown:
    note = f"of {plan.chosen:,} chosen; the others have not come so far"
    if plan.able < plan.pool:
        note = f"drawn at random from {plan.pool:,}"
    elif plan.spot_check:
        note = "all pairs that the screener decided"
    asked = (
        "are not reused: everything is asked again"
        if plan.order.fresh
        else "are reused for identical requests"
    )
    alike = ". Nothing else differs from the build’s annotator" if plan.repeats else ""
    return Shown(
        size=Fact("Cases", f"{plan.able:,}", note, "cases-again"),
        cap=budget_fact(plan),
        button=f"Run {count_noun(plan.able, 'case')} again",
        told=(Fact("Taken over", TAKEN_OVER[plan.stage]), Fact("Replies given before", asked + alike)),
    )
