"""The screener: a plain match, a plain mismatch, or a case for a test? (paper: Preliminary Screener)"""

from dataclasses import dataclass
from typing import Annotated, Final, Unpack

from pydantic import BeforeValidator

from annotation import prompts
from annotation.agents.asking import Options, compose, fence, schema_of
from annotation.agents.fields import Said, from_menu
from annotation.agents.replies import VerdictModel, validated
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
    """The pair."""

    query: str
    code: str


class ScreenerVerdict(VerdictModel):
    """1 plain match, 0 plain mismatch, 0.5 unclear: to be tested."""

    explanation: Said
    verdict: Annotated[float, BeforeValidator(from_menu(0.0, 0.5, 1.0))]


def request(inputs: ScreenerInputs, model: str, **options: Unpack[Options]) -> Request:
    """The question about one pair."""
    user = prompts.load(NAME).render(
        "user", query=fence("query", inputs.query), code=fence("code", inputs.code)
    )
    return compose(NAME, model, user, SCHEMA, MAX_TOKENS, options)


def parse(text: str) -> ScreenerVerdict:
    """The verdict in a reply. Raises InvalidReply."""
    return validated(ScreenerVerdict, text)
