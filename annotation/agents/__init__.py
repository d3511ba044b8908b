"""The agents: frozen inputs in, a request out; reply text in, a validated verdict out. No I/O, no ORM.

Every agent module has `request(inputs, model, **options) -> Request` and a verdict, read by `of_reply(text)`.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from annotation.agents import (
    arbiter,
    fixer,
    neighbour_writer,
    paper,
    query_screener,
    reranker,
    screener,
    single_llm,
    snippet_writer,
    test_writer,
    tie_breaker,
)
from annotation.agents.replies import InvalidReply, VerdictModel, one_object
from annotation.agents.request_parts import Options, build_repair_request


def parse_any_test(text: str) -> VerdictModel:
    """A test writer's reply, in the usual form or in that of the paper's set. Raises InvalidReply."""
    told = one_object(text, {"helpers", "program"})
    verdict = paper.PlainTestReply if "reading" in told else test_writer.TestProgramReply
    return verdict.of_reply(text)


PARSERS: Final[Mapping[str, Callable[[str], VerdictModel]]] = MappingProxyType(
    {
        screener.NAME: screener.ScreenerVerdict.of_reply,
        test_writer.NAME: parse_any_test,
        neighbour_writer.NAME: neighbour_writer.NeighbourReply.of_reply,
        tie_breaker.NAME: arbiter.FinalVerdict.of_reply,
        fixer.NAME: fixer.FixerReply.of_reply,
        arbiter.NAME: arbiter.FinalVerdict.of_reply,
        single_llm.NAME: single_llm.SingleVerdict.of_reply,
        query_screener.NAME: query_screener.parse_listwise_verdict,
        reranker.NAME: reranker.parse_ranked_reply,
        snippet_writer.NAME: snippet_writer.WrittenSnippet.of_reply,
    }
)
"""Request.agent to the parser of its replies, for whoever checks a reply without asking for one."""

__all__ = ["PARSERS", "InvalidReply", "Options", "VerdictModel", "build_repair_request"]
