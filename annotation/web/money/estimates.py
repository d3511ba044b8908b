"""What a build will take, before it is launched, and what it took, beside each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from django.contrib.humanize.templatetags.humanize import intcomma

from annotation.builds.launch.estimates.confirmation import load_expected_estimate, sign_estimate
from annotation.builds.launch.estimates.estimate import AGENTS
from annotation.builds.launch.estimates.figures import Basis, Estimate, Range, StageEstimate
from annotation.builds.launch.launcher import lacks_key
from annotation.builds.launch.order import Order
from annotation.builds.launch.provider_key import name_key_variables
from annotation.builds.pipeline.screening import first_agent
from annotation.models import AgentBill, Build, Tally
from annotation.models.builds.build import NANO
from annotation.stages import Stage
from annotation.web.money.page import project_cap
from annotation.web.shared.words import WORKERS, Sign, Tone, format_cost, format_dollars
from retrieval.mining.search_scope import SearchScope, count_search_scope

SOURCES: Final = {
    "counted": "counted in these collections",
    "measured": "measured in earlier builds",
    "paper": "as reported in the paper",
    "assumed": "assumed",
}
NO_KEY: Final = (
    "No key is set, so this estimate cannot be launched yet. Set {} and start again. "
    "Tokens were counted on this machine."
)
BELOW: Final = Sign("↓", "below the range", "info")
WITHIN: Final = Sign("✓", "within the range", "good")
ABOVE: Final = Sign("!", "above the range", "warn")
SO_FAR: Final = Sign("…", "so far", "quiet")


@dataclass(frozen=True)
class Figure:
    """A range in words."""

    expected: str
    low: str
    high: str


EstimateRow = dict[str, Any]
"""One stage of an estimate, or all of them; `cost` is None without a price."""


@dataclass(frozen=True)
class Warned:
    """What should be thought of before launching; `tone` is the banner's."""

    tone: Tone
    words: str


@dataclass(frozen=True)
class Priced:
    """An estimate on any page that asks whether to launch. `word` confirms this very estimate."""

    estimate: Estimate
    warnings: tuple[Warned, ...]
    word: str

    @cached_property
    def table(self) -> tuple[list[EstimateRow], EstimateRow]:
        """Its stages, and all of them together."""
        return build_estimate_table(self.estimate)

    @property
    def told(self) -> list[tuple[Basis, str]]:
        """Each figure that it rests on, and where it comes from, in words."""
        return [(basis, SOURCES[basis.source]) for basis in self.estimate.basis]


@dataclass(frozen=True)
class EstimatePage(Priced):
    """The page that asks whether to launch an order."""

    order: Order
    a_pair: Figure | None
    cap: str
    notice: str
    scope: SearchScope | None = None
    """Which functions are searched; None where the pairs are given."""

    @property
    def can_launch(self) -> bool:
        """Whether a key is set, where the provider wants one."""
        return not lacks_key()


def estimate_page(order: Order, found: Estimate, notice: str = "") -> EstimatePage:
    """The page of an estimate; `notice` says why an earlier one was not launched on."""
    return EstimatePage(
        order=order,
        estimate=found,
        a_pair=a_pair(found),
        warnings=find_estimate_warnings(order, found),
        cap="no cap" if order.budget is None else format_dollars(int(order.budget * NANO)),
        word=sign_estimate(order, found),
        notice=notice,
        scope=None if order.given else count_search_scope(order.snippets, order.rule),
    )


def build_estimate_table(found: Estimate) -> tuple[list[EstimateRow], EstimateRow]:
    """The stages of an estimate, and all of them together."""
    return [build_estimate_row(stage) for stage in found.stages], build_estimate_row(sum_of_stages(found))


def sum_of_stages(found: Estimate) -> StageEstimate:
    return StageEstimate("", found.calls, found.input_tokens, found.output_tokens, found.cost)


def a_pair(found: Estimate) -> Figure | None:
    """Dollars for each pair; None without a price, or without pairs."""
    if found.cost is None or not found.pairs:
        return None
    return build_range_figure(found.cost * Range.of(1 / found.pairs), format_cost)


def build_estimate_row(stage: StageEstimate) -> EstimateRow:
    return {
        "name": stage.stage.replace("_", " ") or "all stages",
        "who": WORKERS.get(stage.stage, ""),
        "calls": build_range_figure(stage.calls),
        "input_tokens": build_range_figure(stage.input_tokens),
        "output_tokens": build_range_figure(stage.output_tokens),
        "cost": None if stage.cost is None else build_range_figure(stage.cost, format_cost),
    }


def format_rounded_number(found: float) -> str:
    """A whole number, and no more digits than an estimate is worth."""
    if found >= 1000:
        digits = len(str(int(found))) - 3
        found = round(found / 10**digits) * 10**digits
    return str(intcomma(round(found)))


def build_range_figure(found: Range, said: Callable[[float], str] = format_rounded_number) -> Figure:
    return Figure(said(found.expected), said(found.low), said(found.high))


def find_estimate_warnings(order: Order, found: Estimate) -> tuple[Warned, ...]:
    """What is wrong with the key and the money, the worst first, and with the rounds."""
    if lacks_key():
        return (Warned("info", NO_KEY.format(name_key_variables())), *money_warnings(order, found))
    return money_warnings(order, found)


def money_warnings(order: Order, found: Estimate) -> tuple[Warned, ...]:
    """The same of the money and the rounds."""
    if found.cost is None:
        words = f"What {order.model} costs is not known: nothing will be counted, and no cap can hold."
        money: tuple[Warned, ...] = (Warned("warn", words),)
    else:
        money = cap_warnings(order, found.cost) + project_warnings(found.cost)
    if not order.rounds_may_be_alike:
        return money
    alike = "At temperature 0 a provider may give the same answer in every round: you pay, and learn little."
    return (*money, Warned("warn", alike))


def project_warnings(cost: Range) -> tuple[Warned, ...]:
    """What the cap that all live builds share says to it."""
    left = project_cap().left
    if left is None or cost.high <= left:
        return ()
    under = f"what is left under the project's cap, {format_cost(left)}"
    if cost.expected > left:
        return (Warned("bad", f"This is above {under}: the build would pause before it is done."),)
    return (Warned("warn", f"At most this is above {under}: the build may pause before it is done."),)


def cap_warnings(order: Order, cost: Range) -> tuple[Warned, ...]:
    if order.budget is None:
        return (Warned("warn", "The build has no cap: only you can stop it."),)
    cap = float(order.budget * NANO)
    if cost.expected > cap:
        words = f"This is above your cap of {format_cost(cap)}: the build would pause before it is done."
        return (Warned("bad", words),)
    if cost.high > cap:
        words = (
            f"At most this is above your cap of {format_cost(cap)}: the build may pause before it is done."
        )
        return (Warned("warn", words),)
    return ()


def compare_build_estimate(build: Build, tally: Tally) -> dict[str, Any] | None:
    """Estimate against actual, with extensions; None where the build was not estimated."""
    found = load_expected_estimate(build)
    if found is None:
        return None
    rows = compare_stage_figures(build, sum_of_stages(found), tally)
    return {"estimate": found, "rows": rows, "stages": by_stage(build, found)}


def by_stage(build: Build, found: Estimate) -> list[dict[str, Any]]:
    """Each stage against the bill of the agent that is asked there; nobody was asked where there is none."""
    bills = {bill.agent: bill for bill in AgentBill.objects.filter(build=build)}
    agents = {stage.value: agent for stage, agent in AGENTS.items()}
    agents[Stage.SCREENING.value] = first_agent(build.annotator)
    rows = []
    for stage in found.stages:
        agent = agents.get(stage.stage, stage.stage)
        took = bills.get(agent) or AgentBill(build=build, agent=agent)
        rows += compare_stage_figures(build, stage, took)
    return rows


def compare_stage_figures(
    build: Build, found: StageEstimate, took: Tally | AgentBill
) -> list[dict[str, Any]]:
    """Calls, tokens and dollars of one stage, or of all of them: what was expected, and what came of it."""
    counted = [
        ("Calls", found.calls, took.calls),
        ("Tokens in", found.input_tokens, took.input_tokens),
        ("Tokens out", found.output_tokens, took.output_tokens),
    ]
    rows = [
        compare_figure(build, found.stage, *figure, format_rounded_number, "{:,.0f}".format)
        for figure in counted
    ]
    if found.cost is not None:
        money = "Dollars", found.cost, took.spent, format_cost, format_cost
        rows.append(compare_figure(build, found.stage, *money))
    return rows


def compare_figure(
    build: Build,
    stage: str,
    what: str,
    expected: Range,
    actual: int,
    estimated: Callable[[float], str],
    counted: Callable[[float], str],
) -> dict[str, Any]:
    return {
        "name": f"{stage.replace('_', ' ')}: {what.lower()}" if stage else what,
        "expected": build_range_figure(expected, estimated),
        "actual": counted(actual),
        "share": f"{100 * actual / expected.expected:.0f} %" if expected.expected else "–",
        "sign": locate_actual_figure(build, expected, actual),
    }


def locate_actual_figure(build: Build, found: Range, actual: int) -> Sign:
    """Where the actual figure lies; before the end only that it is above can be said for good."""
    if actual > found.high:
        return ABOVE
    if not build.is_over:
        return SO_FAR
    return WITHIN if actual >= found.low else BELOW
