"""What an admin asks for: the order of a build, and who is to judge its pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from annotation.agents.single_llm import Criterion
from annotation.models import Build
from retrieval.evaluation.merge_rule import FEWEST_REVIEWS
from retrieval.filters import USUAL_RULE, Rule
from retrieval.filters.queries import NO_QUERY_RULE, QueryRule
from retrieval.fusion import Fusion
from retrieval.models import Collection, PairList
from retrieval.texts.plurals import count_noun


class LaunchRefused(ValueError):
    """The order can't be launched; the message says what to change."""


class Judge(StrEnum):
    """Who decides a pair: the test-driven agents, or one model alone by one of its criteria."""

    AGENTS = "agents"
    SINGLE_EXACT = "single_exact"
    SINGLE_HALF = "single_half"


AS_IN_THE_PAPER: Mapping[str, Any] = MappingProxyType(
    {
        "screener": "pair",
        "rewrites": 0,
        "second_test": False,
        "fix_rounds": 2,
        "reader": False,
        "neighbour": False,
        "withhold_report": False,
        "prompt_set": "paper",
    }
)
"""One screener request a pair, one test that is never sent back, two stages of fixing, then the arbiter; its
own prompts, no reader, no neighbour."""

USUAL_ENCODERS = ("bm25", "bow")
"""What mines where nobody names encoders: two that need no download."""

CRITERIA = {Judge.SINGLE_EXACT: Criterion.EXACT, Judge.SINGLE_HALF: Criterion.HALF}


@dataclass(frozen=True)
class Order:
    """What an admin asks for. `budget` is in dollars, None for no cap; `limit` is in pairs.

    `unpriced`: a model may be asked live whose price nobody has entered. `rewrites`: how often a program that
    redefines its candidate goes back; `second_test`: one that tested nothing is followed by another.
    `fresh`: nothing that was answered before is used again. `annotator`: who decides; what concerns tests
    counts for agents alone. `screen_by_query`: all candidates of a query in one request, in an order drawn
    from `seed`. `rounds`: how often each pair is judged, each time asked anew; no part of the annotator.
    `batches`: screener and test writer are asked by batch: half the price, and an answer within a day.
    `skip_canary`: why a large live build may ask for all of its pairs at once; empty where its canary comes
    first. `reader`: a reader decides unclear pairs by itself too, and a third judge where it and the arbiter
    differ. `neighbour`: tests have to tell a neighbour of the task. `withhold_report`: no judge sees what the
    runs showed, people alone do (decision 51). `prompt_set`: empty for the usual one. `approximate`: by which
    index vectors are searched instead of exactly. `drift_check`: a few fixed pairs are asked again and again,
    to see whether the model is the same. `why`: for the build's history.
    `reviews_needed`: so many experts have to agree before their label counts instead of the agents'.
    `hides_reviews`: experts see others' labels of a pair once their own is stored.
    `given`: these pairs are judged; encoders, k and rules say nothing then.
    `price_in`, `price_out`: dollars per million tokens of the model, as typed with the order; both or none.
    """

    name: str
    queries: Collection
    snippets: Collection
    encoders: tuple[str, ...]
    k: int = 20
    provider: str = Build.Provider.EXCHANGE
    model: str = "any"
    recorded: str = ""
    budget: Decimal | None = None
    limit: int | None = None
    rule: Rule = USUAL_RULE
    query_rule: QueryRule = NO_QUERY_RULE
    text_option: str = "whole"
    fusion: Fusion = Fusion.MEAN
    approximate: str = ""
    fix_rounds: int = 2
    sampling: dict[str, Any] = field(default_factory=dict)
    unpriced: bool = False
    rewrites: int = 1
    second_test: bool = False
    fresh: bool = False
    annotator: Judge = Judge.AGENTS
    screen_by_query: bool = False
    seed: int = 1
    rounds: int = 1
    skip_canary: str = ""
    drift_check: bool = False
    batches: bool = False
    reader: bool = True
    neighbour: bool = True
    withhold_report: bool = True
    prompt_set: str = ""
    reason: str = ""
    given: PairList | None = None
    reviews_needed: int = FEWEST_REVIEWS
    hides_reviews: bool = False
    price_in: Decimal | None = None
    price_out: Decimal | None = None

    @property
    def typed_price(self) -> tuple[Decimal, Decimal] | None:
        """What a million tokens in and out cost, as typed; None where it was not."""
        if self.price_in is None or self.price_out is None:
            return None
        return self.price_in, self.price_out

    @property
    def proposed(self) -> str:
        """What the history says of where the pairs come from."""
        fused = "" if self.fusion is Fusion.MEAN else f", fused by {self.fusion}"
        mined = f"top {self.k} by {', '.join(self.encoders)}{fused}"
        return mined if self.given is None else f"{count_noun(self.given.size, 'pair')} of the {self.given}"

    @property
    def rounds_may_be_alike(self) -> bool:
        """Whether the model was told to give its likeliest answer, so that rounds may only repeat it."""
        return self.rounds > 1 and self.sampling.get("temperature") == 0


def asking_nobody(order: Order) -> Order:
    """The order of a queue for people: agents who went on with it would answer by file, for nothing."""
    return replace(
        order,
        provider=Build.Provider.EXCHANGE,
        model="any",
        recorded="",
        budget=None,
        rounds=1,
        batches=False,
        drift_check=False,
        fresh=False,
    )
