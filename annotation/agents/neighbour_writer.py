"""The neighbour writer: code that could be taken for an answer to the query and is none.

A test that cannot tell it from the asked-for function proves little. Its author has not seen the test.
"""

from dataclasses import dataclass
from typing import Annotated, Final, Unpack

from pydantic import AfterValidator

from annotation import prompts
from annotation.agents.fields import Said
from annotation.agents.replies import VerdictModel
from annotation.agents.request_parts import Options, compose_agent_request, fence_material, schema_of
from annotation.agents.sources import names_of, require_runnable_source
from annotation.llm.request import Request

NAME: Final = "neighbour_writer"
MAX_TOKENS: Final = 2048
SCHEMA: Final = schema_of(difference={"type": "string"}, code={"type": "string"})


@dataclass(frozen=True, slots=True)
class NeighbourInputs:
    """The pair: the query to miss, and the snippet whose names and parameters to take."""

    query: str
    code: str


class NeighbourReply(VerdictModel):
    """Code that does a neighbouring task, and what it does instead."""

    difference: Said
    code: Annotated[str, AfterValidator(require_runnable_source)]


def build_neighbour_request(inputs: NeighbourInputs, model: str, **options: Unpack[Options]) -> Request:
    """The order for one neighbour."""
    user = prompts.load_agent_prompt(NAME).render(
        "user",
        names=", ".join(names_of(inputs.code)) or "(see the definition in the code)",
        query=fence_material("query", inputs.query),
        code=fence_material("code", inputs.code),
    )
    return compose_agent_request(NAME, model, user, SCHEMA, MAX_TOKENS, options)
