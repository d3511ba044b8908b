"""The screener for all candidates of a query at once: fewer tokens, but it sees what it compares.

It is another annotator than the screener of single pairs: candidates are judged in company, and their place
in the request may matter, so they come in an order drawn from a stored seed.
"""

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, TypeVar, Unpack

from pydantic import BeforeValidator, Field

from annotation import prompts
from annotation.agents.fields import Said, from_menu
from annotation.agents.replies import InvalidReply, VerdictModel
from annotation.agents.request_parts import Options, compose_agent_request, fence_material, schema_of
from annotation.llm.request import Request

NAME: Final = "query_screener"
TOKENS_A_VERDICT: Final = 300
MOST_AT_ONCE: Final = 20
"""Candidates of one request; a query with more is asked about in several."""
SCHEMA: Final = schema_of(
    verdicts={
        "type": "array",
        "items": schema_of(
            candidate={"type": "integer"},
            explanation={"type": "string"},
            verdict={"type": "number", "enum": [0, 0.5, 1]},
        ),
    }
)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class CompanyInputs:
    """The query and the codes of its candidates, in the order in which they are shown."""

    query: str
    codes: tuple[str, ...]


class OneVerdict(VerdictModel):
    """1 plain match, 0 plain mismatch, 0.5 unclear: to be tested; `candidate` counts from 1."""

    candidate: Annotated[int, Field(ge=1)]
    explanation: Said
    verdict: Annotated[float, BeforeValidator(from_menu(0.0, 0.5, 1.0))]


class CompanyVerdict(VerdictModel):
    """The verdicts on all candidates of a request."""

    verdicts: list[OneVerdict]


def shuffle_for_query(things: Sequence[_T], seed: int, query: str) -> list[_T]:
    """`things` in the order of this seed and query; the same on every machine and in every release."""
    order = list(things)
    random.Random(hashlib.sha256(f"{seed}\n{query}".encode()).hexdigest()).shuffle(order)  # noqa: S311
    return order


def build_listwise_request(inputs: CompanyInputs, model: str, **options: Unpack[Options]) -> Request:
    """The question about all candidates."""
    blocks = (fence_material(f"candidate-{number}", code) for number, code in enumerate(inputs.codes, 1))
    user = prompts.load_agent_prompt(NAME).render(
        "user",
        count=str(len(inputs.codes)),
        query=fence_material("query", inputs.query),
        candidates="\n\n".join(blocks),
    )
    return compose_agent_request(
        NAME, model, user, SCHEMA, 2048 + TOKENS_A_VERDICT * len(inputs.codes), options
    )


def parse_listwise_verdict(text: str, count: int | None = None) -> CompanyVerdict:
    """The verdicts in a reply; with `count` there has to be exactly one on each candidate.

    Raises InvalidReply.
    """
    found = CompanyVerdict.of_reply(text)
    numbers = sorted(verdict.candidate for verdict in found.verdicts)
    if numbers != list(range(1, (len(numbers) if count is None else count) + 1)):
        raise InvalidReply(f"has verdicts on the candidates {numbers}: give exactly one on each of them")
    return found
