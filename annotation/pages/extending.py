"""The page on which somebody decides whether a build is extended, and its extensions on its own page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.http import QueryDict

from annotation.canary import is_large, of_extension
from annotation.estimating.confirming import signed
from annotation.estimating.figures import Estimate
from annotation.extending import chances, wishing
from annotation.extending.chances import Chance, NextCandidate
from annotation.extending.wishing import MOST_K, SEEDS, Plan, Reach, Wish
from annotation.intervals import FEW
from annotation.launching import LaunchRefused
from annotation.models import Build, Extension, ExtensionCanary
from annotation.pages.embedding import Embedded, embedded
from annotation.pages.estimates import Row, Warned, figure, money, table
from annotation.pages.money import Cap, CapForm, cap_of
from annotation.pages.skipping import SkippingForm
from annotation.pages.words import Sign
from annotation.steering import ControlRefused
from annotation.tools import counter
from retrieval.models import Mining

ALL_RANKS: Final = 25
SOME: Final = 12
SIGNS: Final = {
    Extension.State.MINING: Sign("…", "its pairs are mined", "info"),
    Extension.State.CANARY: Sign("?", "at its canary", "info"),
    Extension.State.LEFT: Sign("■", "left after its canary"),
    Extension.State.OPENED: Sign("✓", "its pairs are in the build", "good"),
    Extension.State.CANCELLED: Sign("■", "taken back"),
    Extension.State.FAILED: Sign("!", "failed", "bad"),
}


class WishForm(forms.Form):
    """What to add to a build; what is left empty stays as it is."""

    k = forms.IntegerField(
        required=False, max_value=MOST_K, label="k", help_text="Candidates for each query."
    )
    queries = forms.IntegerField(
        required=False, min_value=0, label="More queries", help_text="Drawn from those not in the build."
    )
    seed = forms.IntegerField(
        required=False, min_value=0, max_value=SEEDS - 1, initial=1, label="Seed", help_text="Of the draw."
    )
    newer = forms.BooleanField(
        required=False,
        label="Snippets that were added since",
        help_text="Mine all queries again among what the collection has now.",
    )

    def wish(self) -> Wish:
        """The wish of a valid form."""
        values = self.cleaned_data
        seed = 1 if values["seed"] is None else values["seed"]
        return Wish(values["k"], values["queries"] or 0, seed, values["newer"])


@dataclass(frozen=True)
class Known:
    """Extensions as pages list them, each with its sign, and what its mining asked of servers."""

    extension: Extension
    sign: Sign
    embedded: tuple[Embedded, ...]

    @property
    def is_pending(self) -> bool:
        return self.extension.state == Extension.State.MINING

    @property
    def is_left(self) -> bool:
        return self.extension.state == Extension.State.LEFT

    @property
    def is_mined(self) -> bool:
        """Whether its canary only waits for the pairs that the build had before."""
        return self.is_pending and self.extension.mining.state == Mining.State.DONE

    @property
    def canary(self) -> ExtensionCanary | None:
        """Its canary, once the pairs of it are drawn."""
        row = of_extension(self.extension)
        return row if row is not None and row.drawn else None


@dataclass(frozen=True)
class Offer:
    """What a wish comes to: new pairs, their price by stage, and the word that confirms it.

    `canary`: how many cases go first, before somebody decides about the others; 0 where there is none.
    """

    plan: Plan
    estimate: Estimate
    pairs: str
    rows: tuple[Row, ...]
    total: Row
    warnings: tuple[Warned, ...]
    word: str
    canary: int

    @property
    def may_have_none(self) -> bool:
        """Whether so few pairs may be new that there is no canary after all."""
        return not is_large(round(self.plan.pairs.low))


class ExtendForm(CapForm, SkippingForm):
    """The decision: another cap, why, and whether the canary is skipped."""

    def __init__(self, data: Any, cap: Cap) -> None:
        super().__init__(data, cap)
        self.fields["skip_canary"].help_text = "All new pairs are then paid for at once."


@dataclass(frozen=True)
class ExtendPage:
    """Everything that the decision rests on; `refused` says why the build can't be extended now."""

    build: Build
    refused: str
    reach: Reach | None
    queries_left: int
    snippets_added: int
    chances: tuple[Chance, ...]
    next: NextCandidate | None
    form: WishForm
    decision: ExtendForm
    cap: Cap
    offer: Offer | None
    extensions: tuple[Known, ...]

    @property
    def is_few(self) -> bool:
        """Whether too few pairs are behind the last chance."""
        return self.next is not None and self.next.chance.whole < FEW


def extend_page(build: Build, wished: QueryDict | None, decided: Any = None) -> ExtendPage:
    """The page, with an offer where something is `wished`; else its form says what is wrong."""
    refused = wishing.why_not(build)
    reach = None if refused else wishing.reach(build)
    found = chances.by_rank(build)
    form = WishForm(wished, initial={"k": reach.k if reach else None})
    cap = cap_of(build.tally)
    return ExtendPage(
        build=build,
        refused=refused,
        reach=reach,
        queries_left=build.queries.size - len(reach.queries) if reach else 0,
        snippets_added=wishing.passing(build, wishing.snippets_end(build)) - reach.passing if reach else 0,
        chances=some_of(found),
        next=chances.next_candidate(build, found),
        form=form,
        decision=ExtendForm(decided, cap),
        cap=cap,
        offer=None if refused else offer(build, form, cap),
        extensions=known(build),
    )


def offer(build: Build, form: WishForm, cap: Cap) -> Offer | None:
    """What the form's wish comes to; where that is nothing the form gets the reason."""
    if not form.is_bound or not form.is_valid():
        return None
    try:
        plan = wishing.plan(build, form.wish())
    except (ControlRefused, LaunchRefused) as why:
        form.add_error(None, str(why))
        return None
    found = wishing.price(build, plan, counter(build.provider, build.model))
    rows, total = table(found)
    word = signed(wishing.order_for(build, plan), found, wishing.about(build, plan))
    first = wishing.canary_of(build, plan)
    return Offer(plan, found, told(plan), rows, total, warnings(found, cap), word, first)


def told(plan: Plan) -> str:
    """How many pairs will be new, in words."""
    found = figure(plan.pairs)
    if plan.pairs.low == plan.pairs.high:
        return found.expected
    return f"about {found.expected}, {found.low} to {found.high}"


def warnings(found: Estimate, cap: Cap) -> tuple[Warned, ...]:
    """What the build's cap says to the price."""
    if found.cost is None or cap.left is None or found.cost.high <= cap.left:
        return ()
    surely = found.cost.expected > cap.left
    words = (
        f"{'This' if surely else 'At the most this'} is above what is left under the cap, {money(cap.left)}"
    )
    return (Warned("bad" if surely else "warn", f"{words}: raise it here, or the build will pause there."),)


def some_of(found: tuple[Chance, ...]) -> tuple[Chance, ...]:
    """All ranks where they are few, else the first and some of the later ones, always with the last."""
    if len(found) <= ALL_RANKS:
        return found
    rest = found[SOME:]
    step = -(-len(rest) // SOME)
    return found[:SOME] + rest[::-1][::step][::-1]


def known(build: Build) -> tuple[Known, ...]:
    """The build's extensions, the last first."""
    rows = (
        Extension.objects.filter(build=build).select_related("user", "mining", "canary").order_by("-number")
    )
    return tuple(Known(row, SIGNS[Extension.State(row.state)], tuple(embedded(row.mining))) for row in rows)
