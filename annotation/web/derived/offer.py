"""What a derived build would take, and the decision about it: the same on the page of each kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.builds.control.pause_resume import ControlRefused
from annotation.builds.control.spending_caps import LONGEST_REASON, CapRefused
from annotation.builds.launch.estimates import confirmation
from annotation.builds.launch.estimates.figures import Estimate
from annotation.builds.launch.launcher import LONGEST_NAME
from annotation.builds.launch.order import LaunchRefused
from annotation.derived.derivation import Decision, Derivation
from annotation.jobs.providers import find_token_counter
from annotation.models.builds.build import NANO
from annotation.web.builds.provider_form import AnsweringForm, SkippingForm
from annotation.web.money.estimates import Priced, Warned, find_estimate_warnings
from annotation.web.shared.words import format_dollars
from retrieval.evaluation.holes import NoHoles

REFUSED: Final = (ControlRefused, LaunchRefused, CapRefused, NoHoles)
Plan = TypeVar("Plan", bound=Derivation[Any])


class DerivedForm(AnsweringForm):
    """A name for the new build, and who answers in it; each kind adds how its pairs are chosen."""

    name = forms.CharField(max_length=LONGEST_NAME, label="Name", help_text="The name of the new build.")

    def answering(self) -> dict[str, Any]:
        """Also the name."""
        return {"name": self.cleaned_data["name"].strip(), **super().answering()}


class DecisionForm(SkippingForm):
    """Why it is launched, and whether a canary that it would begin with is skipped."""

    reason = forms.CharField(
        max_length=LONGEST_REASON, label="Why", help_text="Kept in the history, with your name and the time."
    )

    def __init__(self, data: Any, *, needs_reason: bool = True, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        self.fields["reason"].required = needs_reason
        self.fields["skip_canary"].help_text = "Everything is then paid for at once."

    def decision(self, user: Any, word: str) -> Decision:
        """The decision of a valid form."""
        return Decision(user, self.cleaned_data["reason"], word, self.skipped)


@dataclass(frozen=True)
class Fact:
    """A figure or a sentence beside the price."""

    name: str
    value: str
    note: str = ""
    id: str = ""


@dataclass(frozen=True)
class Shown:
    """What a kind says of its plan: how much, under which cap, what else, and the words of the button."""

    size: Fact
    cap: Fact
    button: str
    told: tuple[Fact, ...] = ()


@dataclass(frozen=True)
class Offer(Priced, Generic[Plan]):
    """What a plan comes to: its price by stage, and the word that confirms it."""

    plan: Plan
    shown: Shown


@dataclass(frozen=True)
class DerivedPage(Generic[Plan]):
    """A page that orders a derived build: the form of the wish, what it comes to, and the decision."""

    address: str
    form: forms.Form
    decision: DecisionForm
    offer: Offer[Plan] | None

    @property
    def params(self) -> tuple[tuple[str, str], ...]:
        """What the address says beside the form, to be sent along."""
        return ()

    @property
    def is_wrong(self) -> bool:
        """Whether somebody filled the form in with what can't be."""
        return self.form.is_bound and bool(self.form.errors)


def build_offer(
    form: forms.Form,
    plan_of: Callable[[], Plan],
    shown_of: Callable[[Plan], Shown],
    warnings_of: Callable[[Plan, Estimate], tuple[Warned, ...]] | None = None,
) -> Offer[Plan] | None:
    """What a filled form comes to; where that is nothing the form gets the reason."""
    if not form.is_bound or not form.is_valid():
        return None
    try:
        plan = plan_of()
        plan.refuse_bad()
    except REFUSED as why:
        form.add_error(None, str(why))
        return None
    quote = plan.quote(find_token_counter(plan.order.provider, plan.order.model))
    if warnings_of:
        warnings = warnings_of(plan, quote.figures)
    else:  # what is wrong with the money of a live build
        warnings = find_estimate_warnings(plan.order, quote.figures) if plan.is_live else ()
    return Offer(quote.figures, warnings, quote.word, plan, shown_of(plan))


def budget_fact(plan: Derivation[Any]) -> Fact:
    """The cap that the new build gets."""
    budget = plan.order.budget
    return Fact("Budget", "no cap" if budget is None else format_dollars(int(budget * NANO)))


def launch_offer(
    request: HttpRequest,
    page: DerivedPage[Any],
    launch: Callable[[Decision], Any] | None = None,
    *,
    is_free: bool = False,
) -> Any:
    """What was made of the offer; None where it was refused, and the page's forms say why.

    `launch` is used in the place of the plan's own; what is free needs no price that was shown.
    """
    if not page.offer or not page.decision.is_valid():
        return None
    plan, word = page.offer.plan, request.POST.get("estimate", "")
    try:
        if not is_free:
            confirmation.refuse_unshown(plan.order.provider, word)
        return (launch or plan.launch)(page.decision.decision(request.user, word))
    except REFUSED as why:
        page.form.add_error(None, str(why))
        return None


def render_derived(
    request: HttpRequest, template: str, page: DerivedPage[Any], **more: object
) -> HttpResponse:
    """The page, as one that is refused where something was sent or filled in that can't be."""
    refused = request.method == "POST" or page.is_wrong
    return render(request, template, {"page": page, **more}, status=422 if refused else 200)
