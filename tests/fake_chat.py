"""A server that speaks OpenAI's chat completions over real HTTP, for tests and for trials by hand.

It is `FakeMessages` in another dress: scripts, faults, drops and canned verdicts are the same.

    with FakeChat(dress=as_ollama) as fake:
        fake.script({"verdict": 1, "explanation": "it does"}, Fault(429, headers={"retry-after": "2"}))

`supports` names what is known beside plain text: "json_schema", "json_object", "forced_tool", "temperature".
`dress(completion, body)` is what makes one server's answers differ from another's; `refuse(body)` refuses a
request as the server would; `shape(fault)` is how its errors look. By hand: `python -m tests.fake_chat`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tests.fake_chat_batches import ChatBatchServer
from tests.fake_messages import KEY, Answer, Call, Drop, FakeMessages, Fault, Handler, Say, Slowly
from tests.messages_protocol import Json, Refused, check_headers, check_messages, check_schema, read_body

PATH = "/v1/chat/completions"
FINISHES = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length", "refusal": "content_filter"}
SAMPLING = {"temperature", "top_p", "top_k", "min_p", "seed", "reasoning_effort"}
KNOWN = {"model", "messages", "max_tokens", "max_completion_tokens", "stream"}
OF_A_WAY = {
    "json_schema": {"response_format"},
    "json_object": {"response_format"},
    "forced_tool": {"tools", "tool_choice"},
    "temperature": SAMPLING,
    "thinking": {"thinking"},
    "provider": {"provider"},
}


def plain_error(fault: Fault) -> Json:
    """An error as OpenAI has it."""
    return {"error": {"message": fault.message, "type": fault.kind, "param": None, "code": None}}


class ChatHandler(Handler):
    def deliver(self, answer: Answer, status: int) -> None:
        if not isinstance(answer, Fault):
            super().deliver(answer, status)
            return
        fake = self.server.fake
        assert isinstance(fake, FakeChat)
        self._send(status, json.dumps(fake.shape(answer)).encode(), answer.headers)


class FakeChat(FakeMessages):
    def __init__(
        self,
        *,
        key: str = KEY,
        port: int = 0,
        supports: Iterable[str] = ("json_schema", "json_object", "forced_tool", "temperature", "thinking"),
        answer: Callable[[Json], Answer] | None = None,
        dress: Callable[[Json, Json], Json] = lambda completion, body: completion,
        refuse: Callable[[Json], str] = lambda body: "",
        shape: Callable[[Fault], Json] = plain_error,
    ) -> None:
        super().__init__(key=key, port=port, supports=supports, answer=answer, handler=ChatHandler)
        self.dress, self.refuse, self.shape = dress, refuse, shape
        self.chat_batches = ChatBatchServer(self)

    def handle(
        self, path: str, headers: Mapping[str, str], raw: bytes, method: str = "POST"
    ) -> tuple[Answer | Json, int]:
        """The key is a bearer token; there is no version header."""
        known = {**headers, "anthropic-version": "none"}
        if "x-api-key" in headers:
            return Fault(400, "x-api-key is no header of this protocol"), 400
        if self.chat_batches.serves(path):
            return self.handle_batch(path, known, raw, method)
        read_body(raw or b"{}")
        return super().handle(path, known, raw, method)

    def handle_batch(
        self, path: str, headers: Mapping[str, str], raw: bytes, method: str
    ) -> tuple[Answer | Json, int]:
        """The answer to a request about files or batches, and its status."""
        answer: Answer | Json
        try:
            check_headers(headers, self.key)
            answer = self.chat_batches.answer(method, path, headers, raw)
        except Refused as refused:
            answer = Fault(refused.status, str(refused))
        status = answer.status if isinstance(answer, Fault) else 0 if isinstance(answer, Drop) else 200
        self.calls.append(Call(path, headers, {}, status))
        return answer, status

    def answered(self, path: str, body: Json) -> Answer | Json:
        if path != PATH:
            raise Refused(f"Invalid URL (POST {path})", 404)
        if refusal := self.refuse(body):
            raise Refused(refusal)
        self.check(body)
        asked = as_messages(body)
        answer = self._script.popleft() if self._script else None
        answer = self.answer(asked) if answer is None else answer
        if isinstance(answer, Slowly):
            raise NotImplementedError("no chat test needs it")
        if isinstance(answer, dict) and "choices" in answer:
            return answer
        if (body.get("response_format") or {}).get("type") == "json_object" and isinstance(answer, dict):
            answer = Say(json.dumps(answer))
        said = self._reply(answer, asked) if isinstance(answer, dict | Say) else answer
        return self.dress(as_completion(said), body) if isinstance(said, dict) else said

    def check(self, body: Json) -> None:
        known = KNOWN.union(*(OF_A_WAY[way] for way in self.supports))
        for name in body:
            if name not in known:
                raise Refused(f"Unrecognized request argument supplied: {name}")
        check_messages([turn for turn in body["messages"] if turn["role"] != "system"])
        shape = body.get("response_format") or {}
        if shape and shape["type"] not in self.supports:
            raise Refused("This response_format type is unavailable now")
        if shape.get("type") == "json_schema":
            check_schema(shape["json_schema"]["schema"], "response_format")
        if shape.get("type") == "json_object" and "json" not in json.dumps(body["messages"]).lower():
            raise Refused("'messages' must contain the word 'json' to use 'response_format' of 'json_object'")


def as_messages(body: Json) -> Json:
    """The request as the Messages protocol has it, so that the same canned answers fit."""
    system = "".join(turn["content"] for turn in body["messages"] if turn["role"] == "system")
    found: dict[str, Any] = {
        "model": body["model"],
        "system": system,
        "messages": [turn for turn in body["messages"] if turn["role"] != "system"],
        "max_tokens": body.get("max_completion_tokens") or body["max_tokens"],
    }
    shape = body.get("response_format") or {}
    if shape.get("type") == "json_schema":
        found["output_config"] = {"format": {"type": "json_schema", "schema": shape["json_schema"]["schema"]}}
    if "tool_choice" in body:
        functions = [tool["function"] for tool in body["tools"]]
        found["tools"] = [{"name": one["name"], "input_schema": one["parameters"]} for one in functions]
        found["tool_choice"] = {"type": "tool", "name": body["tool_choice"]["function"]["name"]}
    return found


def as_completion(message: Json) -> Json:
    """The reply of the Messages protocol as a completion."""
    texts = [block["text"] for block in message["content"] if block["type"] == "text"]
    calls = [
        {
            "id": block["id"],
            "type": "function",
            "function": {"name": block["name"], "arguments": json.dumps(block["input"])},
        }
        for block in message["content"]
        if block["type"] == "tool_use"
    ]
    said = {"role": "assistant", "content": "".join(texts) or None} | ({"tool_calls": calls} if calls else {})
    given, produced = message["usage"]["input_tokens"], message["usage"]["output_tokens"]
    return {
        "id": message["id"].replace("msg", "chatcmpl"),
        "object": "chat.completion",
        "created": 1,
        "model": message["model"],
        "choices": [
            {
                "index": 0,
                "message": said,
                "finish_reason": FINISHES.get(message["stop_reason"], message["stop_reason"]),
            }
        ],
        "usage": {
            "prompt_tokens": given,
            "completion_tokens": produced,
            "total_tokens": given + produced,
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve OpenAI's chat completions with canned verdicts.")
    parser.add_argument("--port", type=int, default=8788)
    parser.add_argument("--key", default=KEY)
    arguments = parser.parse_args()
    fake = FakeChat(key=arguments.key, port=arguments.port)
    print(f"Chat completions on {fake.url}, key {fake.key}; stop with Ctrl-C", flush=True)
    fake.serve()


if __name__ == "__main__":
    main()
