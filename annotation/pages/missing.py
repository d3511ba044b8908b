"""The page "Queries without a match" of a build: how many there are, what was written, the order for more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from django import forms
from django.conf import settings

from annotation.missing import counting, ordering, written
from annotation.missing.counting import Standing
from annotation.missing.ordering import READY
from annotation.missing.orders import TRIES, FillOrder
from annotation.models import Build, Filling, Proposal
from annotation.pages.answering import AnsweringForm, usual_model
from annotation.pages.estimates import Row, Warned, table, warnings
from annotation.pages.proposals import JobLine, job_lines
from annotation.pricing import is_priced
from retrieval.models import Text

EXAMPLES: Final = 10


class FillForm(AnsweringForm):
    """What an admin types to have functions written."""

    name = forms.CharField(max_length=120, label="Name of the job")
    tries = forms.IntegerField(
        min_value=1,
        max_value=5,
        initial=TRIES,
        label="Functions a query at most",
        help_text="One that its test denied is written anew so often, before the expert gets it.",
    )
    limit = forms.IntegerField(
        min_value=1,
        max_value=1_000_000,
        required=False,
        label="Queries at most",
        help_text="Drawn at random. Empty: all. The others can be ordered later.",
    )
    at_once = forms.CharField(max_length=400, required=False, label="Why all at once")
    why = forms.CharField(
        required=False, max_length=1000, label="Why", help_text="Kept in the job's history, with your name."
    )
    unjudged = forms.BooleanField(
        required=False,
        label="Also queries of which some candidates could not be judged",
        help_text="Nobody knows whether those have a match.",
    )

    def __init__(self, build: Build, data: Mapping[str, Any] | None = None) -> None:
        said = {
            "name": f"{build.name[:100]}: missing",
            "provider": build.provider,
            "recorded": build.recorded,
            "model": build.model,
        }
        super().__init__(data, initial=said)
        self.build = build
        self.fields["at_once"].help_text = (
            f"A live job of more than {settings.CANARY_ABOVE:,} functions comes after a smaller one, so that "
            "somebody has seen what they cost and are worth; or say here why not."
        )

    def order(self) -> FillOrder:
        """The order of a valid form."""
        values = self.cleaned_data
        recorded = values["recorded"] if values["provider"] == Build.Provider.RECORDED else ""
        budget: Decimal | None = values["budget"]
        return FillOrder(
            of=self.build,
            name=values["name"],
            provider=values["provider"],
            model=values["model"].strip() or usual_model(values["provider"], recorded),
            recorded=recorded,
            budget=budget,
            unpriced=values["unpriced"],
            unjudged=values["unjudged"],
            tries=values["tries"],
            limit=values["limit"],
            at_once=values["at_once"],
            why=values["why"],
        )


@dataclass(frozen=True, slots=True)
class Price:
    """What an order may take: functions, calls and dollars by agent, and the word that confirms it."""

    queries: int
    rows: tuple[Row, ...]
    total: Row
    warnings: tuple[Warned, ...]
    word: str


@dataclass(frozen=True, slots=True)
class MissingPage:
    """The page of a build. `price` is that of the order in the form, once it was asked for."""

    build: Build
    standing: Standing
    examples: tuple[Text, ...]
    unjudged: tuple[Text, ...]
    jobs: tuple[JobLine, ...]
    accepted: int
    can_order: bool
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class MissingCard:
    """What a build's own page says of it. `again`: nanodollars to write what failed again, where known."""

    queue: int
    accepted: int
    failed: int
    again: float | None
    of: Build | None
    filling: int | None


def missing_page(build: Build, price: Price | None = None) -> MissingPage:
    told = counting.standing(build)
    return MissingPage(
        build=build,
        standing=told,
        examples=tuple(counting.without_match(build)[:EXAMPLES]),
        unjudged=tuple(counting.unjudged(build)[:EXAMPLES]),
        jobs=job_lines(Filling.objects.filter(of=build)),
        accepted=written.accepted(build).count(),
        can_order=build.state in READY and bool(told.without or told.unjudged),
        price=price,
    )


def price_of(order: FillOrder) -> Price:
    """What `order` would take now."""
    found = ordering.price(order)
    rows, total = table(found)
    live = order.provider == Build.Provider.LIVE
    return Price(
        queries=found.queries,
        rows=rows,
        total=total,
        warnings=warnings(order.whole, found) if live else (),
        word=ordering.word_of(order, found),
    )


def card(build: Build) -> MissingCard | None:
    """The counts on a build's page, or on that of a job; None before a build is done or paused."""
    own = Filling.objects.filter(build=build).select_related("of", "build__tally").first()
    if own is None and build.state not in READY:
        return None
    jobs = Filling.objects.filter(pk=own.pk) if own else Filling.objects.filter(of=build)
    told = list(written.counts(jobs).values())
    return MissingCard(
        queue=sum(one["waiting"] for one in told),
        accepted=sum(one["accepted"] + one["edited"] for one in told),
        failed=sum(one["failed"] for one in told),
        again=again(own.build, told[0]) if own else None,
        of=own.of if own else None,
        filling=own.pk if own else None,
    )


def again(job: Build, counts: Mapping[str, int]) -> float | None:
    """What writing failed functions again takes, by the mean of those that were tried; None: not known."""
    tried = sum(counts[state] for state in Proposal.State.values if state != Proposal.State.WRITING)
    if not tried or not is_priced(job.model):
        return None
    return job.tally.spent / tried * counts[Proposal.State.FAILED]
