"""What writing and checking functions may cost, before anybody is asked."""

from __future__ import annotations

from typing import Final

from django.utils import timezone

from annotation.agents import arbiter, fixer, snippet_writer, test_writer
from annotation.agents.snippet_writer import SnippetInputs
from annotation.builds.launch.estimates import estimate, experience
from annotation.builds.launch.estimates.figures import NOTHING, Basis, Estimate, Range
from annotation.builds.launch.estimates.tokens import (
    FEWEST,
    MOST,
    USUAL,
    count_request_characters,
    prompts_of,
)
from annotation.derived.missing_functions.orders import FillOrder
from annotation.models import Price
from retrieval.models import Text

AGENTS: Final = (snippet_writer.NAME, test_writer.NAME, fixer.NAME, arbiter.NAME)
OUTPUT: Final = Range(150, 300, 900)
"""Tokens of a reply of the writer: a function of 10 to 60 lines and its explanation. Not measured yet."""
DENIED: Final = Range(0.0, 0.15, 1.0)
"""The share of functions that are denied and written anew: at the most all of them, as often as allowed."""
SAMPLE: Final = 50


def estimate_writing_cost(order: FillOrder, queries: list[int]) -> Estimate:
    """What `order` will take for `queries` (ids of texts). What is cached already is not counted on."""
    price = Price.objects.at(order.model, timezone.now())
    known = experience.of_model(order.model)
    prompts = prompts_of(order.whole)
    written = Range.of(len(queries)) * (Range.of(1.0) + DENIED * Range.of(order.tries - 1.0))
    inputs = {**estimate.inputs_of(prompts, known), snippet_writer.NAME: input_tokens(order, queries)}
    outputs = {**known.outputs, snippet_writer.NAME: OUTPUT}
    rounds = Range(1, 1, order.whole.fix_rounds) if order.whole.fix_rounds else NOTHING
    calls = dict.fromkeys(AGENTS, written * known.again)
    calls[fixer.NAME] = written * known.fixing * rounds
    return Estimate(
        pairs=len(queries),
        queries=len(queries),
        candidates=1,
        stages=tuple(
            estimate.stage_of(agent, calls[agent], inputs[agent], outputs[agent], price) for agent in AGENTS
        ),
        price=estimate.price_used(price),
        basis=(prompts.basis, *known.basis, DENIED_BASIS),
        made_at=timezone.now(),
    )


DENIED_BASIS: Final = Basis(
    "Functions that are denied and written again", "15 % (0 % to 100 %)", "assumed", "Nobody has measured it."
)


def input_tokens(order: FillOrder, queries: list[int]) -> Range:
    """Of one call of the writer: its rules, a query, and snippets of usual length that did not match."""
    drawn = Text.objects.filter(pk__in=queries[:SAMPLE])
    longest = max((text.size for text in drawn), default=0)
    empty = count_request_characters(
        snippet_writer.build_snippet_request(SnippetInputs("x" * longest), order.model)
    )
    snippet = 600.0  # CoSQA's functions have 400 to 800 characters on the average
    return (Range.of(empty) + Range(0.0, 3 * snippet, 6 * snippet)) * Range(1 / MOST, 1 / USUAL, 1 / FEWEST)
