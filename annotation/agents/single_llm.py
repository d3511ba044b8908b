"""One model alone, without tests: how much of the query's demands does the code meet?

CoSQA+'s first version ("Model Annotation"): a chain of thought with the annotation guidelines. Its two
criteria are read off one answer, so that they can't contradict: *exact match* wants all of the demands,
*50 % match* at least half of them.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final, Literal, Unpack

from pydantic import Field

from annotation import prompts
from annotation.agents.fields import Said
from annotation.agents.replies import VerdictModel
from annotation.agents.request_parts import Options, compose_agent_request, fence_material, schema_of
from annotation.llm.request import Request

NAME: Final = "single_llm"
MAX_TOKENS: Final = 4096
Share = Literal["all", "most", "little"]
SCHEMA: Final = schema_of(
    demands={"type": "array", "items": {"type": "string"}},
    evidence={"type": "string"},
    share={"type": "string", "enum": ["all", "most", "little"]},
)


class Criterion(StrEnum):
    """What counts as a match."""

    EXACT = "exact"
    HALF = "half"


@dataclass(frozen=True, slots=True)
class SingleInputs:
    """The pair."""

    query: str
    code: str


class SingleVerdict(VerdictModel):
    """What the query demands, what of it the code meets, and the share of it."""

    demands: Annotated[list[Said], Field(min_length=1)]
    evidence: Said
    share: Share

    def label(self, criterion: Criterion) -> int:
        """1 match, 0 no match; a match by the exact criterion is one by the other, too."""
        return int(self.share == "all" or (self.share == "most" and criterion is Criterion.HALF))

    @property
    def words(self) -> str:
        """The verdict as a reader sees it."""
        return f"Meets {self.share} of: {'; '.join(self.demands)}. {self.evidence}"


def build_single_llm_request(inputs: SingleInputs, model: str, **options: Unpack[Options]) -> Request:
    """The question about one pair; it is the same for both criteria, so a reply serves both."""
    user = prompts.load_agent_prompt(NAME).render(
        "user", query=fence_material("query", inputs.query), code=fence_material("code", inputs.code)
    )
    return compose_agent_request(NAME, model, user, SCHEMA, MAX_TOKENS, options)
