"""From a reply's text to one JSON object and a validated verdict, or to InvalidReply; never to a guess."""

import json
import re
from collections.abc import Iterator
from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from annotation.llm.strict_json import NotJson, object_at

_LONGEST: Final = 1_000_000
_OPENS_OBJECT: Final = re.compile(r'\{\s*["}]')
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_Verdict = TypeVar("_Verdict", bound="VerdictModel")


class InvalidReply(Exception):
    """The reply is no verdict. The message tells the agent what was wrong, for the one repair call."""


class VerdictModel(BaseModel):
    """What every verdict has in common: fixed once made, no unknown keys, no silent conversions."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


def validate_reply_text(model: type[_Verdict], text: str) -> _Verdict:
    """The verdict in a reply's text. Raises InvalidReply, naming each wrong field."""
    try:
        return model.model_validate(one_object(text))
    except ValidationError as error:
        raise InvalidReply("; ".join(_complaints(error))) from None


def one_object(text: str) -> dict[str, object]:
    """The one JSON object in the text: alone, in a Markdown fence, or with prose around it.

    The same object twice counts as one. Raises InvalidReply for no object, for two different ones,
    for one that is cut off or repeats a key, and for NaN, infinity, NUL and lone surrogates.
    """
    if len(text) > _LONGEST:
        raise InvalidReply(f"the answer has {len(text):,} characters; it may have {_LONGEST:,}")
    found = {json.dumps(candidate, sort_keys=True): candidate for candidate in _objects(text)}
    if not found:
        raise InvalidReply("the answer holds no JSON object")
    if len(found) > 1:
        raise InvalidReply(
            f"the answer holds {len(found)} different JSON objects; it has to hold exactly one"
        )
    (chosen,) = found.values()
    _refuse_unstorable(chosen)
    return chosen


def _objects(text: str) -> Iterator[dict[str, object]]:
    whole = text.strip()
    if whole.startswith("["):
        raise InvalidReply("the answer is a list; it has to be one JSON object")
    position = 0
    while match := _OPENS_OBJECT.search(whole, position):
        candidate, position = _decode(whole, match.start())
        if candidate:
            yield candidate


def _decode(text: str, start: int) -> tuple[dict[str, object], int]:
    """The object that opens at `start` and where it ends.

    What opens like an object but can't be read to its end is an error, not something to skip: an inner
    object of a broken answer is not the answer.
    """
    try:
        return object_at(text, start)
    except NotJson as error:
        raise InvalidReply(f"the JSON in the answer can't be read: {error}") from None


def _refuse_unstorable(value: dict[str, object]) -> None:
    if any(_UNSTORABLE.search(text) for text in _texts(value)):
        raise InvalidReply("the answer holds a NUL character or half of a surrogate pair")


def _texts(value: object) -> Iterator[str]:
    """Every text in a JSON value, keys too: a program may well speak of \\u0000 without holding one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _complaints(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False, include_context=False):
        place = ".".join(str(part) for part in problem["loc"]) or "the object"
        yield f"{place}: {problem['msg'].removeprefix('Value error, ')}, got {_shown(problem['input'])}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
