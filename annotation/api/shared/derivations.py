"""The price and the launch of a derived build, the same for each kind."""

from __future__ import annotations

from typing import Any, Protocol

from django.http import HttpRequest

from annotation.api.shared import visible
from annotation.api.shared.estimates import figures_out
from annotation.builds.launch.estimates import confirmation
from annotation.derived.derivation import Decision, Derivation, Made
from annotation.jobs.providers import find_token_counter


class Decided(Protocol):
    """What every order says: why, and on which estimate."""

    reason: str
    estimate: str
    unconfirmed: bool


def quote_out(plan: Derivation[Any]) -> dict[str, Any]:
    """The price of what would be launched, and the word that confirms it. Raises LaunchRefused."""
    plan.refuse_bad()
    quote = plan.quote(find_token_counter(plan.order.provider, plan.order.model))
    return {**figures_out(quote.figures).dict(), "confirm": quote.word}


def launch_plan(request: HttpRequest, plan: Derivation[Made], wanted: Decided, skip_canary: str = "") -> Made:
    """Launch on the price that was confirmed, or by saying `unconfirmed`. Raises LaunchRefused."""
    confirmation.refuse_unseen(plan.order.provider, wanted.estimate, unconfirmed=wanted.unconfirmed)
    return plan.launch(Decision(visible.caller(request), wanted.reason, wanted.estimate, skip_canary))
