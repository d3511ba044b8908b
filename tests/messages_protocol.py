"""What the Messages protocol demands of a request, with the real server's status and wording."""

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
KNOWN_KEYS = {
    "model", "max_tokens", "messages", "system", "output_config", "tools", "tool_choice", "thinking",
    "temperature", "top_p", "top_k", "stop_sequences", "metadata", "stream",
}  # fmt: skip
UNBOUNDED = ("minimum", "maximum", "multipleOf", "minLength", "maxLength")


class Refused(Exception):
    """The request breaks the protocol."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


def check_headers(headers: Mapping[str, str], key: str) -> None:
    if "anthropic-version" not in headers:
        raise Refused("anthropic-version: header is required")
    if key not in (headers.get("x-api-key"), headers.get("authorization", "").removeprefix("Bearer ")):
        raise Refused("invalid API key", 401)


def read_body(raw: bytes) -> Json:
    try:
        body = json.loads(raw)
    except ValueError:
        raise Refused("The request body is not valid JSON") from None
    if not isinstance(body, dict):
        raise Refused("Input should be an object")
    return body


def check_body(body: Json, supports: frozenset[str]) -> None:
    known = KNOWN_KEYS - ({"temperature", "top_p", "top_k"} if "temperature" not in supports else set())
    known -= {"output_config"} if "json_schema" not in supports else set()
    known -= {"tools", "tool_choice"} if "forced_tool" not in supports else set()
    for key in body:
        if key not in known:
            raise Refused(f"{key}: Extra inputs are not permitted")
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise Refused("model: Field required")
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        raise Refused("max_tokens: Input should be greater than or equal to 1")
    check_messages(body.get("messages"))
    check_output(body)


def check_messages(messages: object) -> None:
    if not isinstance(messages, list) or not messages:
        raise Refused("messages: at least one message is required")
    for number, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
            raise Refused(f"messages.{number}.role: Input should be 'user' or 'assistant'")
        if not message.get("content"):
            raise Refused(f"messages.{number}: text content blocks must be non-empty")
    if messages[-1]["role"] != "user":
        raise Refused("This model does not support assistant message prefill")


def check_output(body: Json) -> None:
    format_ = (body.get("output_config") or {}).get("format")
    if format_ is not None:
        if format_.get("type") != "json_schema" or not isinstance(format_.get("schema"), dict):
            raise Refused("output_config.format: Input should be a JSON schema format")
        check_schema(format_["schema"], "output_config.format.schema")
    names = [tool.get("name") for tool in body.get("tools", [])]
    for number, tool in enumerate(body.get("tools", [])):
        if not isinstance(tool.get("input_schema"), dict):
            raise Refused(f"tools.{number}.input_schema: Field required")
        if tool.get("strict"):
            check_schema(tool["input_schema"], f"tools.{number}.input_schema")
    choice = body.get("tool_choice")
    if choice is not None and choice.get("type") == "tool" and choice.get("name") not in names:
        raise Refused(f"tool_choice: Tool '{choice.get('name')}' not found in provided tools")
    if (
        choice is not None
        and choice.get("type") == "tool"
        and (body.get("thinking") or {}).get("type") == "enabled"
    ):
        raise Refused("Thinking may not be enabled when tool_choice forces tool use.")


def check_schema(schema: Json, place: str) -> None:
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        raise Refused(f"{place}: For 'object' type, 'additionalProperties' must be explicitly set to false")
    for bound in UNBOUNDED:
        if bound in schema:
            raise Refused(f"{place}: For '{schema.get('type')}' type, property '{bound}' is not supported")
    for name, inner in schema.get("properties", {}).items():
        check_schema(inner, f"{place}.{name}")


def schema_in(body: Json) -> Json | None:
    if format_ := (body.get("output_config") or {}).get("format"):
        return dict(format_["schema"])
    if (body.get("tool_choice") or {}).get("type") == "tool":
        name = body["tool_choice"]["name"]
        return next(dict(tool["input_schema"]) for tool in body["tools"] if tool["name"] == name)
    return None


def fits(value: object, schema: Json) -> bool:
    if "enum" in schema and value not in schema["enum"]:
        return False
    match schema.get("type"):
        case "object":
            properties = schema["properties"]
            return (
                isinstance(value, dict)
                and value.keys() == properties.keys()
                and all(fits(value[name], inner) for name, inner in properties.items())
            )
        case "array":
            return isinstance(value, list) and all(fits(item, schema["items"]) for item in value)
        case "string":
            return isinstance(value, str)
    return True
