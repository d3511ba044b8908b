"""The first stage of a case: plain match, plain mismatch, or to be tested; or one model decides alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from annotation import company
from annotation.agents import paper, query_screener, screener, single_llm
from annotation.asking import ask
from annotation.llm import LLM
from annotation.models import Basis, Case, LLMCall
from annotation.publishing import settle
from annotation.stages import Event
from retrieval.models import Annotator

FIRST: Final = (screener.NAME, query_screener.NAME, single_llm.NAME)
"""The agents of the first stage; each annotator has one of them."""


def first_agent(annotator: Annotator) -> str:
    """Who asks in the first stage of the annotator, and under whose name it is billed."""
    if annotator.kind == Annotator.Kind.SINGLE_LLM:
        return single_llm.NAME
    return query_screener.NAME if annotator.config.get("screener") == "query" else screener.NAME


def judge(case: Case, llm: LLM) -> None:
    """The first stage: the screener, or the one model that decides alone."""
    JUDGES[first_agent(case.annotator)](case, llm)


def judge_alone(case: Case, llm: LLM) -> None:
    """Single LLM (CoSQA+, first version, "Model Annotation"): a label by the annotator's criterion."""
    inputs = single_llm.SingleInputs(query=case.pair.query.text, code=case.pair.snippet.text)
    verdict, call = ask(case, llm, single_llm.request(inputs, case.build.model), single_llm.parse)
    label = verdict.label(single_llm.Criterion(case.annotator.config["criterion"]))
    event = Event.MATCH if label else Event.NO_MATCH
    settle(case, event, label, verdict.words, call, basis=Basis.SINGLE)


def screen(case: Case, llm: LLM) -> None:
    """Preliminary screener (CoSQA+, "Preliminary Screener"): 1, 0, or 0.5 = needs a test."""
    inputs = screener.ScreenerInputs(query=case.pair.query.text, code=case.pair.snippet.text)
    paperlike = case.annotator.config.get("prompt_set") == paper.PROMPT_SET
    ordered = paper.screener_request if paperlike else screener.request
    verdict, call = ask(case, llm, ordered(inputs, case.build.model), screener.parse)
    screened(case, verdict.verdict, verdict.explanation, call)


def screen_in_company(case: Case, llm: LLM) -> None:
    """The screener for all candidates of the case's query: whoever comes first pays, the others reuse it."""
    others = company.of(case)
    inputs = query_screener.CompanyInputs(
        query=case.pair.query.text, codes=tuple(one.pair.snippet.text for one in others)
    )
    found, call = ask(
        case,
        llm,
        query_screener.request(inputs, case.build.model),
        partial(query_screener.parse, count=len(others)),
    )
    place = 1 + next(index for index, one in enumerate(others) if one.pk == case.pk)
    verdict = next(one for one in found.verdicts if one.candidate == place)
    screened(case, verdict.verdict, verdict.explanation, call)


def screened(case: Case, verdict: float, explanation: str, call: LLMCall) -> None:
    """Settle what is plain; what is unclear goes to the reader, or at once to the test writer."""
    if verdict == 1:
        settle(case, Event.MATCH, 1, explanation, call, basis=Basis.CLEAR)
    elif verdict == 0:
        settle(case, Event.NO_MATCH, 0, explanation, call, basis=Basis.CLEAR)
    else:
        event = Event.TO_READER if case.annotator.config.get("reader", False) else Event.UNCLEAR
        case.move(event, note=explanation, call=call)


JUDGES: Final[Mapping[str, Callable[[Case, LLM], None]]] = {
    screener.NAME: screen,
    query_screener.NAME: screen_in_company,
    single_llm.NAME: judge_alone,
}
