"""Sampling parameters as a person types them."""

from typing import Final

from annotation.llm.request import LIMIT, JsonObject
from annotation.llm.strict_json import NotJson, parse_strict_json

EXAMPLE = '{"temperature": 0}'
LONGER: Final = f'{{"{LIMIT}": 16384}}'
"""What to type where replies are cut off."""
MOST: Final = 200_000


class NotSampling(ValueError):
    """What was typed names no sampling parameters; the message says what to type."""


def sampling_of(text: str) -> JsonObject:
    """The parameters in a JSON text; none in an empty one. Raises NotSampling."""
    try:
        found = parse_strict_json(text.strip() or "{}")
    except NotJson as error:
        raise NotSampling(f"Sampling is JSON, such as {EXAMPLE}; this is none: {error}.") from error
    if not isinstance(found, dict):
        raise NotSampling(f"Sampling is a JSON object, such as {EXAMPLE}.")
    refuse_bad_limit(found)
    return found


def refuse_bad_limit(sampling: JsonObject) -> None:
    """Raises NotSampling where the tokens that a reply may have are no such number."""
    limit = sampling.get(LIMIT, 1)
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST:
        raise NotSampling(f'"{LIMIT}" is how many tokens a reply may have at least: 1 to {MOST:,}.')
