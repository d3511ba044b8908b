"""The screener: a plain match, a plain mismatch, or a case for a test? (paper: Preliminary Screener)"""

from dataclasses import dataclass
from typing import Annotated, Final, Unpack

from pydantic import BeforeValidator

from annotation import prompts
from annotation.agents.fields import Said, from_menu
from annotation.agents.replies import VerdictModel
from annotation.agents.request_parts import (
    Options,
    add_note,
    compose_agent_request,
    fence_material,
    schema_of,
)
from annotation.llm.request import Request

NAME: Final = "screener"
MAX_TOKENS: Final = 4096
# The explanation comes first: what is generated before the verdict can still inform it.
SCHEMA: Final = schema_of(
    explanation={"type": "string"},
    verdict={"type": "number", "enum": [0, 0.5, 1]},
)


@dataclass(frozen=True, slots=True)
class ScreenerInputs:
    """The pair; `note` says of the code what its text does not."""

    query: str
    code: str
    note: str = ""


class ScreenerVerdict(VerdictModel):
    """1 plain match, 0 plain mismatch, 0.5 unclear: to be tested."""

    explanation: Said
    verdict: Annotated[float, BeforeValidator(from_menu(0.0, 0.5, 1.0))]


def build_screener_request(inputs: ScreenerInputs, model: str, **options: Unpack[Options]) -> Request:
    """The question about one pair."""
    user = prompts.load_agent_prompt(NAME).render(
        "user", query=fence_material("query", inputs.query), code=fence_material("code", inputs.code)
    )
    user = add_note(user, inputs.note)
    return compose_agent_request(NAME, model, user, SCHEMA, MAX_TOKENS, options)
