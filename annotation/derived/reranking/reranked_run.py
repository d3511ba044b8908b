"""Ask for the order of each list's first results, and keep the lists in that order as a run."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np

from annotation.agents import InvalidReply
from annotation.agents.query_screener import CompanyInputs
from annotation.agents.reranker import RankedReply, apply_order, build_rank_request, parse_ranked_reply
from annotation.builds.limits import budget, rate_limit
from annotation.builds.pipeline.llm_calls import Parked, Unjudgeable, obtain_answered_call, verdict_of
from annotation.derived.reranking.ranking_job import RerankOrder, RerankRefused, close_ranking_build
from annotation.llm import LLM, LLMError
from annotation.models import Build, LLMCall
from annotation.models.builds.build import NANO
from annotation.models.builds.calls import BuildQuestion
from retrieval.encoders.rerankers import LANGUAGE_MODEL
from retrieval.evaluation.content import content_of, query_members, snippet_members
from retrieval.evaluation.runs.system_run import Evaluated, evaluate_run
from retrieval.evaluation.systems.search import read_texts
from retrieval.metrics.names import parse_measures
from retrieval.models import RankedList, Run, Score
from retrieval.models.benchmarks import NOWHERE, Places

LISTS_A_READ: Final = 500
TRIES: Final = 5
PAUSE_SECONDS: Final = 2.0
"""After the first failed try; each further one waits twice as long."""
KEPT: Final = "What was answered is kept: order it again"
Tick = Callable[[int, int], None]


@dataclass(slots=True)
class Ranked:
    """Lists by query, and what became of their requests; `pairs` were put in order by the model."""

    lists: dict[int, Places] = field(default_factory=dict)
    calls: list[LLMCall] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    pairs: int = 0

    @property
    def waiting(self) -> int:
        """Requests that wait for a reply by file."""
        return self.counts["waiting"]


def rerank_run(order: RerankOrder, build: Build, llm: LLM, tick: Tick = lambda done, total: None) -> Ranked:
    """Ask about each list of the run, or find the reply that is there.

    A reply that can't be used leaves its list as it was, and is counted; it is not asked for again. Raises
    RerankRefused where the model can't be asked now: what was answered is kept.
    """
    content = content_of(order.run.benchmark)
    texts = list(read_texts(snippet_members(content.benchmark), order.run.text_option or "whole"))
    asked = dict(zip(content.queries, read_texts(query_members(content.benchmark), "whole"), strict=False))
    rows = list(RankedList.objects.filter(run=order.run).order_by("pk").iterator(LISTS_A_READ))
    question, found = BuildQuestion(build), Ranked()
    for done, row in enumerate(rows, 1):
        known = [place for place in row.places.tolist() if place != NOWHERE][: order.depth]
        codes = [texts[content.texts_place(place)] for place in known]
        inputs = CompanyInputs(asked[content.text_of_query(row.key)], tuple(codes))
        reply = ask_for_order(question, llm, inputs, found) if len(known) > 1 else None
        found.lists[row.key] = put_in_order(row.places, known, reply)
        tick(done, len(rows))
    return found


def put_in_order(places: Places, known: Sequence[int], reply: RankedReply | None) -> Places:
    """A list with the results `known` in the order of the reply, and all others behind them as they were."""
    if reply is None:
        return places
    first = apply_order(known, reply)
    rest = [place for place in places.tolist() if place == NOWHERE or place not in set(known)]
    return np.array([*first, *rest], dtype=np.uint32)


def ask_for_order(
    question: BuildQuestion, llm: LLM, inputs: CompanyInputs, found: Ranked
) -> RankedReply | None:
    """The reply about one list; None where it waits, or can't be used. Raises RerankRefused."""
    config = question.annotator.config
    request = build_rank_request(
        inputs, question.build.model, base_url=config["base_url"], sampling=config["sampling"]
    )
    parse = partial(parse_ranked_reply, count=len(inputs.codes))
    try:
        call = try_until_answered(lambda: obtain_answered_call(question, llm, request, parse))
    except Parked:
        found.counts["waiting"] += 1
        return None
    except Unjudgeable:
        found.counts["unusable"] += 1
        return None
    found.calls.append(call)
    try:
        reply = verdict_of(call, parse)
    except InvalidReply:
        found.counts["unusable"] += 1
        return None
    found.pairs += len(inputs.codes)
    return reply


def try_until_answered(ask: Callable[[], LLMCall]) -> LLMCall:
    """Ask again where the provider is busy or away. Raises RerankRefused after some tries."""
    for number in range(1, TRIES + 1):
        try:
            return ask()
        except budget.OverBudget as over:
            raise RerankRefused(f"{over}. {KEPT} with a higher cap.") from over
        except (budget.AlreadyAsked, budget.BudgetHeld, rate_limit.Full) as busy:
            why = str(busy)
        except LLMError as error:
            if not error.retryable:
                raise RerankRefused(f"{error}. {KEPT}.") from error
            why = str(error)
        time.sleep(PAUSE_SECONDS * 2 ** (number - 1))
    raise RerankRefused(f"{why}. {KEPT}.")


def keep_reranked_run(order: RerankOrder, build: Build, ranked: Ranked) -> Evaluated:
    """The run of the system with this second stage, measured as its first stage was; the build is done."""
    first = order.run
    names = Score.objects.filter(run=first).order_by("pk").values_list("metric", flat=True)
    run = Run(
        benchmark=first.benchmark,
        system=order.system,
        encoders=first.encoders,
        options={**kept_options(first), "second_stage": describe_stage(order, build, ranked)},
        text_option=first.text_option,
        pool=first.pool,
    )
    measures = parse_measures(list(dict.fromkeys(names)))
    done = evaluate_run(run, ranked.lists, content_of(first.benchmark), measures)
    close_ranking_build(build)
    return done


def kept_options(first: Run) -> dict[str, Any]:
    """What still holds of the first stage's options."""
    return {name: value for name, value in first.options.items() if name not in ("coverage", "metrics")}


def describe_stage(order: RerankOrder, build: Build, ranked: Ranked) -> Mapping[str, Any]:
    """What the run notes of its second stage: who ranked, what it took, and which replies were of no use.

    `seconds` are those of the model's replies, 0 by file; the first stage was searched before.
    """
    answered = sorted({call.answered_by for call in ranked.calls if call.answered_by})
    return {
        "first_stage": order.run.system,
        "reranker": f"{LANGUAGE_MODEL}:{order.model}",
        "identity": f"{build.annotator.name};version={build.annotator.version}",
        "revision": "",
        "depth": order.depth,
        "pairs": ranked.pairs,
        "first_seconds": 0.0,
        "seconds": round(sum(call.latency or 0.0 for call in ranked.calls), 3),
        "usd": round(sum(call.cost for call in ranked.calls) / NANO, 6),
        "requests": len(ranked.calls),
        "unusable": ranked.counts["unusable"],
        "answered_by": answered,
        "build": build.pk,
    }
