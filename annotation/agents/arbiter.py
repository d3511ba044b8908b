"""The arbiter: the final verdict from the test cases and what their run showed (paper: Final Arbiter).

It is not told what screener and reader thought.
"""

from dataclasses import dataclass
from typing import Annotated, Final, Unpack

from pydantic import BeforeValidator

from annotation import prompts
from annotation.agents.asking import Options, compose, fence, schema_of
from annotation.agents.fields import Said, as_label
from annotation.agents.replies import VerdictModel, validated
from annotation.llm.request import Request

NAME: Final = "arbiter"
MAX_TOKENS: Final = 4096
SCHEMA: Final = schema_of(
    explanation={"type": "string"},
    verdict={"type": "integer", "enum": [0, 1]},
)


@dataclass(frozen=True, slots=True)
class ArbiterInputs:
    """The pair and the evidence: the readings as numbered lines, and what the executor tells of the runs.

    `report` is None where it is withheld, to measure what the runs are worth.
    """

    query: str
    code: str
    program: str
    readings: str
    report: str | None


class FinalVerdict(VerdictModel):
    """1 match, 0 no match: the arbiter's and the tie breaker's answer."""

    explanation: Said
    verdict: Annotated[int, BeforeValidator(as_label)]


def request(inputs: ArbiterInputs, model: str, **options: Unpack[Options]) -> Request:
    """The question about one pair and one execution."""
    material = {
        "query": fence("query", inputs.query),
        "code": fence("code", inputs.code),
        "readings": fence("readings", inputs.readings),
        "program": fence("program", inputs.program),
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
