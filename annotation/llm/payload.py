"""From a Request to the arguments of the client's `messages.create`, one way per rung of the ladder."""

import json
from typing import Any, Final

from annotation.llm.errors import LLMError
from annotation.llm.profiles import Mode, ProviderProfile
from annotation.llm.request import Request, escape_surrogates

TOOL: Final = "answer"
TOOL_TEXT: Final = "Hand in the answer. Call this tool exactly once."
_IN_WORDS: Final = "Answer with exactly one JSON object that fits this JSON schema, with no other text:"


def build_request_payload(request: Request, profile: ProviderProfile, mode: Mode) -> dict[str, Any]:
    """Keyword arguments for `messages.create`.

    Raises LLMError if the request has a sampling parameter that the profile doesn't take: leaving it
    out would make the request's digest lie.
    """
    refuse_foreign_sampling(request, profile)
    arguments: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "system": _system(request, profile, mode),
        "messages": [
            {"role": turn.role, "content": escape_surrogates(turn.text)} for turn in request.messages
        ],
        **_output(request, profile, mode),
    }
    if profile.thinking == "disabled":
        arguments["thinking"] = {"type": "disabled"}
    if extra := {key: value for key, value in request.sampling.items() if key != "effort"}:
        arguments["extra_body"] = extra
    return arguments


def refuse_foreign_sampling(request: Request, profile: ProviderProfile) -> None:
    """Raises LLMError for a sampling parameter that the profile doesn't take."""
    if foreign := sorted(set(request.sampling) - set(profile.sampling)):
        taken = ", ".join(profile.sampling) or "none"
        raise LLMError(
            f"the provider profile '{profile.name}' takes no sampling parameter {', '.join(foreign)} "
            f"(it takes: {taken}); change the annotator's sampling or its profile.",
            retryable=False,
            provider=True,
        )


def tell_schema(request: Request) -> str:
    """The system prompt, followed by a description of the schema."""
    return f"{escape_surrogates(request.system)}\n\n{_IN_WORDS}\n{json.dumps(dict(request.schema))}"


def _system(request: Request, profile: ProviderProfile, mode: Mode) -> str | list[dict[str, Any]]:
    text = tell_schema(request) if mode == "prompt" else escape_surrogates(request.system)
    if not profile.prompt_caching:
        return text
    return [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]


def _output(request: Request, profile: ProviderProfile, mode: Mode) -> dict[str, Any]:
    config = {"effort": request.sampling["effort"]} if "effort" in request.sampling else {}
    arguments: dict[str, Any] = {}
    if mode == "json_schema":
        config["format"] = {"type": "json_schema", "schema": dict(request.schema)}
    elif mode == "forced_tool":
        arguments = _forced_tool(request, profile)
    return {**arguments, "output_config": config} if config else arguments


def _forced_tool(request: Request, profile: ProviderProfile) -> dict[str, Any]:
    tool: dict[str, Any] = {"name": TOOL, "description": TOOL_TEXT, "input_schema": dict(request.schema)}
    if profile.strict_tool:
        tool["strict"] = True
    choice = {"type": "tool", "name": TOOL, "disable_parallel_tool_use": True}
    return {"tools": [tool], "tool_choice": choice}
