"""The agents: frozen inputs in, a request out; reply text in, a validated verdict out. No I/O, no ORM.

Every agent module has `request(inputs, model, **options) -> Request` and `parse(text) -> verdict`.
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
    return paper.parse_test(text) if "reading" in told else test_writer.parse_test_program(text)


PARSERS: Final[Mapping[str, Callable[[str], VerdictModel]]] = MappingProxyType(
    {
        screener.NAME: screener.parse_screener_verdict,
        test_writer.NAME: parse_any_test,
        neighbour_writer.NAME: neighbour_writer.parse_neighbour_reply,
        tie_breaker.NAME: tie_breaker.parse_tie_breaker_verdict,
        fixer.NAME: fixer.parse_fixer_reply,
        arbiter.NAME: arbiter.parse_final_verdict,
        single_llm.NAME: single_llm.parse_single_llm_verdict,
        query_screener.NAME: query_screener.parse_listwise_verdict,
        snippet_writer.NAME: snippet_writer.parse_written_snippet,
    }
)
"""Request.agent to the parser of its replies, for whoever checks a reply without asking for one."""

__all__ = ["PARSERS", "InvalidReply", "Options", "VerdictModel", "build_repair_request"]
