"""From the client's message to a Reply, and from a Reply to one that may be used."""

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from annotation.llm import failures
from annotation.llm.errors import LLMError
from annotation.llm.profiles import ProviderProfile
from annotation.llm.reply import Reply, Usage, is_count
from annotation.llm.request import Request

if TYPE_CHECKING:
    from anthropic.types import Message
    from anthropic.types import Usage as BilledUsage

_FINISHED: Final = frozenset({"end_turn", "stop_sequence", "tool_use"})
_UNFINISHED: Final[Mapping[str, str]] = {
    "max_tokens": "the reply was cut off at max_tokens = {max_tokens}; give the annotator more",
    "refusal": "the model declined to answer",
    "model_context_window_exceeded": "the pair and its evidence are too long for the model",
    "pause_turn": "the model paused in the middle of its turn",
}
_DATED: Final = re.compile(r"[-@:](?:latest|\d{8}|\d{4}-\d{2}-\d{2})$")


def reply_of(message: object, headers: Mapping[str, str], latency: float, base_url: str) -> Reply:
    """The reply in a message, whatever its stop reason. Raises LLMError if it is no message."""
    from anthropic.types import Message

    # The client builds its models without checking them, so a field can be absent or of any type.
    if not isinstance(message, Message) or not _complete(message):
        raise failures.of_protocol("the answer is no message with content, model and usage", base_url)
    return Reply(
        text=_text(message),
        model=message.model,
        usage=_usage(message.usage),
        latency=latency,
        request_id=headers.get("request-id") or message.id,
        stop_reason=message.stop_reason or "none",
        pause=failures.used_up(headers),
    )


def usable(reply: Reply, request: Request, profile: ProviderProfile) -> Reply:
    """The same reply. Raises LLMError, with the reply, if it is unfinished, empty or another model's."""
    if reply.stop_reason not in _FINISHED:
        reason = _UNFINISHED.get(reply.stop_reason, "the reply ended for an unknown reason")
        told = reason.format(max_tokens=request.max_tokens)
        raise LLMError(f"{told} (stop reason '{reply.stop_reason}')", retryable=False, reply=reply)
    if not reply.text.strip():
        raise LLMError("the reply is empty", retryable=False, reply=reply)
    if profile.same_model and _bare(reply.model) != _bare(request.model):
        told = f"asked for the model {request.model}, {reply.model} answered: name the model that is served"
        raise LLMError(told, retryable=False, provider=True, reply=reply)
    return reply


def _complete(message: "Message") -> bool:
    usage = getattr(message, "usage", None)
    counts = (getattr(usage, "input_tokens", None), getattr(usage, "output_tokens", None))
    cached = (getattr(usage, "cache_read_input_tokens", 0), getattr(usage, "cache_creation_input_tokens", 0))
    return (
        isinstance(getattr(message, "content", None), list)
        and isinstance(getattr(message, "model", None), str)
        and all(map(is_count, counts))
        and all(count is None or is_count(count) for count in cached)
    )


def _text(message: "Message") -> str:
    """What was handed in with tool calls (several of them fail in parsing, as they should), else the text."""
    calls = [
        json.dumps(block.input, ensure_ascii=False) for block in message.content if block.type == "tool_use"
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
