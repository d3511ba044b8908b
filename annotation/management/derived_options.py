"""What commands share that launch a derived build: options, the price, the agreement, the launch."""

from __future__ import annotations

import sys
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser

from annotation.accounts.actors import AtShell
from annotation.builds.launch.estimates.confirmation import format_estimate_line
from annotation.derived.derivation import Decision, Derivation, Made, Quote
from annotation.jobs.providers import find_token_counter
from annotation.llm.sampling import NotSampling, sampling_of
from annotation.models import Build
from retrieval.texts.hostile import mark_hostile_characters

SKIP_CANARY: Final = "why a large live one may ask for all pairs at once; default its canary comes first"


def add_answering(parser: CommandParser, *, default: str | None, model: str = "", like: str = "") -> None:
    """Who answers, and what it may cost; `like` says what holds where an option is left out."""
    parser.add_argument(
        "--provider", choices=Build.Provider.values, default=default, help=f"who answers {like}".strip()
    )
    parser.add_argument("--model", default=model, help=f"that the agents ask {like}".strip())
    parser.add_argument("--recorded", default="", metavar="FILE", help="file of recorded replies")
    parser.add_argument("--budget", default="", metavar="DOLLARS", help="default: no cap")
    parser.add_argument("--unpriced", action="store_true", help="ask a live model without a price")


def add_decision(parser: CommandParser, *, needs_reason: bool) -> None:
    """Why it is launched, whether its canary is skipped, and whether anybody is asked."""
    needed = "; needed unless --estimate" if needs_reason else ""
    parser.add_argument("--reason", default="", help=f"kept in the history{needed}")
    parser.add_argument("--skip-canary", default="", metavar="WHY", help=SKIP_CANARY)
    add_agreement(parser)


def add_agreement(parser: CommandParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do not ask whether a paid launch is meant")


def require_launch_agreement(provider: str, options: dict[str, Any]) -> None:
    """Ask whether what was just shown shall be launched. Raises CommandError where it shall not.

    What is free is not asked about; where nobody can answer, --yes has to say it.
    """
    if provider != Build.Provider.LIVE or options["yes"]:
        return
    if not sys.stdin.isatty():
        raise CommandError("The cost is estimated above. Nothing was launched; --yes launches it.")
    if input("Launch it? [y/N] ").strip().lower() not in {"y", "yes"}:
        raise CommandError("Nothing was launched.")


def quote_plan(plan: Derivation[Any]) -> tuple[Quote, str]:
    """The price, as the provider counts where it does, and in one line."""
    quote = plan.quote(find_token_counter(plan.order.provider, plan.order.model))
    return quote, format_estimate_line(quote.figures)


def launch_plan(plan: Derivation[Made], quote: Quote, options: dict[str, Any]) -> Made:
    """Launch on the price that was shown, once somebody agrees. Raises CommandError where nobody does."""
    require_launch_agreement(plan.order.provider, options)
    skipped = options.get("skip_canary", "")
    return plan.launch(Decision(AtShell.now(), options["reason"], quote.word, skipped))


def parse_dollars(text: str | None, option: str = "--budget") -> Decimal | None:
    """Raises CommandError for what is no number."""
    try:
        return Decimal(text) if text else None
    except InvalidOperation as error:
        raise CommandError(f"{option} {text!r}: expected dollars, such as 2.50.") from error


def parse_sampling(text: str) -> dict[str, Any]:
    """Raises CommandError for what is no sampling."""
    try:
        return dict(sampling_of(mark_hostile_characters(text)))
    except NotSampling as error:
        raise CommandError(f"--sampling {text!r}: {error}") from error
