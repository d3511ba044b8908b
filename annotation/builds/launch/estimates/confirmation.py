"""From the estimate that somebody saw to the build that is launched on it, with nothing stored in between.

The estimate travels through the page, or through whoever calls the API, as a signed word: it can be launched
on only as it was shown, for the order that it was made of, and while the price that it used holds.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from functools import reduce
from typing import Final

from django.core import signing
from pydantic import ValidationError

from annotation.builds.launch.estimates.figures import Estimate
from annotation.builds.launch.order import LaunchRefused, Order
from annotation.builds.launch.prices import price_of_order
from annotation.models import Build, Extension
from retrieval.texts.plurals import count_noun

SALT: Final = "annotation.builds.launch.estimates"
HOLDS: Final = timedelta(days=1)
TOLD: Final = (
    *("k", "limit", "provider", "model", "fix_rounds", "rewrites", "second_test", "reader", "neighbour"),
    *("withhold_report", "prompt_set", "rounds", "annotator", "screen_by_query", "drift_check", "batches"),
    *("price_in", "price_out"),
)
"""What an estimate depends on beside the collections, rules and sampling of its order."""


def sign_estimate(order: Order, found: Estimate, about: str = "") -> str:
    """The word that `confirm_estimate` takes; `about` says what it is for where that is no new build."""
    return signing.dumps(
        {"order": build_order_key(order, about), "estimate": found.to_json()}, salt=SALT, compress=True
    )


def confirm_estimate(order: Order, word: str, about: str = "") -> Estimate:
    """The estimate in the word. Raises LaunchRefused where it was made of another order, or holds no more."""
    try:
        data = signing.loads(word, salt=SALT, max_age=HOLDS)
        found = Estimate.from_json(data["estimate"])
    except (signing.BadSignature, ValidationError, KeyError, TypeError) as error:
        raise LaunchRefused("This estimate holds no more; look at a new one.") from error
    if data.get("order") != build_order_key(order, about):
        raise LaunchRefused("The order has changed since it was estimated; look at a new estimate.")
    price = price_of_order(order)
    if ((price.pk or 0) if price else None) != (found.price.id if found.price else None):
        raise LaunchRefused("The price has changed since this was estimated; look at a new estimate.")
    return found


def why_stale(order: Order, word: str) -> str:
    """Why the order can't be launched on the word; empty where it can."""
    try:
        confirm_estimate(order, word)
    except LaunchRefused as why:
        return str(why)
    return ""


def build_order_key(order: Order, about: str = "") -> str:
    """What tells orders apart as far as their estimate is concerned; sizes count, as members may be added."""
    members = [(chosen.pk, chosen.size) for chosen in (order.queries, order.snippets)]
    rules = int(order.rule), int(order.query_rule)
    given = (order.given.pk, order.given.digest) if order.given else ()
    told = (
        members,
        rules,
        about,
        given,
        sorted(order.sampling.items()),
        *(getattr(order, name) for name in TOLD),
    )
    return hashlib.sha256(repr(told).encode()).hexdigest()[:32]


def refuse_unseen(provider: str, word: str, *, unconfirmed: bool) -> None:
    """Raises LaunchRefused where what is paid would be launched unseen, and nobody said so."""
    if provider == Build.Provider.LIVE and not word and not unconfirmed:
        raise LaunchRefused("Ask for the estimate first and launch on its word, or say unconfirmed: true.")


def refuse_unshown(provider: str, word: str) -> None:
    """The same for pages, which show the estimate before they take the launch. Raises LaunchRefused."""
    if provider == Build.Provider.LIVE and not word:
        raise LaunchRefused("What this costs was not shown yet: look at it, then launch.")


def load_launch_estimate(build: Build) -> Estimate | None:
    """The estimate that the build was launched on; None where there is none, or another release wrote it."""
    return parse_stored_estimate(build.estimate)


def load_expected_estimate(build: Build) -> Estimate | None:
    """The estimate that the build was launched on, and those of the extensions that came to something."""
    found = load_launch_estimate(build)
    if found is None:
        return None
    went = (Extension.State.CANARY, Extension.State.OPENED)
    opened = Extension.objects.filter(build=build, state__in=went)
    more = (parse_stored_estimate(data) for data in opened.values_list("estimate", flat=True))
    return reduce(Estimate.plus, filter(None, more), found)


def parse_stored_estimate(data: object) -> Estimate | None:
    try:
        return Estimate.from_json(data) if data else None
    except ValidationError:
        return None


def format_estimate_line(found: Estimate) -> str:
    """The estimate in one line, for the build's history."""
    calls, cost = found.calls, found.cost
    money = "no price"
    if cost is not None:
        money = f"${cost.expected / 1e9:,.4g} (${cost.low / 1e9:,.4g} to ${cost.high / 1e9:,.4g})"
    asked = f"{count_noun(round(calls.expected), 'call')} ({calls.low:,.0f} to {calls.high:,.0f})"
    rounds = "" if found.rounds == 1 else f" × {found.rounds} rounds"
    return f"{count_noun(found.pairs, 'pair')}{rounds}, {asked}, {money}"
