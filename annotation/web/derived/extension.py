"""The page on which somebody decides whether a build is extended, and its extensions on its own page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from django import forms
from django.http import QueryDict
from django.urls import reverse

from annotation.builds.launch.estimates.figures import Estimate
from annotation.builds.limits.canary import canary_of_extension, is_large
from annotation.derived.extension import chances, extension_plan
from annotation.derived.extension.chances import Chance, NextCandidate
from annotation.derived.extension.extension_plan import ExtensionPlan
from annotation.derived.extension.reach import (
    Reach,
    count_passing_snippets,
    measure_build_reach,
    snippets_end,
)
from annotation.models import Build, Extension
from annotation.schemas.derived.derived_builds import ExtensionWish
from annotation.web.derived.offer import DecisionForm, DerivedPage, Fact, Shown, build_offer
from annotation.web.money.embedding_costs import list_embedding_costs
from annotation.web.money.estimates import Warned, build_range_figure
from annotation.web.money.page import Cap, CapForm, cap_of
from annotation.web.shared.forms import schema_field
from annotation.web.shared.words import Sign, format_cost, format_dollars
from retrieval.metrics.resampling import FEW
from retrieval.models import Mining
from retrieval.texts.plurals import count_noun

ALL_RANKS: Final = 25
SOME: Final = 12
SIGNS: Final = {
    Extension.State.MINING: Sign("…", "its pairs are mined", "info"),
    Extension.State.CANARY: Sign("?", "at its canary", "info"),
    Extension.State.LEFT: Sign("■", "left after its canary"),
    Extension.State.OPENED: Sign("✓", "its pairs are in the build", "good"),
    Extension.State.CANCELLED: Sign("■", "cancelled"),
    Extension.State.FAILED: Sign("!", "failed", "bad"),
}
wish_field = partial(schema_field, ExtensionWish)


class WishForm(forms.Form):
    """What to add to a build; what is left empty stays as it is."""

    k = wish_field("k", "Functions for each query.", label="k")
    queries = wish_field("queries", label="More queries")
    seed = wish_field("seed", "Of the draw.")
    newer = wish_field("newer", label="Functions added since then")

    def __init__(self, wished: QueryDict | None, build: Build, has: Reach | None) -> None:
        super().__init__(wished, initial={"k": has.k if has else None})
        left = build.queries.size - len(has.queries) if has else 0
        added = count_passing_snippets(build, snippets_end(build)) - has.passing if has else 0
        self.fields[
            "queries"
        ].help_text = (
            f"Drawn from the {count_noun(left, 'query', 'queries')} of the collection not in the build."
        )
        self.fields["newer"].help_text = (
            "Mine all queries again among what the collection has now: "
            f"{count_noun(added, 'snippet')} more that the rule lets pass. "
            "Another collection is another build, or is imported into this one."
        )

    def wish(self) -> ExtensionWish:
        """The wish of a valid form."""
        values = self.cleaned_data
        return ExtensionWish(**{name: value for name, value in values.items() if value is not None})


class ExtendForm(CapForm, DecisionForm):
    """The decision, and another cap beside it."""


@dataclass(frozen=True)
class ExtendPage(DerivedPage[ExtensionPlan]):
    """Everything that the decision rests on; `refused` says why the build can't be extended now."""

    build: Build
    refused: str
    reach: Reach | None
    chances: tuple[Chance, ...]
    next: NextCandidate | None
    cap: Cap
    extensions: list[dict[str, Any]]

    @property
    def is_few(self) -> bool:
        """Whether too few pairs are behind the last chance."""
        return self.next is not None and self.next.chance.whole < FEW

    @property
    def may_have_no_canary(self) -> bool:
        """Whether so few pairs may be new that there is no canary after all."""
        return self.offer is not None and not is_large(round(self.offer.plan.pairs.low))


def extend_page(build: Build, wished: QueryDict | None, decided: Any = None) -> ExtendPage:
    """The page, with an offer where something is `wished`; else its form says what is wrong."""
    refused = extension_plan.why_not(build)
    has = None if refused else measure_build_reach(build)
    found, cap = chances.by_rank(build), cap_of(build.tally)
    form = WishForm(wished, build, has)
    return ExtendPage(
        address=reverse("build-extend", args=[build.pk]),
        form=form,
        decision=ExtendForm(decided, cap),
        offer=build_offer(
            form,
            lambda: extension_plan.plan_extension(build, form.wish()),
            lambda plan: show_extension_plan(plan, cap),
            lambda plan, price: list_cap_warnings(price, cap),
        ),
        build=build,
        refused=refused,
        reach=has,
        chances=some_of(found),
        next=chances.next_candidate(build, found),
        cap=cap,
        extensions=list_build_extensions(build),
    )


def show_extension_plan(plan: ExtensionPlan, cap: Cap) -> Shown:
    mined = f"{count_noun(len(plan.searched), 'query', 'queries')} mined"
    own = "no cap" if cap.cap is None else format_dollars(cap.cap)
    return Shown(
        size=Fact("New pairs", describe_extension_plan(plan), mined, "new-pairs"),
        cap=Fact("Cap", own, f"{format_dollars(cap.spent)} spent"),
        button="Extend the build",
        told=(Fact("Added", plan.words),),
    )


def describe_extension_plan(plan: ExtensionPlan) -> str:
    """How many pairs will be new, in words."""
    found = build_range_figure(plan.pairs)
    if plan.pairs.low == plan.pairs.high:
        return found.expected
    return f"about {found.expected}, {found.low} to {found.high}"


def list_cap_warnings(found: Estimate, cap: Cap) -> tuple[Warned, ...]:
    """What the build's cap says to the price."""
    if found.cost is None or cap.left is None or found.cost.high <= cap.left:
        return ()
    surely = found.cost.expected > cap.left
    words = (
        f"{'This' if surely else 'At most this'} is above what is left under the cap, {format_cost(cap.left)}"
    )
    return (
        Warned("bad" if surely else "warn", f"{words}: raise the cap here, or the build will pause there."),
    )


def some_of(found: tuple[Chance, ...]) -> tuple[Chance, ...]:
    """All ranks where they are few, else the first and some of the later ones, always with the last."""
    if len(found) <= ALL_RANKS:
        return found
    rest = found[SOME:]
    step = -(-len(rest) // SOME)
    return found[:SOME] + rest[::-1][::step][::-1]


def list_build_extensions(build: Build) -> list[dict[str, Any]]:
    """The build's extensions, the last first, each with its sign and what its mining asked of servers.

    `canary` is there once the pairs of it are drawn; of one that is `mined` it only waits for the pairs that
    the build had before.
    """
    rows = Extension.objects.filter(build=build).select_related("user", "mining", "canary")
    return [
        {
            "extension": row,
            "sign": SIGNS[Extension.State(row.state)],
            "embedded": list(list_embedding_costs(row.mining)),
            "canary": canary if (canary := canary_of_extension(row)) and canary.drawn else None,
            "is_left": row.state == Extension.State.LEFT,
            "is_pending": row.state == Extension.State.MINING,
            "is_mined": row.mining.state == Mining.State.DONE,
        }
        for row in rows.order_by("-number")
    ]
