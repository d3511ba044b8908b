"""How long the agents' prompts are: the real ones, filled with a seeded sample of real pairs, counted.

A counter, the provider's own or a local tokenizer, is asked for a few of them only: the first is limited as
calls are, the second takes its time. What they say of those few, in characters a token, holds for the others.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, Final

from annotation.agents import (
    arbiter,
    fixer,
    neighbour_writer,
    query_screener,
    screener,
    single_llm,
    test_writer,
    tie_breaker,
)
from annotation.agents.query_screener import CompanyInputs
from annotation.builds.drift.questions import AGENT
from annotation.builds.launch.estimates.figures import Basis, Range
from annotation.builds.launch.launcher import pairs_a_query
from annotation.builds.launch.order import CRITERIA, Order
from annotation.builds.pipeline.llm_calls import no_connection
from annotation.llm import LLMError, Request
from annotation.llm.token_counter import CannotCount, count_tokens_locally, file_of
from retrieval.models import Member, PairList

SAMPLE: Final = 50
ASKED: Final = 6
"""So many prompts of each agent are given to a counter."""
AT_ONCE: Final = 6
MOST: Final = 4.3
USUAL: Final = 3.6
FEWEST: Final = 2.8
"""Characters a token, counted locally. The prompts are English with some Python: common tokenizers take 3.6
characters for one token of it, 4.3 where most of it is plain English; some newer ones make 30 % more tokens
of the same text, which is 2.8."""
SURE: Final = 1.96
"""Standard errors on each side of a mean that leave out one mean in twenty."""


@dataclass(frozen=True)
class Counter:
    """What counts the tokens of requests: `count` gives one number each, or raises CannotCount.

    `name` is for people; `otherwise` is asked where this one can't count.
    """

    name: str
    count: Callable[[Sequence[Request]], Sequence[int]]
    note: str = ""
    otherwise: Counter | None = None


@dataclass(frozen=True)
class Prompts:
    """Input tokens of one call of each agent, without the program and the report, which nobody has yet."""

    tokens: Mapping[str, Range]
    basis: Basis


def prompts_of(order: Order, counter: Counter | None = None) -> Prompts:
    """The tokens of the agents' prompts for pairs such as those of `order`."""
    made = {agent: requests for agent, requests in requests_of(order).items() if requests}
    said = ""
    while counter is not None:
        try:
            return count_prompt_tokens(made, counter, said)
        except CannotCount as why:
            said += f" {counter.name[:1].upper()}{counter.name[1:]} gave no count: {why}."
            counter = counter.otherwise
    rate = Range(1 / MOST, 1 / USUAL, 1 / FEWEST)
    tokens = {
        agent: mean_of([count_request_characters(one) for one in many]) * rate for agent, many in made.items()
    }
    words = f"{USUAL} characters a token ({MOST} low, {FEWEST} high), {count_prompt_sample(made)} pairs drawn"
    return Prompts(tokens, Basis("Length of the prompts", words, "counted", f"Counted locally.{said}"))


def count_prompt_tokens(made: Mapping[str, Sequence[Request]], counter: Counter, said: str = "") -> Prompts:
    """The same by `counter`; `said` tells of others that were tried before. Raises CannotCount."""
    some = {agent: requests[:ASKED] for agent, requests in made.items()}
    counts = iter(counter.count([request for requests in some.values() for request in requests]))
    tokens = {}
    for agent, requests in made.items():
        rates = [next(counts) / count_request_characters(one) for one in some[agent]]
        rate = Range(min(rates), fmean(rates), max(rates))
        tokens[agent] = mean_of([count_request_characters(request) for request in requests]) * rate
    words = f"{counter.name}, {count_prompt_sample(made)} pairs drawn"
    return Prompts(tokens, Basis("Length of the prompts", words, "counted", f"{counter.note}{said}".strip()))


def by_provider(ask: Callable[[Request], int]) -> Callable[[Sequence[Request]], list[int]]:
    """Several at a time of what the provider counts one by one; its LLMError becomes CannotCount."""

    def count(requests: Sequence[Request]) -> list[int]:
        try:
            with no_connection(), ThreadPoolExecutor(AT_ONCE) as pool:
                return list(pool.map(ask, requests))
        except LLMError as error:
            raise CannotCount(error.message) from error

    return count


def by_tokenizer(place: str, requests: Sequence[Request]) -> list[int]:
    """By the tokenizer at `place`, without what a template puts around a prompt. Raises CannotCount."""
    texts = [texts_of(request) for request in requests]
    path = file_of(place, requests[0].model)
    counts = iter(count_tokens_locally(path, [text for some in texts for text in some]))
    return [sum(next(counts) for _ in some) for some in texts]


def requests_of(order: Order) -> dict[str, list[Request]]:
    """What each agent would be asked of the drawn pairs; the fixer is asked of none."""
    pairs, model = drawn_pairs(order), order.model
    beside = [single_llm.NAME, tie_breaker.NAME] if order.reader else []
    beside += [neighbour_writer.NAME] if order.neighbour else []
    agents = [test_writer.NAME, arbiter.NAME, *([] if order.annotator in CRITERIA else beside)]
    return {
        screener.NAME: first_requests(order, pairs),
        fixer.NAME: [fixer.build_fixer_request(fixer.FixerInputs("module", "", ""), model)],
        **{agent: build_pair_requests(agent, pairs, model) for agent in agents},
        AGENT: build_pair_requests(screener.NAME, pairs, model) if order.drift_check else [],
    }


OF_A_PAIR: Final[Mapping[str, tuple[Callable[..., Request], Callable[..., Any], int]]] = {
    screener.NAME: (screener.build_screener_request, screener.ScreenerInputs, 0),
    single_llm.NAME: (single_llm.build_single_llm_request, single_llm.SingleInputs, 0),
    neighbour_writer.NAME: (neighbour_writer.build_neighbour_request, neighbour_writer.NeighbourInputs, 0),
    test_writer.NAME: (test_writer.build_test_writer_request, test_writer.WriterInputs, 0),
    arbiter.NAME: (arbiter.build_arbiter_request, arbiter.ArbiterInputs, 3),
    tie_breaker.NAME: (tie_breaker.build_tie_breaker_request, tie_breaker.TieInputs, 4),
}
"""How an agent is asked of a pair: its request, its inputs, and how many of these only a run tells."""


def build_pair_requests(agent: str, pairs: Sequence[tuple[str, str]], model: str) -> list[Request]:
    """The agent's question about each pair; what a run would tell is left empty."""
    build, inputs, unknown = OF_A_PAIR[agent]
    return [build(inputs(*pair, *[""] * unknown), model) for pair in pairs]


def first_requests(order: Order, pairs: Sequence[tuple[str, str]]) -> list[Request]:
    """What the first stage would ask: the screener of each pair or of each query, or the one model alone."""
    first = first_agent(order)
    if first != query_screener.NAME:
        return build_pair_requests(first, pairs, order.model)
    codes = [code for _, code in pairs] * 2
    size = candidates_of_a_request(order)
    companies = (CompanyInputs(query, tuple(codes[at : at + size])) for at, (query, _) in enumerate(pairs))
    return [query_screener.build_listwise_request(company, order.model) for company in companies]


def first_agent(order: Order) -> str:
    """Who judges first, or alone."""
    if order.annotator in CRITERIA:
        return single_llm.NAME
    return query_screener.NAME if order.screen_by_query else screener.NAME


def candidates_of_a_request(order: Order) -> int:
    """How many candidates the first stage judges in one request."""
    by_query = order.screen_by_query and order.annotator not in CRITERIA
    return min(pairs_a_query(order), query_screener.MOST_AT_ONCE) if by_query else 1


def drawn_pairs(order: Order) -> list[tuple[str, str]]:
    """The texts of (query, snippet), the same ones whenever the same collections are asked for.

    The mining will choose by similarity; drawn snippets are taken to be as long on the average.
    """
    if order.given is not None:
        return given_pairs(order.given)
    dice = random.Random(f"{order.queries.pk} {order.snippets.pk} {int(order.rule)}")  # noqa: S311  (no secret)
    queries = drawn_texts(list(order.queries.members.values_list("pk", flat=True)), dice)
    passing = order.snippets.members.passing(order.rule)
    snippets = drawn_texts(list(passing.values_list("pk", flat=True)), dice)
    return list(zip(queries, snippets, strict=False))


def given_pairs(given: PairList) -> list[tuple[str, str]]:
    """The texts of some of the given pairs, which are known already."""
    dice = random.Random(f"given {given.pk}")  # noqa: S311  (no secret)
    known = list(given.candidates.order_by("pk").values_list("pk", flat=True))
    wanted = draw_ids(known, dice)
    rows = given.candidates.filter(pk__in=wanted).select_related("query__body", "pair__snippet__body")
    texts = {row.pk: (row.query.text, row.pair.snippet.text) for row in rows}
    return [texts[pk] for pk in wanted]


def drawn_texts(members: list[int], dice: random.Random) -> list[str]:
    """The texts of SAMPLE members, some of them several times where there are fewer."""
    wanted = draw_ids(members, dice) if members else []
    found = Member.objects.filter(pk__in=wanted).select_related("text__body")
    texts = {member.pk: member.text.text for member in found}
    return [texts[pk] for pk in wanted]


def draw_ids(known: list[int], dice: random.Random) -> list[int]:
    return dice.choices(known, k=SAMPLE) if len(known) < SAMPLE else dice.sample(known, SAMPLE)


def count_prompt_sample(made: Mapping[str, Sequence[Request]]) -> int:
    return len(made.get(screener.NAME, ()))


def count_request_characters(request: Request) -> int:
    """Of what is sent."""
    return sum(map(len, texts_of(request)))


def texts_of(request: Request) -> tuple[str, ...]:
    """What is sent: the rules, the material and the schema."""
    schema = json.dumps(dict(request.schema), ensure_ascii=False)
    return request.system, *(turn.text for turn in request.messages), schema


def mean_of(values: Sequence[float]) -> Range:
    """The mean, and how far a mean of so few values is off."""
    mean = fmean(values)
    off = SURE * stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return Range(max(mean - off, 0.0), mean, mean + off)
