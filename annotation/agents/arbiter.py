"""The arbiter: the final verdict from the test cases and what their run showed (paper: Final Arbiter).

It is not told what screener and reader thought.
"""

from dataclasses import dataclass
from typing import Annotated, Final, Unpack

from pydantic import BeforeValidator

from annotation import prompts
from annotation.agents.fields import Said, as_label
from annotation.agents.replies import VerdictModel
from annotation.agents.request_parts import Options, compose_agent_request, fence_material, schema_of
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

    `report` is None where it is withheld: people alone see it then.
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


def build_arbiter_request(inputs: ArbiterInputs, model: str, **options: Unpack[Options]) -> Request:
    """The question about one pair and one execution."""
    material = {
        "query": fence_material("query", inputs.query),
        "code": fence_material("code", inputs.code),
        "readings": fence_material("readings", inputs.readings),
        "program": fence_material("program", inputs.program),
    }
    prompt = prompts.load_agent_prompt(NAME)
    if inputs.report is None:
        user = prompt.render("user_without_report", **material)
    else:
        user = prompt.render("user", **material, report=fence_material("report", inputs.report))
    return compose_agent_request(NAME, model, user, SCHEMA, MAX_TOKENS, options)
