"""From the client's message to a Reply that says of itself whether it is an answer."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from annotation.llm import failures
from annotation.llm.errors import LLMError
from annotation.llm.payload import TOOL
from annotation.llm.profiles import ProviderProfile
from annotation.llm.reply import Reply, Usage, is_count
from annotation.llm.request import Request
from annotation.llm.strict_json import NotJson, parse_strict_json

if TYPE_CHECKING:
    from anthropic.types import Message
    from anthropic.types import Usage as BilledUsage

_FINISHED: Final = frozenset({"end_turn", "stop_sequence", "tool_use"})
_UNFINISHED: Final[Mapping[str, str]] = {
    "max_tokens": "the reply was cut off at max_tokens = {max_tokens}: answer more briefly",
    "refusal": "the model declined to answer",
    "model_context_window_exceeded": "the pair and its evidence are too long for the model",
    "pause_turn": "the model paused in the middle of its turn",
    "insufficient_system_resource": "the provider ran out of resources",
    "error": "the provider failed in the middle of the reply",
}
_LONGEST_NAME: Final = 60
_DATED: Final = re.compile(r"[-@:](?:latest|\d{8}|\d{4}-\d{2}-\d{2})$")


def reply_of(message: object, headers: Mapping[str, str], latency: float, base_url: str) -> Reply:
    """The reply in a message, whatever its stop reason. Raises LLMError if it is no message.

    Its defect is that of tool calls alone; `flag_unusable_reply` looks for the others.
    """
    from anthropic.types import Message

    # The client builds its models without checking them, so a field can be absent or of any type.
    if not isinstance(message, Message) or not _complete(message):
        raise failures.of_protocol(
            "the answer is no message with content, model and usage", base_url, maybe_billed=True
        )
    return Reply(
        text=_read_answer(message),
        model=message.model,
        usage=_usage(message.usage),
        latency=latency,
        request_id=headers.get("request-id") or str(getattr(message, "id", "")),
        stop_reason=_stop_reason(message),
        pause=failures.used_up(headers),
        defect=_other_tool(message),
    )


def flag_duplicate_keys(reply: Reply, body: str) -> Reply:
    """The same reply; where `body`, the answer as it came, names a key twice, that is its defect.

    What the client hands on of a tool call has lost one of the two values already.
    """
    try:
        parse_strict_json(body)
    except NotJson as error:
        return replace(reply, defect=reply.defect or f"the JSON of the reply can't be read: {error}")
    return reply


def flag_unusable_reply(reply: Reply, request: Request, profile: ProviderProfile) -> Reply:
    """The same reply, with what keeps it from being an answer as its defect.

    Raises LLMError, with the reply, if another model gave it: that is no fault of the reply, and no other
    reply of this provider would be better.
    """
    if profile.same_model and _bare(reply.model) != _bare(request.model):
        told = f"asked for the model {request.model}, {reply.model} answered: name the model that is served"
        raise LLMError(told, retryable=False, provider=True, reply=reply)
    return replace(reply, defect=_defect(reply, request))


def _defect(reply: Reply, request: Request) -> str:
    if reply.stop_reason not in _FINISHED:
        reason = _UNFINISHED.get(reply.stop_reason, "the reply ended for an unknown reason")
        return (
            f"{reason.format(max_tokens=request.max_tokens)} (stop reason '{clip_name(reply.stop_reason)}')"
        )
    return reply.defect or ("" if reply.text.strip() else "the reply is empty")


def clip_name(text: str) -> str:
    """A name that a server made up, short enough to be shown."""
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"


def _complete(message: "Message") -> bool:
    usage = getattr(message, "usage", None)
    counts = (getattr(usage, "input_tokens", None), getattr(usage, "output_tokens", None))
    cached = (getattr(usage, "cache_read_input_tokens", 0), getattr(usage, "cache_creation_input_tokens", 0))
    return (
        isinstance(getattr(message, "content", None), list)
        and all(map(_is_block, message.content))
        and isinstance(getattr(message, "model", None), str)
        and all(map(is_count, counts))
        and all(count is None or is_count(count) for count in cached)
    )


def _is_block(block: object) -> bool:
    kind = getattr(block, "type", None)
    return isinstance(kind, str) and (kind != "text" or isinstance(getattr(block, "text", None), str))


def _stop_reason(message: "Message") -> str:
    told: object = getattr(message, "stop_reason", None)
    return told if isinstance(told, str) and told else "none"


def _other_tool(message: "Message") -> str:
    """A tool that was made up has a form of its own: what it was called with is no answer."""
    called = [getattr(block, "name", None) for block in message.content if block.type == "tool_use"]
    others = [clip_name(str(name)) for name in called if name != TOOL]
    return f"the model called the tool '{others[0]}', which does not exist" if others else ""


def _read_answer(message: "Message") -> str:
    """What was handed in with tool calls (different ones fail in parsing, as they should), else the text."""
    calls = [
        json.dumps(getattr(block, "input", None), ensure_ascii=False)
        for block in message.content
        if block.type == "tool_use"
    ]
    texts = [block.text for block in message.content if block.type == "text"]
    return "\n".join(calls) if calls else "".join(texts)


def _usage(usage: "BilledUsage") -> Usage:
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_input_tokens or 0,
        cache_write_tokens=usage.cache_creation_input_tokens or 0,
    )


def _bare(model: str) -> str:
    """A model's name without a gateway's prefix and without the date or `latest` of an alias."""
    return _DATED.sub("", model.rpartition("/")[2].lower())
