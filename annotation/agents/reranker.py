"""Ranks the first results of a code search once more, all of a query's in one request.

It labels nothing: its order is the second stage of a system that is measured.
"""

from collections.abc import Sequence
from typing import Final, Unpack

from annotation import prompts
from annotation.agents.query_screener import CompanyInputs
from annotation.agents.replies import InvalidReply, VerdictModel
from annotation.agents.request_parts import Options, compose_agent_request, fence_material, schema_of
from annotation.llm.request import Request

NAME: Final = "reranker"
MAX_TOKENS: Final = 4096
MOST_AT_ONCE: Final = 50
"""Results of one request."""
LONGEST_CODE: Final = 3_000
"""Characters of a snippet that are shown: all results have to fit in one request."""
SCHEMA: Final = schema_of(order={"type": "array", "items": {"type": "integer"}})


class RankedReply(VerdictModel):
    """The numbers of the snippets, counted from 1, the best one first."""

    order: list[int]


def build_rank_request(inputs: CompanyInputs, model: str, **options: Unpack[Options]) -> Request:
    """The question for the order of these snippets, which come as the first stage ranked them."""
    shown = (code[:LONGEST_CODE] for code in inputs.codes)
    blocks = (fence_material(f"snippet-{number}", code) for number, code in enumerate(shown, 1))
    user = prompts.load_agent_prompt(NAME).render(
        "user",
        count=str(len(inputs.codes)),
        query=fence_material("query", inputs.query),
        snippets="\n\n".join(blocks),
    )
    return compose_agent_request(NAME, model, user, SCHEMA, MAX_TOKENS, options)


def parse_ranked_reply(text: str, count: int | None = None) -> RankedReply:
    """The order in a reply: each number from 1 on once, up to `count` where that is known.

    Raises InvalidReply.
    """
    found = RankedReply.of_reply(text)
    wanted = range(1, (len(found.order) if count is None else count) + 1)
    if not found.order or sorted(found.order) != list(wanted):
        raise InvalidReply(f"order: has to hold each number from 1 to {len(wanted)} once")
    return found


def apply_order(places: Sequence[int], reply: RankedReply) -> list[int]:
    """What was shown, in the order of the reply."""
    return [places[number - 1] for number in reply.order]
