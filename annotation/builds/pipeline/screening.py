"""The first stage of a case: plain match, plain mismatch, or to be tested; or one model decides alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from annotation.agents import paper, query_screener, screener, single_llm
from annotation.builds.pipeline import listwise
from annotation.builds.pipeline.labels import settle_case_label
from annotation.builds.pipeline.llm_calls import ask_with_repair
from annotation.builds.pipeline.shown_code import find_shown_code
from annotation.builds.pipeline.verdicts import as_in_paper, ask_single_llm
from annotation.llm import LLM
from annotation.models import Basis, Case, LLMCall
from annotation.stages import Event
from retrieval.models import Annotator

FIRST: Final = (screener.NAME, query_screener.NAME, single_llm.NAME)
"""The agents of the first stage; each annotator has one of them."""


def first_agent(annotator: Annotator) -> str:
    """Who asks in the first stage of the annotator, and under whose name it is billed."""
    if annotator.kind == Annotator.Kind.SINGLE_LLM:
        return single_llm.NAME
    return query_screener.NAME if annotator.config.get("screener") == "query" else screener.NAME


def judge_first_stage(case: Case, llm: LLM) -> None:
    """The first stage: the screener, or the one model that decides alone."""
    JUDGES[first_agent(case.annotator)](case, llm)


def judge_alone(case: Case, llm: LLM) -> None:
    """Single LLM (CoSQA+, first version, "Model Annotation"): a label by the annotator's criterion."""
    verdict, call = ask_single_llm(case, llm)
    label = verdict.label(single_llm.Criterion(case.annotator.config["criterion"]))
    event = Event.MATCH if label else Event.NO_MATCH
    settle_case_label(case, event, label, verdict.words, call, basis=Basis.SINGLE)


def screen_case(case: Case, llm: LLM) -> None:
    """Preliminary screener (CoSQA+, "Preliminary Screener"): 1, 0, or 0.5 = needs a test."""
    shown = find_shown_code(case)
    inputs = screener.ScreenerInputs(case.pair.query.text, shown.code, shown.note)
    ordered = paper.screener_request if as_in_paper(case) else screener.build_screener_request
    verdict, call = ask_with_repair(
        case, llm, ordered(inputs, case.build.model), screener.ScreenerVerdict.of_reply
    )
    apply_screening_verdict(case, verdict.verdict, verdict.explanation, call)


def screen_in_company(case: Case, llm: LLM) -> None:
    """The screener for all candidates of the case's query: whoever comes first pays, the others reuse it."""
    others = listwise.find_request_cases(case)
    inputs = query_screener.CompanyInputs(
        query=case.pair.query.text, codes=tuple(other.pair.snippet.text for other in others)
    )
    found, call = ask_with_repair(
        case,
        llm,
        query_screener.build_listwise_request(inputs, case.build.model),
        partial(query_screener.parse_listwise_verdict, count=len(others)),
    )
    place = 1 + next(index for index, other in enumerate(others) if other.pk == case.pk)
    verdict = next(one for one in found.verdicts if one.candidate == place)
    apply_screening_verdict(case, verdict.verdict, verdict.explanation, call)


def apply_screening_verdict(case: Case, verdict: float, explanation: str, call: LLMCall) -> None:
    """Settle what is plain; what is unclear goes to the reader, or at once to the test writer."""
    if verdict == 1:
        settle_case_label(case, Event.MATCH, 1, explanation, call, basis=Basis.CLEAR)
    elif verdict == 0:
        settle_case_label(case, Event.NO_MATCH, 0, explanation, call, basis=Basis.CLEAR)
    else:
        event = Event.TO_READER if case.annotator.config.get("reader", False) else Event.UNCLEAR
        case.move(event, note=explanation, call=call)


JUDGES: Final[Mapping[str, Callable[[Case, LLM], None]]] = {
    screener.NAME: screen_case,
    query_screener.NAME: screen_in_company,
    single_llm.NAME: judge_alone,
}
