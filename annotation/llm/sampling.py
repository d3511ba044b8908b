"""Sampling parameters as a person types them."""

from annotation.llm.request import JsonObject
from annotation.llm.strict_json import NotJson, loads

EXAMPLE = '{"temperature": 0}'


class NotSampling(ValueError):
    """What was typed names no sampling parameters; the message says what to type."""


def sampling_of(text: str) -> JsonObject:
    """The parameters in a JSON text; none in an empty one. Raises NotSampling."""
    try:
        found = loads(text.strip() or "{}")
    except NotJson as error:
        raise NotSampling(f"Sampling is JSON, such as {EXAMPLE}; this is none: {error}.") from error
    if not isinstance(found, dict):
        raise NotSampling(f"Sampling is a JSON object, such as {EXAMPLE}.")
    return found
