"""The tie breaker: a third judge who decides where the reader and the arbiter differ."""

import hashlib
from dataclasses import dataclass
from typing import Final, Unpack

from annotation import prompts
from annotation.agents.arbiter import SCHEMA, FinalVerdict
from annotation.agents.asking import Options, compose, fence
from annotation.agents.replies import validated
from annotation.llm.request import Request

NAME: Final = "tie_breaker"
MAX_TOKENS: Final = 4096


@dataclass(frozen=True, slots=True)
class TieInputs:
    """The pair, the two arguments in the order in which they are shown, and the evidence.

    `report` is None where it is withheld, to measure what the runs are worth.
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


def request(inputs: TieInputs, model: str, **options: Unpack[Options]) -> Request:
    """The question about one pair on which two judges differ."""
    material = {
        "query": fence("query", inputs.query),
        "code": fence("code", inputs.code),
        "first": fence("argument", inputs.first),
        "second": fence("argument", inputs.second),
        "readings": fence("readings", inputs.readings),
    }
    prompt = prompts.load(NAME)
    if inputs.report is None:
        user = prompt.render("user_without_report", **material)
    else:
        user = prompt.render("user", **material, report=fence("report", inputs.report))
    return compose(NAME, model, user, SCHEMA, MAX_TOKENS, options)


def parse(text: str) -> FinalVerdict:
    """The verdict in a reply. Raises InvalidReply."""
    return validated(FinalVerdict, text)
