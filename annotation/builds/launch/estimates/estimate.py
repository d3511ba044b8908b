"""An estimate of an order: pairs × shares × tokens × price, stage by stage."""

from __future__ import annotations

from collections.abc import Mapping

from django.core.cache import cache
from django.utils import timezone

from annotation.agents import (
    arbiter,
    fixer,
    neighbour_writer,
    screener,
    single_llm,
    test_writer,
    tie_breaker,
)
from annotation.builds.drift import watched_pairs
from annotation.builds.drift.questions import AGENT
from annotation.builds.launch.estimates import experience
from annotation.builds.launch.estimates.experience import Experience
from annotation.builds.launch.estimates.figures import (
    NOTHING,
    Basis,
    Estimate,
    PriceUsed,
    Range,
    StageEstimate,
)
from annotation.builds.launch.estimates.tokens import (
    Counter,
    Prompts,
    candidates_of_a_request,
    first_agent,
    prompts_of,
)
from annotation.builds.launch.launcher import pairs_a_query
from annotation.builds.launch.order import CRITERIA, Order
from annotation.builds.launch.prices import price_of_order
from annotation.builds.pipeline.llm_calls import BY_BATCH
from annotation.models import Price
from annotation.stages import Stage
from retrieval.collections import filter_steps
from retrieval.mining import search_scope
from retrieval.models import Annotator

AGENTS: Mapping[Stage, str] = {
    Stage.SCREENING: screener.NAME,
    Stage.READING: single_llm.NAME,
    Stage.WRITING_TEST: test_writer.NAME,
    Stage.FIXING: fixer.NAME,
    Stage.ARBITRATING: arbiter.NAME,
    Stage.TIE_BREAKING: tie_breaker.NAME,
}


def estimate_order(order: Order, counter: Counter | None = None, start: Stage = Stage.SCREENING) -> Estimate:
    """What `order` will take; `counter` is the provider's own, where it has one.

    `start` is where its cases begin: from a later stage on all of them are tested, and the stages before it
    cost nothing.

    What another build has asked of the same model already costs nothing, and prompt caching may make calls
    cheaper: neither is counted on.
    """
    price = price_of_order(order)
    known = experience.of_model(order.model, kind_of(order))
    prompts = prompts_of(order, counter)
    candidates, queries = pairs_a_query(order), passing_queries(order)
    whole = order.given.size if order.given else queries * candidates
    pairs = min(whole, order.limit or whole)
    calls = estimate_stage_calls(order, pairs, known, start)
    inputs, together = inputs_of(prompts, known), Range.of(candidates_of_a_request(order))
    outputs = {**known.outputs, screener.NAME: verdict_of(order, known) * together}
    return Estimate(
        pairs=pairs,
        queries=queries,
        candidates=candidates,
        stages=tuple(
            stage_of(stage, calls[stage], inputs[agent], outputs[agent], price, share_of_price(order, stage))
            for stage, agent in AGENTS.items()
        )
        + neighbour_of(calls, inputs, outputs, order, price)
        + drift_of(order, pairs, prompts, known, price),
        price=price_used(price),
        basis=(
            *scope_basis(order),
            prompts.basis,
            evidence_basis(known),
            *known.basis,
            *programs_basis(order),
            *batch_basis(order),
        ),
        made_at=timezone.now(),
        rounds=order.rounds,
    )


def passing_queries(order: Order) -> int:
    """How many queries pass the order's rule of queries; counted once for as many members."""
    if order.given is not None:
        return order.given.asked
    if not order.query_rule:
        return order.queries.size
    found = order.queries
    key = f"passing:{found.pk}.{found.created_at:%s%f}.{found.size}.{int(order.query_rule)}"
    rule = order.query_rule
    return int(cache.get_or_set(key, lambda: len(filter_steps.find_query_positions(found, rule))) or 0)


def scope_basis(order: Order) -> tuple[Basis, ...]:
    """Which functions are searched, and which are not."""
    if order.given is not None:
        return ()
    found = search_scope.count_search_scope(order.snippets, order.rule)
    figure = f"{found.searched:,} of {found.size:,}"
    return (Basis("Functions that are searched", figure, "counted", f"{found}."),)


def kind_of(order: Order) -> Annotator.Kind:
    return Annotator.Kind.SINGLE_LLM if order.annotator in CRITERIA else Annotator.Kind.AGENTS


def verdict_of(order: Order, known: Experience) -> Range:
    """Tokens of what the first stage replies of one candidate."""
    return known.outputs.get(first_agent(order), known.outputs[screener.NAME])


def estimate_stage_calls(order: Order, pairs: int, known: Experience, start: Stage) -> dict[Stage, Range]:
    """Calls of each stage, in all rounds."""
    cases = pairs * order.rounds
    asked = Range.of(cases / candidates_of_a_request(order))
    unclear = known.unclear if start is Stage.SCREENING else Range.of(1)
    tested = NOTHING if order.annotator in CRITERIA else Range.of(cases) * unclear
    rounds = Range(1, 1, order.fix_rounds * tests_of(order))
    programs = Range(1, 1, programs_of(order))
    read = tested * known.again if order.reader else NOTHING
    calls = {
        Stage.SCREENING: asked * known.again,
        Stage.READING: read,
        Stage.WRITING_TEST: tested * known.again * programs,
        Stage.FIXING: tested * known.fixing * rounds if order.fix_rounds else NOTHING,
        Stage.ARBITRATING: tested * known.again,
        Stage.TIE_BREAKING: read * known.disputed,
    }
    later = list(Stage)[list(Stage).index(start) :]
    calls = {stage: found if stage in later else NOTHING for stage, found in calls.items()}
    if start is Stage.TIE_BREAKING:  # the cases of a sound test decide without a third judge
        calls[Stage.TIE_BREAKING] = tested * Range(0, 1, 1)
    if start is Stage.EXECUTING and order.second_test:  # a program that is there may test nothing
        calls[Stage.WRITING_TEST] = tested * known.again * Range(0, 0, 1 + order.rewrites)
    return calls


def neighbour_of(
    calls: Mapping[Stage, Range],
    inputs: Mapping[str, Range],
    outputs: Mapping[str, Range],
    order: Order,
    price: Price | None,
) -> tuple[StageEstimate, ...]:
    """The line of the neighbour writer, who is asked once for each pair that gets a test."""
    written = calls[Stage.WRITING_TEST]
    if not order.neighbour or not written.expected:
        return ()
    agent = neighbour_writer.NAME
    asked = Range(written.low, written.low, written.low) if written.low else written
    share = share_of_price(order, Stage.WRITING_TEST)
    return (stage_of(agent, asked, inputs[agent], outputs[agent], price, share),)


def tests_of(order: Order) -> int:
    """How many tests a pair can come to."""
    return 2 if order.second_test else 1


def programs_of(order: Order) -> int:
    """How many programs the writer can be asked for about a pair: each test may go back to it."""
    return (1 + order.rewrites) * tests_of(order)


def programs_basis(order: Order) -> tuple[Basis, ...]:
    most = programs_of(order)
    if most == 1 or order.annotator in CRITERIA:
        return ()
    again = "a program that redefines its candidate goes back" if order.rewrites else ""
    second = "one that tested nothing is followed by another" if order.second_test else ""
    note = f"At the most: {', and '.join(filter(None, (again, second)))}."
    return (Basis("Programs of a tested pair", f"1 (1 to {most})", "assumed", note),)


def drift_of(
    order: Order, pairs: int, prompts: Prompts, known: Experience, price: Price | None
) -> tuple[StageEstimate, ...]:
    """The line of the drift check, where one is ordered and the build is long enough for one."""
    asked = watched_pairs.count_drift_calls(pairs) if order.drift_check else 0
    if not asked:
        return ()
    calls = Range.of(asked) * known.again
    return (stage_of(AGENT, calls, prompts.tokens[AGENT], known.outputs[screener.NAME], price),)


def inputs_of(prompts: Prompts, known: Experience) -> dict[str, Range]:
    """Input tokens of one call of each agent: the prompt, and for two of them program and report."""
    empty = {agent: prompts.tokens.get(agent, NOTHING) for agent in AGENTS.values()}
    neighbour = prompts.tokens.get(neighbour_writer.NAME, NOTHING)
    return {
        **empty,
        neighbour_writer.NAME: neighbour,
        fixer.NAME: empty[fixer.NAME] + estimate_evidence_tokens(empty, known, fixer.NAME),
        arbiter.NAME: empty[arbiter.NAME] + estimate_evidence_tokens(empty, known, arbiter.NAME),
        tie_breaker.NAME: empty[tie_breaker.NAME]
        + experience.REPORT
        + known.outputs[arbiter.NAME] * Range.of(2),
    }


def estimate_evidence_tokens(empty: Mapping[str, Range], known: Experience, agent: str) -> Range:
    """Tokens of program and report in a call of `agent`: measured, or a program and a report of usual length.

    Earlier builds had other pairs, so the arbiter's prompt is taken for as much longer than the screener's as
    it was there, beyond what its own rules make it longer.
    """
    usual = known.outputs[test_writer.NAME] + experience.REPORT
    if agent not in known.inputs:
        return usual
    found = known.inputs[agent] - empty[agent].expected
    if agent == arbiter.NAME:
        if screener.NAME not in known.inputs:
            return usual
        found -= known.inputs[screener.NAME] - empty[screener.NAME].expected
    return experience.widen_range(Range.of(max(found, 0.0)))


def evidence_basis(known: Experience) -> Basis:
    what = "Program and report, as the arbiter reads them"
    if arbiter.NAME in known.inputs and screener.NAME in known.inputs:
        return Basis(what, "as in earlier builds", "measured")
    report = experience.REPORT
    words = f"{report.expected:.0f} tokens ({report.low:.0f} to {report.high:,.0f})"
    return Basis(
        what, f"a reply of the test writer and {words}", "assumed", "They exist only once a program has run."
    )


def share_of_price(order: Order, stage: Stage) -> float:
    """What is paid of the usual price."""
    return 0.5 if order.batches and stage in BY_BATCH else 1.0


def batch_basis(order: Order) -> tuple[Basis, ...]:
    if not order.batches:
        return ()
    note = (
        "Screener and test writer; what comes back without a reply twice is asked live, at the whole price."
    )
    return (Basis("Price of a batch", "half", "assumed", note),)


def stage_of(
    stage: str, calls: Range, given: Range, said: Range, price: Price | None, share: float = 1.0
) -> StageEstimate:
    """One stage, of whose price `share` is paid."""
    inputs, outputs = calls * given, calls * said
    whole = cost_of(inputs, outputs, price)
    return StageEstimate(stage, calls, inputs, outputs, None if whole is None else whole * Range.of(share))


def cost_of(inputs: Range, outputs: Range, price: Price | None) -> Range | None:
    """Nanodollars; None without a price."""
    if price is None:
        return None
    return Range(
        price.cost(round(inputs.low), round(outputs.low)),
        price.cost(round(inputs.expected), round(outputs.expected)),
        price.cost(round(inputs.high), round(outputs.high)),
    )


def price_used(price: Price | None) -> PriceUsed | None:
    if price is None:
        return None
    return PriceUsed(
        id=price.pk or 0,
        model=price.model,
        effective_from=price.effective_from,
        input=f"{price.input.normalize():f}",
        output=f"{price.output.normalize():f}",
        note=price.note,
        source=price.source,
    )
