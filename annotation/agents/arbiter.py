"""The arbiter: the final verdict from the test program and what its run showed (paper: Final Arbiter).

It is not told what the screener thought.
"""

from dataclasses import dataclass
from typing import Annotated, Final, Unpack

from pydantic import BeforeValidator

from annotation import prompts
from annotation.agents.asking import Options, compose, fence, schema_of
from annotation.agents.fields import Said, from_menu
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
    """The pair and the evidence. `report` is what `Report.evidence` says of the execution."""

    query: str
    code: str
    program: str
    reading: str
    report: str


def _as_label(value: object) -> int:
    return int(from_menu(0.0, 1.0)(value))


class ArbiterVerdict(VerdictModel):
    """1 match, 0 no match."""

    explanation: Said
    verdict: Annotated[int, BeforeValidator(_as_label)]


def request(inputs: ArbiterInputs, model: str, **options: Unpack[Options]) -> Request:
    """The question about one pair and one execution."""
    user = prompts.load(NAME).render(
        "user",
        query=fence("query", inputs.query),
        code=fence("code", inputs.code),
        reading=fence("reading", inputs.reading),
        program=fence("program", inputs.program),
        report=fence("report", inputs.report),
    )
    return compose(NAME, model, user, SCHEMA, MAX_TOKENS, options)


def parse(text: str) -> ArbiterVerdict:
    """The verdict in a reply. Raises InvalidReply."""
    return validated(ArbiterVerdict, text)
