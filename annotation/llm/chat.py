"""OpenAI's chat completions, through the openai client: the door to it beside `batches.chat`.

Servers that speak it differ in what they leave out. Where a documented server sends no usage, its tokens are
counted at their bound, a byte a token; what a model thought (`reasoning`, `reasoning_content`) is no answer.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from annotation.llm import failures
from annotation.llm.deadline import bounded_client
from annotation.llm.errors import LLMError
from annotation.llm.payload import TOOL, TOOL_TEXT, refuse_foreign_sampling, tell_schema
from annotation.llm.profiles import Mode, ProviderProfile
from annotation.llm.reply import Reply, Usage, is_count
from annotation.llm.request import Request, escape_surrogates
from annotation.llm.responses import clip_name
from annotation.llm.strict_json import NotJson, parse_strict_json
from annotation.llm.wire import Place

if TYPE_CHECKING:
    from openai import OpenAI

PROTOCOL: Final = "OpenAI's chat completions"
ENDPOINT: Final = "/v1/chat/completions"
_STOPS: Final[Mapping[str, str]] = {
    "stop": "end_turn",
    "eos": "end_turn",
    "eos_token": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}
"""Finish reasons in the words that replies have by the Messages protocol; others stay as they are."""

_SAMPLING: Final[Mapping[str, str]] = {"effort": "reasoning_effort"}
"""What sampling parameters are called here, where that is not their name."""


class ChatWire:
    """See `WireProtocol`."""

    def open(self, place: Place) -> OpenAI:
        """The openai client."""
        import openai

        client = openai.OpenAI(
            api_key=place.api_key,
            base_url=f"{place.base_url}/v1",
            timeout=place.timeout,
            max_retries=0,
            http_client=bounded_client(place.timeout, place.judged),
        )
        # From the environment, which is no setting of ours: another server has no business with them.
        client.organization = client.project = None
        return client

    def ask(self, client: OpenAI, place: Place, request: Request, mode: Mode) -> Reply:
        """The reply of `POST /v1/chat/completions`."""
        body = build_chat_body(request, place.profile, mode)
        named = {name: body.pop(name) for name in ("model", "messages")}
        start = time.monotonic()
        with told_errors(place.base_url, request.model):
            raw = client.chat.completions.with_raw_response.create(**named, extra_body=body)
        latency = time.monotonic() - start
        return reply_of_completion(
            read_completion(raw.text, place.base_url), raw.headers, latency, place.base_url, request
        )

    def count(self, client: OpenAI, place: Place, request: Request, mode: Mode) -> int:
        """The protocol has no such call. Raises LLMError."""
        raise LLMError(f"{PROTOCOL} counts no tokens without answering", retryable=False)


def build_chat_body(request: Request, profile: ProviderProfile, mode: Mode) -> dict[str, Any]:
    """The body of a request, by the parameters of the protocol.

    Raises LLMError for a sampling parameter that the profile doesn't take.
    """
    refuse_foreign_sampling(request, profile)
    in_words = mode in ("json_object", "prompt")
    system = tell_schema(request) if in_words else escape_surrogates(request.system)
    turns = [{"role": turn.role, "content": escape_surrogates(turn.text)} for turn in request.messages]
    sampling = {_SAMPLING.get(name, name): value for name, value in request.sampling.items()}
    thinking = {"thinking": {"type": "disabled"}} if profile.thinking == "disabled" else {}
    return {
        "model": request.model,
        "messages": [{"role": "system", "content": system}, *turns],
        profile.length_name: request.max_tokens,
        **_output(request, profile, mode),
        **sampling,
        **thinking,
        **profile.extra,
    }


def _output(request: Request, profile: ProviderProfile, mode: Mode) -> dict[str, Any]:
    schema = dict(request.schema)
    if mode == "json_schema":
        shape = {"name": TOOL, "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": shape}}
    if mode == "json_object":
        return {"response_format": {"type": "json_object"}}
    if mode != "forced_tool":
        return {}
    function: dict[str, Any] = {"name": TOOL, "description": TOOL_TEXT, "parameters": schema}
    function |= {"strict": True} if profile.strict_tool else {}
    choice = {"type": "function", "function": {"name": TOOL}}
    return {"tools": [{"type": "function", "function": function}], "tool_choice": choice}


def read_completion(text: str, base_url: str) -> dict[str, Any]:
    """The body of an answer with status 200. Raises LLMError where it is no object, or an error after all.

    OpenRouter answers 200 and an error where the model's provider failed once the reply had begun.
    """
    try:
        found = parse_strict_json(text.strip())
    except NotJson as error:
        raise _broken(f"the answer is no JSON: {error}", base_url) from error
    if not isinstance(found, dict):
        raise _broken("the answer is no JSON object", base_url)
    if isinstance(found.get("error"), dict) and not found.get("choices"):
        raise _late_error(found["error"])
    return found


def _late_error(error: Mapping[str, Any]) -> LLMError:
    code = error.get("code")
    status = code if isinstance(code, int) and 400 <= code < 600 else None
    told = f"the provider reports an error in its answer: {str(error.get('message', error))[:300]}"
    return LLMError(told, retryable=status is None or status >= 500 or status in (408, 429), status=status)


def _broken(reason: str, base_url: str) -> LLMError:
    return failures.of_protocol(reason, base_url, maybe_billed=True, protocol=PROTOCOL)


def read_error_text(told: object) -> str:
    """What the body of an error says, or as much of the body as there is."""
    inner = told.get("error", told) if isinstance(told, dict) else told
    words = inner.get("message") or inner.get("code") if isinstance(inner, dict) else inner
    return " ".join(str(words or told or "no reason is given").split())


def reply_of_completion(
    data: Mapping[str, Any],
    headers: Mapping[str, str],
    latency: float,
    base_url: str,
    request: Request | None,
) -> Reply:
    """The reply in a completion, whatever its finish reason. Raises LLMError if it is none.

    Without the request a reply without usage can't be counted, and is none.
    """
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if choice is None or not isinstance(message, dict) or not isinstance(data.get("model"), str):
        raise _broken("the answer is no completion with a message and the model's name", base_url)
    answer, defect = _answer_of(message)
    refused = isinstance(message.get("refusal"), str) and message["refusal"].strip()
    return Reply(
        text=answer,
        model=data["model"],
        usage=usage_of(data.get("usage"), request, message),
        latency=latency,
        request_id=headers.get("x-request-id") or str(data.get("id") or ""),
        stop_reason="refusal" if refused else _stop_reason(choice),
        pause=failures.used_up(headers),
        defect=defect,
    )


def _stop_reason(choice: Mapping[str, Any]) -> str:
    told = choice.get("finish_reason")
    return _STOPS.get(told, told) if isinstance(told, str) and told else "none"


def _answer_of(message: Mapping[str, Any]) -> tuple[str, str]:
    """The answer's text, and what is wrong with its tool calls; what the model thought is left out."""
    calls = message.get("tool_calls") or []
    functions = [call.get("function") for call in calls if isinstance(call, dict)]
    named = [
        (function.get("name"), function.get("arguments"))
        for function in functions
        if isinstance(function, dict)
    ]
    if not named:
        return _text_of(message.get("content")), ""
    others = [clip_name(str(name)) for name, _ in named if name != TOOL]
    defect = f"the model called the tool '{others[0]}', which does not exist" if others else ""
    # Some templates hand over an object where the protocol has a text.
    said = (given if isinstance(given, str) else json.dumps(given, ensure_ascii=False) for _, given in named)
    return "\n".join(said), defect


def _text_of(content: object) -> str:
    """The text of a message; Mistral and gateways send it in parts, beside parts that the model thought."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text")
    return "".join(text for text in texts if isinstance(text, str))


def usage_of(told: object, request: Request | None, message: Mapping[str, Any]) -> Usage:
    """The billed tokens; where the server tells none, the most that they can be of this request.

    Cached tokens are part of `prompt_tokens`. What `total_tokens` has beyond both counts was thought.
    Raises LLMError where neither is known.
    """
    told = told if isinstance(told, dict) else {}
    given, said = told.get("prompt_tokens"), told.get("completion_tokens")
    if not is_count(given) or not is_count(said):
        if request is None:
            raise LLMError("the reply does not say its tokens", retryable=True, maybe_billed=True)
        return Usage(count_most_tokens(request.to_dict()), count_most_tokens(message))
    total = told.get("total_tokens")
    thought = total - given - said if is_count(total) else 0
    cached = min(_cached_tokens(told), given)
    return Usage(given - cached, said + max(0, thought), cache_read_tokens=cached)


def _cached_tokens(told: Mapping[str, Any]) -> int:
    details = told.get("prompt_tokens_details")
    named = details.get("cached_tokens") if isinstance(details, dict) else told.get("prompt_cache_hit_tokens")
    return named if is_count(named) else 0


def count_most_tokens(data: object) -> int:
    """The most tokens that a tokenizer of bytes can make of it: a byte a token."""
    return len(json.dumps(data, ensure_ascii=False, default=str).encode("utf-8", "backslashreplace"))


@contextlib.contextmanager
def told_errors(base_url: str, model: str) -> Iterator[None]:
    """The client's errors as LLMError."""
    import openai

    try:
        yield
    except openai.APIStatusError as error:
        raise failures.of_status(error, model) from error
    except openai.APIConnectionError as error:
        raise failures.of_connection(error, base_url) from error
    except (openai.OpenAIError, ValueError, AttributeError) as error:
        raise failures.of_protocol(str(error), base_url, protocol=PROTOCOL) from error
