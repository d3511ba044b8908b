"""What a build will take, before it is launched, and what it took, beside each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from django.contrib.humanize.templatetags.humanize import intcomma

from annotation.estimating.confirming import expected, signed
from annotation.estimating.figures import Basis, Estimate, Range, StageEstimate
from annotation.estimating.making import AGENTS
from annotation.launching import Order
from annotation.models import AgentBill, Build, Tally
from annotation.models.builds import NANO
from annotation.pages.money import project_cap
from annotation.pages.words import WORKERS, Sign, Tone, dollars
from annotation.screening import first_agent
from annotation.stages import Stage

SOURCES: Final = {
    "counted": "counted in these collections",
    "measured": "measured in earlier builds",
    "paper": "as reported in the paper",
    "assumed": "assumed",
}
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


@dataclass(frozen=True)
class Row:
    """One stage of an estimate, or all of them; `cost` is None without a price."""

    name: str
    who: str
    calls: Figure
    input_tokens: Figure
    output_tokens: Figure
    cost: Figure | None


@dataclass(frozen=True)
class Told:
    """One figure that the estimate rests on, and where it comes from, in words."""

    basis: Basis
    source: str


@dataclass(frozen=True)
class Warned:
    """What should be thought of before launching; `tone` is the banner's."""

    tone: Tone
    words: str


@dataclass(frozen=True)
class EstimatePage:
    """The page that asks whether to launch. `word` confirms this very estimate."""

    order: Order
    estimate: Estimate
    rows: tuple[Row, ...]
    total: Row
    a_pair: Figure | None
    told: tuple[Told, ...]
    warnings: tuple[Warned, ...]
    cap: str
    word: str
    notice: str


@dataclass(frozen=True)
class Compared:
    """One figure of a build: what was expected, what came of it, and how the two stand."""

    name: str
    expected: Figure
    actual: str
    share: str
    sign: Sign


@dataclass(frozen=True)
class Comparison:
    """A build's estimate against what it took so far, all in all and by stage."""

    estimate: Estimate
    rows: tuple[Compared, ...]
    stages: tuple[Compared, ...]


def estimate_page(order: Order, found: Estimate, notice: str = "") -> EstimatePage:
    """The page of an estimate; `notice` says why an earlier one was not launched on."""
    rows, total = table(found)
    return EstimatePage(
        order=order,
        estimate=found,
        rows=rows,
        total=total,
        a_pair=a_pair(found),
        told=tuple(Told(basis, SOURCES[basis.source]) for basis in found.basis),
        warnings=warnings(order, found),
        cap="no cap" if order.budget is None else dollars(int(order.budget * NANO)),
        word=signed(order, found),
        notice=notice,
    )


def table(found: Estimate) -> tuple[tuple[Row, ...], Row]:
    """The stages of an estimate, and all of them together."""
    total = StageEstimate("", found.calls, found.input_tokens, found.output_tokens, found.cost)
    return tuple(row(stage) for stage in found.stages), row(total)


def a_pair(found: Estimate) -> Figure | None:
    """Dollars for each pair; None without a price, or without pairs."""
    if found.cost is None or not found.pairs:
        return None
    return figure(found.cost * Range.of(1 / found.pairs), money)


def row(stage: StageEstimate) -> Row:
    return Row(
        name=stage.stage.replace("_", " ") or "all stages",
        who=WORKERS.get(stage.stage, ""),
        calls=figure(stage.calls),
        input_tokens=figure(stage.input_tokens),
        output_tokens=figure(stage.output_tokens),
        cost=None if stage.cost is None else figure(stage.cost, money),
    )


def figure(found: Range, said: Callable[[float], str] | None = None) -> Figure:
    said = said or number
    return Figure(said(found.expected), said(found.low), said(found.high))


def number(found: float) -> str:
    """A whole number, and no more digits than an estimate is worth."""
    if found >= 1000:
        digits = len(str(int(found))) - 3
        found = round(found / 10**digits) * 10**digits
    return str(intcomma(round(found)))


def money(found: float) -> str:
    return dollars(round(found))


def warnings(order: Order, found: Estimate) -> tuple[Warned, ...]:
    """What is wrong with the money, the worst first, and with the rounds."""
    return (*money_warnings(order, found), *round_warnings(order))


def round_warnings(order: Order) -> tuple[Warned, ...]:
    if not order.rounds_may_be_alike:
        return ()
    words = "At temperature 0 a provider may answer every round alike: that is paid, and says little."
    return (Warned("warn", words),)


def money_warnings(order: Order, found: Estimate) -> tuple[Warned, ...]:
    if found.cost is None:
        words = f"What {order.model} costs is not known: nothing will be counted, and no cap can hold."
        return (Warned("warn", words),)
    return cap_warnings(order, found.cost) + project_warnings(found.cost)


def project_warnings(cost: Range) -> tuple[Warned, ...]:
    """What the cap that all live builds share says to it."""
    left = project_cap().left
    if left is None or cost.high <= left:
        return ()
    under = f"what is left under the project's cap, {money(left)}"
    if cost.expected > left:
        return (Warned("bad", f"This is above {under}: the build would pause before it is done."),)
    return (Warned("warn", f"At the most this is above {under}: the build may pause before it is done."),)


def cap_warnings(order: Order, cost: Range) -> tuple[Warned, ...]:
    if order.budget is None:
        return (Warned("warn", "The build has no cap: nothing stops it but you."),)
    cap = float(order.budget * NANO)
    if cost.expected > cap:
        words = f"This is above your cap of {money(cap)}: the build would pause before it is done."
        return (Warned("bad", words),)
    if cost.high > cap:
        words = f"At the most this is above your cap of {money(cap)}: the build may pause before it is done."
        return (Warned("warn", words),)
    return ()


def comparison(build: Build, tally: Tally) -> Comparison | None:
    """Estimate against actual, with extensions; None where the build was not estimated."""
    found = expected(build)
    if found is None:
        return None
    whole = StageEstimate("", found.calls, found.input_tokens, found.output_tokens, found.cost)
    return Comparison(found, figures(build, whole, tally), by_stage(build, found))


def by_stage(build: Build, found: Estimate) -> tuple[Compared, ...]:
    """Each stage against the bill of the agent that is asked there; nobody was asked where there is none."""
    bills = {bill.agent: bill for bill in AgentBill.objects.filter(build=build)}
    agents = {stage.value: agent for stage, agent in AGENTS.items()}
    agents[Stage.SCREENING.value] = first_agent(build.annotator)
    told = ((stage, agents.get(stage.stage, stage.stage)) for stage in found.stages)
    return tuple(
        row
        for stage, agent in told
        for row in figures(build, stage, bills.get(agent) or AgentBill(build=build, agent=agent))
    )


def figures(build: Build, found: StageEstimate, took: Tally | AgentBill) -> tuple[Compared, ...]:
    """Calls, tokens and dollars of one stage, or of all of them."""

    def row(what: str, estimated: Range, actual: int) -> Compared:
        return compared(build, name_of(found.stage, what), estimated, actual, number, exact)

    rows = (
        row("Calls", found.calls, took.calls),
        row("Tokens in", found.input_tokens, took.input_tokens),
        row("Tokens out", found.output_tokens, took.output_tokens),
    )
    if found.cost is None:
        return rows
    spent = compared(build, name_of(found.stage, "Dollars"), found.cost, took.spent, money, money)
    return (*rows, spent)


def name_of(stage: str, what: str) -> str:
    return f"{stage.replace('_', ' ')}: {what.lower()}" if stage else what


def exact(found: float) -> str:
    return str(intcomma(int(found)))


def compared(
    build: Build,
    name: str,
    found: Range,
    actual: int,
    estimated: Callable[[float], str],
    counted: Callable[[float], str],
) -> Compared:
    share = f"{100 * actual / found.expected:.0f} %" if found.expected else "–"
    return Compared(name, figure(found, estimated), counted(actual), share, stands(build, found, actual))


def stands(build: Build, found: Range, actual: int) -> Sign:
    """Where the actual figure lies; before the end only that it is above can be said for good."""
    if actual > found.high:
        return ABOVE
    if not build.is_over:
        return SO_FAR
    return WITHIN if actual >= found.low else BELOW
