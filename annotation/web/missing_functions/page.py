"""The page "Queries without a match" of a build: how many there are, what was written, the order for more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from django.conf import settings
from django.http import QueryDict
from django.urls import reverse

from annotation.builds.launch.prices import is_priced
from annotation.derived.missing_functions import launch, unmatched_queries
from annotation.derived.missing_functions.accepted_functions import (
    accepted_decisions_of_build,
    count_proposals_by_state,
)
from annotation.derived.missing_functions.launch import READY, FillPlan
from annotation.derived.missing_functions.orders import FillOrder
from annotation.derived.missing_functions.unmatched_queries import QueryMatchCounts
from annotation.models import Build, Filling, Proposal
from annotation.schemas.derived.missing_functions import FillIn
from annotation.web.derived.offer import (
    DecisionForm,
    DerivedForm,
    DerivedPage,
    Fact,
    Shown,
    budget_fact,
    build_offer,
)
from annotation.web.missing_functions.proposals import job_lines
from annotation.web.shared.forms import schema_field
from retrieval.models import Text
from retrieval.texts.plurals import count_noun

EXAMPLES: Final = 10
fill_field = partial(schema_field, FillIn)


class FillForm(DerivedForm):
    """What an admin types to have functions written."""

    tries = fill_field(
        "tries",
        "How often a function that failed its test is written again before an expert gets it.",
        label="Functions for each query, at most",
        required=True,
    )
    limit = fill_field(
        "limit", "Drawn at random. Empty: all. You can order the others later.", label="Queries at most"
    )
    at_once = fill_field("at_once", label="Why without a small job first")
    unjudged = fill_field(
        "unjudged",
        "It is not known whether those have a match.",
        label="Also queries of which some functions could not be judged",
    )
    field_order = (
        *("name", "provider", "recorded", "model", "budget"),
        *("tries", "limit", "at_once", "unjudged", "unpriced"),
    )

    def __init__(self, data: Mapping[str, Any] | None, build: Build) -> None:
        said = {
            "name": f"{build.name[:100]}: missing",
            "provider": build.provider,
            "recorded": build.recorded,
            "model": build.model,
        }
        super().__init__(data, initial=said)
        self.build = build
        self.fields["at_once"].help_text = (
            f"A live job of more than {settings.CANARY_ABOVE:,} functions needs a smaller one first, to see "
            "what they cost and how good they are. To go without one, say why here."
        )

    def order(self) -> FillOrder:
        """The order of a valid form."""
        said = {name: self.cleaned_data[name] for name in ("tries", "limit", "at_once", "unjudged")}
        return FillOrder(of=self.build, **said, **self.answering())


@dataclass(frozen=True)
class MissingPage(DerivedPage[FillPlan]):
    """How the queries of a build stand, what is written for them, and the order for more."""

    build: Build
    standing: QueryMatchCounts
    examples: tuple[Text, ...]
    unjudged: tuple[Text, ...]
    jobs: list[tuple[Filling, Mapping[str, int]]]
    accepted: int
    can_order: bool


def missing_page(build: Build, params: QueryDict, decided: QueryDict | None = None) -> MissingPage:
    """The page, with an offer where the form is filled in; else the form says what is wrong."""
    told = unmatched_queries.count_queries_by_match(build)
    form = FillForm(params if "name" in params else None, build)
    offer = build_offer(form, lambda: launch.plan_filling(form.order()), show_fill_plan)
    return MissingPage(
        address=reverse("build-missing", args=[build.pk]),
        form=form,
        decision=DecisionForm(decided, needs_reason=False),
        offer=offer,
        build=build,
        standing=told,
        examples=tuple(unmatched_queries.without_match(build)[:EXAMPLES]),
        unjudged=tuple(unmatched_queries.find_unjudged_queries(build)[:EXAMPLES]),
        jobs=job_lines(Filling.objects.filter(of=build)),
        accepted=accepted_decisions_of_build(build).count(),
        can_order=build.state in READY and bool(told.without or told.unjudged),
    )


def show_fill_plan(plan: FillPlan) -> Shown:
    """How many functions, and under which cap."""
    count = len(plan.queries)
    return Shown(
        size=Fact("For", count_noun(count, "query", "queries"), id="queries-written"),
        cap=budget_fact(plan),
        button=f"Write {count_noun(count, 'function')}",
    )


def build_missing_card(build: Build) -> dict[str, Any] | None:
    """The counts on a build's page, or on that of a job; None before a build is done or paused.

    `again`: nanodollars to write what failed again, where known.
    """
    own = Filling.objects.filter(build=build).select_related("of", "build__tally").first()
    if own is None and build.state not in READY:
        return None
    jobs = Filling.objects.filter(pk=own.pk) if own else Filling.objects.filter(of=build)
    told = list(count_proposals_by_state(jobs).values())
    return {
        "queue": sum(proposal["waiting"] for proposal in told),
        "accepted": sum(proposal["accepted"] + proposal["edited"] for proposal in told),
        "failed": sum(proposal["failed"] for proposal in told),
        "again": estimate_rewrite_cost(own.build, told[0]) if own else None,
        "of": own.of if own else None,
        "filling": own.pk if own else None,
    }


def estimate_rewrite_cost(job: Build, counts: Mapping[str, int]) -> float | None:
    """What writing failed functions again takes, by the mean of those that were tried; None: not known."""
    tried = sum(counts[state] for state in Proposal.State.values if state != Proposal.State.WRITING)
    if not tried or not is_priced(job.model):
        return None
    return job.tally.spent / tried * counts[Proposal.State.FAILED]
