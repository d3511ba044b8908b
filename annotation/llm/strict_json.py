"""JSON as the standard has it: no NaN or infinity, no key twice. Python's own reader lets both pass."""

import json
import math
import re
from typing import Final, NoReturn

OPENS_OBJECT: Final = re.compile(r'\{\s*["}]')
"""What an object begins with; a brace before anything else is none of JSON's."""


class NotJson(ValueError):
    """The text is no JSON by the standard; the message says what is wrong, in words for its author."""


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotJson("an object names a key twice")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise NotJson(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise NotJson(f"{digits} is too large a number")
    return number


def _decoder(*, control_characters: bool) -> json.JSONDecoder:
    return json.JSONDecoder(
        strict=not control_characters,
        object_pairs_hook=_without_repeats,
        parse_constant=_refuse_constant,
        parse_float=_finite,
    )


_STRICT: Final = _decoder(control_characters=False)
# Raw line breaks inside strings are what models without structured output send for programs.
_FORGIVING: Final = _decoder(control_characters=True)


_LENIENT: Final = json.JSONDecoder(strict=False)


def parse_strict_json(text: str) -> object:
    """The value of a whole JSON text. Raises NotJson."""
    try:
        return _STRICT.decode(text)
    except (ValueError, RecursionError) as error:
        raise _explained(error) from None


def object_at(text: str, start: int) -> tuple[dict[str, object], int]:
    """The object that opens at `start` and the place after it; raw control characters are forgiven.

    `text[start]` has to be an opening brace. Raises NotJson.
    """
    try:
        value, end = _FORGIVING.raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        raise _explained(error) from None
    return value, end


def readable_end(text: str, start: int) -> int:
    """Where the object that opens at `start` ends; of a broken one where it can't be read any further."""
    try:
        return _LENIENT.raw_decode(text, start)[1]
    except json.JSONDecodeError as error:
        return max(error.pos, start + 1)
    except (ValueError, RecursionError):
        return len(text)


def _explained(error: Exception) -> NotJson:
    if isinstance(error, NotJson):
        return error
    if isinstance(error, RecursionError):
        return NotJson("it is nested too deeply")
    return NotJson(error.msg if isinstance(error, json.JSONDecodeError) else str(error))
