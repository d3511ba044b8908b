"""The fixer: which distributions provide a missing module? (paper: Bug Fixer)

Its lines are a suggestion: the sandbox parses and vets them and never executes them as text.
"""

from dataclasses import dataclass
from typing import Final, Unpack

from annotation import prompts
from annotation.agents.fields import Said
from annotation.agents.replies import VerdictModel
from annotation.agents.request_parts import Options, compose_agent_request, fence_material, schema_of
from annotation.llm.request import Request

NAME: Final = "fixer"
MAX_TOKENS: Final = 2048
SCHEMA: Final = schema_of(commands={"type": "array", "items": {"type": "string"}})


@dataclass(frozen=True, slots=True)
class FixerInputs:
    """The module that could not be imported, the test program, the canonical text of the report."""

    module: str
    program: str
    report: str


class FixerReply(VerdictModel):
    """`pip install ...` lines; none if no distribution provides the module."""

    commands: list[Said]


def build_fixer_request(inputs: FixerInputs, model: str, **options: Unpack[Options]) -> Request:
    """The question about one missing module."""
    user = prompts.load_agent_prompt(NAME).render(
        "user",
        module=fence_material("module", inputs.module),
        program=fence_material("program", inputs.program),
        report=fence_material("report", inputs.report),
    )
    return compose_agent_request(NAME, model, user, SCHEMA, MAX_TOKENS, options)
