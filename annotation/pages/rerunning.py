"""The page on which somebody orders cases of a build once more from a stage on."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Final

from django import forms
from django.db.models import F, QuerySet
from django.http import QueryDict

from annotation.estimating.confirming import signed
from annotation.estimating.figures import Estimate
from annotation.launching import LONGEST_NAME, LaunchRefused
from annotation.llm.sampling import LONGER, NotSampling, sampling_of
from annotation.models import Build, Case
from annotation.models.builds import NANO
from annotation.ordered import order_of
from annotation.pages.answering import AnsweringForm
from annotation.pages.case_lists import Filters, wanted
from annotation.pages.cases import filters_of
from annotation.pages.estimates import Row, Warned, table, warnings
from annotation.pages.paging import whole_number
from annotation.pages.skipping import SkippingForm
from annotation.rerunning import ordering, sent_back
from annotation.rerunning.ordering import STAGES, Again, Plan
from annotation.rerunning.taking import able
from annotation.stages import Stage
from annotation.tools import counter
from retrieval.hostile import clean

MOST_PICKED: Final = 1000
FRESH: Final = (
    ("", "where nothing else is new"),
    ("yes", "always: every answer is paid"),
    ("no", "never: what was answered is used"),
)
TAKEN_OVER: Final = {
    Stage.SCREENING: "nothing: every stage is done anew",
    Stage.WRITING_TEST: "the screener’s verdict",
    Stage.EXECUTING: "the screener’s verdict and the test program",
    Stage.ARBITRATING: "the screener’s verdict, the test program, its dependencies and its execution",
}
FILTERS: Final = tuple(field.name for field in fields(Filters) if field.name != "sort")
PICKING: Final = ("case", "flips", "sent_back", *FILTERS)
"""The parameters that say which cases are meant; the form's own have other names."""


class AgainForm(AnsweringForm):
    """What differs from the build whose cases are run again; its own choices stand at first."""

    name = forms.CharField(max_length=LONGEST_NAME, label="Name", help_text="Of the new build.")
    start = forms.ChoiceField(
        choices=[(stage.value, stage.value.replace("_", " ")) for stage in STAGES],
        label="From",
        help_text="This stage and all after it are done anew.",
    )
    provider = forms.ChoiceField(choices=Build.Provider.choices, label="Who answers")
    model = forms.CharField(max_length=LONGEST_NAME, label="Model")
    sampling = forms.CharField(
        required=False,
        max_length=1000,
        label="Sampling",
        help_text=f"As JSON; where replies were cut off, {LONGER} lets each have so many tokens. "
        "Empty: as in the build.",
    )
    fix_rounds = forms.IntegerField(min_value=0, max_value=5, label="Fixing rounds")
    rewrites = forms.IntegerField(min_value=0, max_value=5, label="Rewrites")
    second_test = forms.BooleanField(
        required=False, label="Second test", help_text="Another program where the first one tested nothing."
    )
    fresh = forms.ChoiceField(
        required=False,
        choices=FRESH,
        label="Ask anew what was answered before",
        help_text="An unchanged request would find its old reply.",
    )
    field_order = (
        "name",
        "start",
        "provider",
        "recorded",
        "model",
        "sampling",
        "fix_rounds",
        "rewrites",
        "second_test",
        "fresh",
        "budget",
        "unpriced",
    )

    def __init__(self, data: QueryDict | None, source: Build) -> None:
        super().__init__(data, initial=initial_of(source), also_recorded=source.recorded)

    def clean_sampling(self) -> dict[str, object]:
        try:
            return dict(sampling_of(clean(self.cleaned_data["sampling"])))
        except NotSampling as error:
            raise forms.ValidationError(str(error)) from error

    def again(self) -> Again:
        """The wish of a valid form."""
        values = self.cleaned_data
        return Again(
            name=values["name"].strip(),
            stage=Stage(values["start"]),
            provider=values["provider"],
            recorded=values["recorded"],
            model=values["model"].strip(),
            sampling=values["sampling"] or None,
            fix_rounds=values["fix_rounds"],
            rewrites=values["rewrites"],
            second_test=values["second_test"],
            fresh={"yes": True, "no": False}.get(values["fresh"]),
            budget=values["budget"],
            unpriced=values["unpriced"],
        )


class WhyForm(SkippingForm):
    """Why the cases are run again, and whether a canary that they would begin with is skipped."""

    why = forms.CharField(
        max_length=1000, label="Why", help_text="Kept in the history, with your name and the time."
    )

    def __init__(self, data: QueryDict | None) -> None:
        super().__init__(data)
        self.fields["skip_canary"].help_text = "All cases are then paid for at once."


@dataclass(frozen=True)
class Picked:
    """The cases that are meant, in words, and the parameters that say so."""

    cases: QuerySet[Case]
    words: str
    params: tuple[tuple[str, str], ...]
    of_test: bool = False


@dataclass(frozen=True)
class Offer:
    """What it comes to: cases, price by stage, and the word that confirms it.

    `canary`: how many cases go first, before somebody decides about the others; 0 where there is none.
    """

    plan: Plan
    estimate: Estimate
    taken_over: str
    rows: tuple[Row, ...]
    total: Row
    warnings: tuple[Warned, ...]
    cap: str
    word: str
    canary: int


@dataclass(frozen=True)
class AgainPage:
    """What is run again, the form of what differs, and what that comes to."""

    build: Build
    picked: Picked
    count: int
    able: tuple[tuple[str, int], ...]
    form: AgainForm
    decision: WhyForm
    offer: Offer | None


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


def picked(build: Build, visible: QuerySet[Build], params: QueryDict) -> Picked:
    """Cases by hand, those sent back, the flips against another build, or what the cases' page filters."""
    given = tuple((name, value) for name in PICKING for value in params.getlist(name) if value)
    ids = [whole_number(value) for value in params.getlist("case")[:MOST_PICKED]]
    rows = Case.objects.filter(build=build)
    if ids:
        return Picked(rows.filter(pk__in=ids), "picked by hand", given)
    if params.get("sent_back"):
        return Picked(sent_back.waiting(build), "whose test was sent back by a tag", given, of_test=True)
    other = visible.filter(pk=whole_number(params.get("flips", ""))).first()
    if other is not None:
        theirs = rows.filter(pair__cases__build=other, pair__cases__label=1 - F("label"))
        return Picked(theirs.distinct(), f"labelled otherwise in “{other.name}”", given)
    filters = filters_of(params)
    return Picked(
        wanted(build, visible, filters),
        filters.query.replace("&", ", ") or "all cases",
        given,
        filters.of_test,
    )


def picked_by_words(
    build: Build, visible: QuerySet[Build], where: str, cases: Collection[int] = (), flips: int | None = None
) -> Picked:
    """As `picked`, for words that a program sends. Raises LaunchRefused for a filter that there is not.

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
    return picked(build, visible, params)


def again_page(build: Build, found: Picked, params: QueryDict, decided: QueryDict | None = None) -> AgainPage:
    """The page, with an offer where the form is filled in; else the form says what is wrong."""
    form = AgainForm(sent(params, build), build)
    if found.of_test:
        form.initial["start"] = Stage.WRITING_TEST.value
    counts = ((stage.replace("_", " "), able(found.cases, stage).count()) for stage in STAGES)
    return AgainPage(
        build=build,
        picked=found,
        count=found.cases.count(),
        able=tuple(counts),
        form=form,
        decision=WhyForm(decided),
        offer=offer(build, found, form),
    )


def sent(params: QueryDict, build: Build) -> QueryDict | None:
    """What the form is filled in with: where an address names the stage alone (`from`), the build's choices.

    So a link to it shows the price at once.
    """
    if "start" in params or params.get("from") not in STAGES:
        return params if "start" in params else None
    filled = params.copy()
    usual = initial_of(build) | {"start": params["from"]}
    filled.update({name: str(value) for name, value in usual.items() if value is not False})
    return filled


def offer(build: Build, found: Picked, form: AgainForm) -> Offer | None:
    if not form.is_bound or not form.is_valid():
        return None
    try:
        plan = ordering.plan(build, found.cases, form.again())
        ordering.refuse_bad(plan)
    except LaunchRefused as why:
        form.add_error(None, str(why))
        return None
    price = ordering.price(plan, counter(plan.order.provider, plan.order.model))
    rows, total = table(price)
    return Offer(
        plan=plan,
        estimate=price,
        taken_over=TAKEN_OVER[plan.stage],
        rows=rows,
        total=total,
        warnings=warnings(plan.order, price) if plan.order.provider == Build.Provider.LIVE else (),
        cap="no cap" if plan.order.budget is None else f"${int(plan.order.budget * NANO) / NANO:,.2f}",
        word=signed(plan.order, price, ordering.about(plan)),
        canary=ordering.canary_of(plan),
    )
