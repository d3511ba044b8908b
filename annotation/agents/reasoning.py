"""What a model wrote while it was thinking, and what it says after that."""

import re
from typing import Final

from annotation.llm.strict_json import OPENS_OBJECT, readable_end

MOST_MARKS: Final = 1_000
_NAMES: Final = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad"
_MARK: Final = rf"(?<![`\"'“])[<\[◁](?P<closes>/?)(?:{_NAMES})[>\]▷]"
"""`<think>` and its like. After a backtick or a quotation mark it is spoken of, and marks nothing."""
_MARK_OR_OBJECT: Final = re.compile(rf"(?P<object>{OPENS_OBJECT.pattern})|{_MARK}", re.IGNORECASE)
_CLOSING_MARK: Final = re.compile(_MARK.replace("/?", "/"), re.IGNORECASE)


def strip_reasoning(text: str) -> str:
    """The text without what stands in `<think>…</think>`; a tag inside a text of JSON is kept as it is.

    A `<think>` that is never closed takes all that follows. A `</think>` that nothing opened, as where the
    provider's template writes the opening tag, takes all before it. Nothing is left of a text with more than
    `MOST_MARKS` tags and objects, which is no answer and would take long.
    """
    kept, position, marks = list[str](), 0, 0
    while found := _MARK_OR_OBJECT.search(text, position):
        marks += 1
        if marks > MOST_MARKS:
            return ""
        if found["object"]:
            end = readable_end(text, found.start())
            kept.append(text[position:end])
        elif found["closes"]:
            kept.clear()
            end = found.end()
        else:
            kept.append(text[position : found.start()])
            end = _end_of_reasoning(text, found.end())
        position = end
    return "".join([*kept, text[position:]])


def _end_of_reasoning(text: str, start: int) -> int:
    closing = _CLOSING_MARK.search(text, start)
    return closing.end() if closing else len(text)
