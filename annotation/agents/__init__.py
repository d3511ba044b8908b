"""The agents: frozen inputs in, a request out; reply text in, a validated verdict out. No I/O, no ORM.

Every agent module has `request(inputs, model, **options) -> Request` and `parse(text) -> verdict`.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from annotation.agents import (
    arbiter,
    fixer,
    query_screener,
    screener,
    single_llm,
    snippet_writer,
    test_writer,
)
from annotation.agents.asking import Options, repair
from annotation.agents.replies import InvalidReply, VerdictModel

PARSERS: Final[Mapping[str, Callable[[str], VerdictModel]]] = MappingProxyType(
    {
        screener.NAME: screener.parse,
        test_writer.NAME: test_writer.parse,
        fixer.NAME: fixer.parse,
        arbiter.NAME: arbiter.parse,
        single_llm.NAME: single_llm.parse,
        query_screener.NAME: query_screener.parse,
        snippet_writer.NAME: snippet_writer.parse,
    }
)
"""Request.agent to the parser of its replies, for whoever checks a reply without asking for one."""

__all__ = ["PARSERS", "InvalidReply", "Options", "VerdictModel", "repair"]
