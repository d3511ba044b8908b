"""From a reply's text to one JSON object and a validated verdict, or to InvalidReply; never to a guess."""

import json
import re
from collections.abc import Iterator, Set
from contextlib import suppress
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from annotation.agents.reasoning import strip_reasoning
from annotation.llm.strict_json import OPENS_OBJECT, NotJson, object_at, parse_strict_json

_LONGEST: Final = 1_000_000
_BRACE_OR_TEXT: Final = re.compile(r'[{}]|"(?:[^"\\]|\\.)*"', re.DOTALL)
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


class InvalidReply(Exception):
    """The reply is no verdict. The message tells the agent what was wrong, for the one repair call."""


class VerdictModel(BaseModel):
    """What every verdict has in common: fixed once made, no unknown keys, no silent conversions."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    @classmethod
    def of_reply(cls, text: str) -> Self:
        """The verdict in a reply's text. Raises InvalidReply, naming each wrong field."""
        fields = {name for name, field in cls.model_fields.items() if field.is_required()}
        try:
            return cls.model_validate(one_object(text, fields))
        except ValidationError as error:
            raise InvalidReply("; ".join(_complaints(error))) from None


def one_object(text: str, fields: Set[str] = frozenset()) -> dict[str, object]:
    """The one JSON object of the final answer: alone, in a Markdown fence, or with prose around it.

    What stands in `<think>…</think>` is no answer. The same object twice counts as one. Beside an object
    with all of `fields` those without are quotations. Raises InvalidReply for no object, for two different
    ones, for one that is cut off or repeats a key, and for NaN, infinity, NUL and lone surrogates.
    """
    if len(text) > _LONGEST:
        raise InvalidReply(f"the answer has {len(text):,} characters; it may have {_LONGEST:,}")
    found = {json.dumps(one, sort_keys=True): one for one in _objects(strip_reasoning(text).strip(), fields)}
    answers = [one for one in found.values() if fields <= one.keys()] or list(found.values())
    if not answers:
        raise InvalidReply("the answer holds no JSON object")
    if len(answers) > 1:
        raise InvalidReply(
            f"the answer holds {len(answers)} different JSON objects; it has to hold exactly one"
        )
    _refuse_unstorable(answers[0])
    return answers[0]


def _objects(text: str, fields: Set[str]) -> Iterator[dict[str, object]]:
    if _is_list(text):
        raise InvalidReply("the answer is a list; it has to be one JSON object")
    position = 0
    while match := OPENS_OBJECT.search(text, position):
        candidate, position = _decode(text, match.start(), fields)
        if candidate:
            yield candidate


def _is_list(text: str) -> bool:
    """Whether the text is a list as a whole, or begins with one of objects, readable or not."""
    if re.match(r"\[\s*\{", text):
        return True
    with suppress(NotJson):
        return isinstance(parse_strict_json(text), list)
    return False


def _decode(text: str, start: int, fields: Set[str]) -> tuple[dict[str, object], int]:
    """The object that opens at `start` and where it ends; nothing for a quotation that is no JSON.

    A broken object that names one of `fields` is an error, not something to skip: an inner object of a
    broken answer is not the answer.
    """
    try:
        return object_at(text, start)
    except NotJson as error:
        end = _end_of_braces(text, start)
        if end and fields and not any(f'"{name}"' in text[start:end] for name in fields):
            return {}, end
        raise InvalidReply(f"the JSON in the answer can't be read: {error}") from None


def _end_of_braces(text: str, start: int) -> int:
    """The place after the brace that closes the one at `start`; 0 where none does."""
    depth = 0
    for token in _BRACE_OR_TEXT.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return 0


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
