"""The tie breaker: a third judge who decides where the reader and the arbiter differ."""

import hashlib
from dataclasses import dataclass
from typing import Final, Unpack

from annotation import prompts
from annotation.agents.arbiter import SCHEMA
from annotation.agents.request_parts import Options, compose_agent_request, fence_material
from annotation.llm.request import Request

NAME: Final = "tie_breaker"
MAX_TOKENS: Final = 4096


@dataclass(frozen=True, slots=True)
class TieInputs:
    """The pair, the two arguments in the order in which they are shown, and the evidence.

    `report` is None where it is withheld: people alone see it then.
    """

    query: str
    code: str
    first: str
    second: str
    readings: str
    report: str | None


def in_drawn_order(for_match: str, against: str, key: str) -> tuple[str, str]:
    """The two arguments in an order drawn from `key`: the same on every machine and in every release."""
    flipped = hashlib.sha256(f"tie\n{key}".encode("utf-8", "surrogatepass")).digest()[0] & 1
    return (against, for_match) if flipped else (for_match, against)


def build_tie_breaker_request(inputs: TieInputs, model: str, **options: Unpack[Options]) -> Request:
    """The question about one pair on which two judges differ."""
    material = {
        "query": fence_material("query", inputs.query),
        "code": fence_material("code", inputs.code),
        "first": fence_material("argument", inputs.first),
        "second": fence_material("argument", inputs.second),
        "readings": fence_material("readings", inputs.readings),
    }
    prompt = prompts.load_agent_prompt(NAME)
    if inputs.report is None:
        user = prompt.render("user_without_report", **material)
    else:
        user = prompt.render("user", **material, report=fence_material("report", inputs.report))
    return compose_agent_request(NAME, model, user, SCHEMA, MAX_TOKENS, options)
