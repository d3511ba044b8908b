"""A server that speaks the Messages protocol over real HTTP, for tests and for trials by hand.

    with FakeMessages() as fake:
        fake.script({"verdict": 1, "explanation": "it does"}, Fault(529))
        LiveLLM(fake.key, ANTHROPIC, base_url=fake.url).ask(request)
        assert fake.calls[0].body["model"] == "some-model"

Scripted answers are used up first, then `answer(body)` decides; by default it fills the schema with a
sensible verdict. By hand: `python -m tests.fake_messages --port 8787`, then point the workbench's
provider address there, with the key `fake-key`.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import re
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self, TypeAlias

from tests.fake_batches import PATH, Batches
from tests.messages_protocol import (
    ERROR_TYPES,
    Json,
    Refused,
    check_body,
    check_headers,
    fits,
    read_body,
    schema_in,
)

KEY = "fake-key"
DROPS = 20
"""Pieces of a body that drips."""


@dataclass(frozen=True)
class Say:
    """A reply as it is, whatever the request's schema wants: text, stop reason, model, tool calls.

    `blocks` come before the text, as they are; the tool calls are of the tool that was asked for, or of
    `tool_name`.
    """

    text: str = ""
    stop_reason: str = "end_turn"
    model: str = ""
    tool_inputs: tuple[object, ...] = ()
    tool_name: str = ""
    blocks: tuple[object, ...] = ()


@dataclass(frozen=True)
class Fault:
    """An error with its HTTP status; `kind` is the protocol's error type."""

    status: int
    message: str = "scripted fault"
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return ERROR_TYPES.get(self.status, "api_error")


@dataclass(frozen=True)
class Drop:
    """The connection is closed without an answer, after `seconds`."""

    seconds: float = 0.0


@dataclass(frozen=True)
class Raw:
    """An answer with status 200 that is none of the protocol."""

    body: bytes
    content_type: str = "application/json"
    cut: bool = False


@dataclass(frozen=True)
class Slowly:
    """A reply that takes its time: `stall` seconds pass before it, `drip` from its first byte to its last.

    Where it is `cut`, the connection is reset in the middle of the body.
    """

    said: Json | Say
    stall: float = 0.0
    drip: float = 0.0
    cut: bool = False


@dataclass(frozen=True)
class Expired:
    """In a batch: the request was not answered in time."""


Answer: TypeAlias = Json | Say | Fault | Drop | Raw | Slowly | Expired
"""A dict is the agent's JSON object: it comes back the way the request asks for structured output."""


@dataclass(frozen=True)
class Call:
    """One request as it arrived: header names are in lower case; `status` is 0 for a dropped one."""

    path: str
    headers: Mapping[str, str]
    body: Json
    status: int


class FakeMessages:
    """The server; it listens on 127.0.0.1 while the context is open.

    `supports` names what is known beside plain text: "json_schema", "forced_tool", "temperature". What is in
    `reply_headers` goes out with every reply.
    """

    def __init__(
        self,
        *,
        key: str = KEY,
        port: int = 0,
        supports: Iterable[str] = ("json_schema", "forced_tool"),
        answer: Callable[[Json], Answer] | None = None,
        handler: type[Handler] | None = None,
    ) -> None:
        self.key = key
        self.supports = frozenset(supports)
        self.answer = answer or canned
        self.calls: list[Call] = []
        self.reply_headers: dict[str, str] = {}
        self.batches = Batches(self)
        self._script: deque[Answer] = deque()
        self._cached: set[str] = set()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._server = Server(("127.0.0.1", port), self, handler or Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def script(self, *answers: Answer) -> None:
        """Answers for the next valid requests, in this order."""
        self._script.extend(answers)

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def serve(self) -> None:
        """Serve in this thread until interrupted."""
        self._server.serve_forever()

    def handle(
        self, path: str, headers: Mapping[str, str], raw: bytes, method: str = "POST"
    ) -> tuple[Answer | Json, int]:
        """The answer to one request (a dict is a response body) and its status."""
        body: Json = {}
        try:
            check_headers(headers, self.key)
            body = read_body(raw) if raw else {}
            answer = (
                self.batches.answer(method, path, body)
                if path.startswith(PATH)
                else self.answered(path, body)
            )
        except Refused as refused:
            answer = Fault(refused.status, str(refused))
        status = answer.status if isinstance(answer, Fault) else 0 if isinstance(answer, Drop) else 200
        with self._lock:
            self.calls.append(Call(path, headers, body, status))
        return answer, status

    def next_id(self, prefix: str) -> str:
        return f"{prefix}_fake{next(self._numbers):08d}"

    def answered(self, path: str, body: Json) -> Answer | Json:
        if path.partition("?")[0] == "/v1/messages/count_tokens":
            check_body(body | {"max_tokens": 1}, self.supports)
            return {"input_tokens": tokens([body.get("system"), body["messages"], body.get("tools")])}
        if path.partition("?")[0] != "/v1/messages":
            raise Refused(f"{path} not found", 404)
        check_body(body, self.supports)
        with self._lock:
            answer = self._script.popleft() if self._script else None
        answer = self.answer(body) if answer is None else answer
        if isinstance(answer, Slowly):
            return replace(answer, said=self._reply(answer.said, body))
        return self._reply(answer, body) if isinstance(answer, dict | Say) else answer

    def _reply(self, said: Json | Say, body: Json) -> Json:
        return self._message(structured(said, body) if isinstance(said, dict) else said, body)

    def _message(self, said: Say, body: Json) -> Json:
        content = list(said.blocks)
        content += [{"type": "text", "text": said.text}] if said.text else []
        for tool_input in said.tool_inputs:
            name = said.tool_name or body["tool_choice"]["name"]
            content.append(
                {"type": "tool_use", "id": self.next_id("toolu"), "name": name, "input": tool_input}
            )
        produced, stop_reason = tokens(content), said.stop_reason
        if produced > body["max_tokens"]:
            cut = said.text[: 4 * body["max_tokens"]]
            content, produced, stop_reason = [{"type": "text", "text": cut}], body["max_tokens"], "max_tokens"
        return {
            "id": self.next_id("msg"),
            "type": "message",
            "role": "assistant",
            "model": said.model or body["model"],
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": self._usage(body, produced),
        }

    def _usage(self, body: Json, produced: int) -> Json:
        """Four characters are a token; a system prompt with cache_control is written once, then read."""
        system = body.get("system", "")
        cached = tokens(system) if isinstance(system, list) and "cache_control" in system[-1] else 0
        key = hashlib.sha256(json.dumps([body["model"], system]).encode()).hexdigest()
        with self._lock:
            known = key in self._cached
            self._cached.add(key)
        return {
            "input_tokens": tokens([system, body["messages"], body.get("tools")]) - cached,
            "output_tokens": produced,
            "cache_creation_input_tokens": 0 if known else cached,
            "cache_read_input_tokens": cached if known else 0,
            "service_tier": "standard",
        }


def tokens(data: object) -> int:
    return max(1, len(json.dumps(data)) // 4)


def structured(value: Json, body: Json) -> Say:
    """The object as a server gives it back: as text by schema, as a tool call, or in a Markdown fence."""
    schema = schema_in(body)
    if schema is not None and not fits(value, schema):
        raise Refused(f"the script's answer {value!r} does not fit the schema of the request", 500)
    if (body.get("output_config") or {}).get("format"):
        return Say(json.dumps(value))
    if (body.get("tool_choice") or {}).get("type") == "tool":
        return Say(stop_reason="tool_use", tool_inputs=(value,))
    return Say(f"Sure, here is my answer:\n\n```json\n{json.dumps(value, indent=2)}\n```")


def canned(body: Json) -> Answer:
    """A sensible verdict for each agent, told apart by what its prompt asks for."""
    system = body.get("system", "")
    rules = system if isinstance(system, str) else "".join(block["text"] for block in system)
    if "answer" in ((schema_in(body) or {}).get("properties") or {}) or '"answer"' in rules:
        return {"answer": 1}
    if '"share"' in rules:
        return {"demands": ["to be called"], "evidence": "It can be called.", "share": "all"}
    if '"difference"' in rules:
        return {"difference": "it does nothing", "code": f"{name_in(body)} = None\n"}
    if '"readings"' in rules:
        return canned_cases(name_in(body))
    if '"program"' in rules and '"helpers"' in rules:
        program = f"def main():\n    assert callable({name_in(body)})\n\n\nmain()\n"
        return {"reading": "the snippet can be called", "helpers": [], "program": program}
    if '"commands"' in rules:
        return {"commands": []}
    return {"explanation": "A canned verdict of the fake server.", "verdict": 0.5 if "0.5" in rules else 1}


def name_in(body: Json) -> str:
    """The first name of the snippet that a request lists."""
    names = re.search(r"(?:in scope|to define): (\w+)", json.dumps(body["messages"]))
    return names.group(1) if names else "print"


def canned_cases(name: str) -> Answer:
    """A test of one case that any function passes, and its reference."""
    return {
        "readings": [{"sense": "the snippet can be called", "likelihood": 100}],
        "helpers": [],
        "program": f"def r1_ordinary_call():\n    assert callable({name})\n",
        "reference": f"def {name}(*given):\n    return given\n",
    }


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], fake: FakeMessages, handler: type[Handler]) -> None:
        super().__init__(address, handler)
        self.fake = fake

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hung up is what some tests are about; nothing to report."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 10
    server: Server
    request_id = ""

    def do_POST(self) -> None:
        self.answer_request()

    def do_GET(self) -> None:
        self.answer_request()

    def answer_request(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.deliver(*self.server.fake.handle(self.path, headers, raw, self.command))

    def deliver(self, answer: Answer, status: int) -> None:
        match answer:
            case Drop(seconds):
                time.sleep(seconds)
                self.close_connection = True
            case Raw(body, content_type, cut):
                self._send(status, body, {"content-type": content_type}, cut=cut)
            case Fault(_, message, extra):
                error = {"type": "error", "error": {"type": answer.kind, "message": message}}
                self._send(status, json.dumps(error).encode(), extra)
            case Slowly(said, stall, drip, cut):
                time.sleep(stall)
                self._send(status, json.dumps(said).encode(), self.server.fake.reply_headers, drip, cut)
            case _:
                self._send(status, json.dumps(answer).encode(), self.server.fake.reply_headers)

    def _send(
        self, status: int, body: bytes, extra: Mapping[str, str], drip: float = 0.0, cut: bool = False
    ) -> None:
        self.request_id = self.server.fake.next_id("req")
        headers = {"content-type": "application/json", "request-id": self.request_id}
        for kind in ("requests", "input-tokens", "output-tokens"):
            headers |= {
                f"anthropic-ratelimit-{kind}-limit": "4000",
                f"anthropic-ratelimit-{kind}-remaining": "3999",
                f"anthropic-ratelimit-{kind}-reset": "2030-01-01T00:00:00Z",
            }
        self.send_response(status)
        for name, value in (headers | {"content-length": str(len(body))} | dict(extra)).items():
            self.send_header(name, value)
        self.end_headers()
        if cut:
            self.wfile.write(body[: len(body) // 2])
            self._reset()
        elif drip:
            self._drip(body, drip)
        else:
            self.wfile.write(body)

    def _drip(self, body: bytes, seconds: float) -> None:
        size = -(-len(body) // DROPS)
        for start in range(0, len(body), size):
            time.sleep(seconds / DROPS)
            self.wfile.write(body[start : start + size])

    def _reset(self) -> None:
        """Close at once, with an RST: what lies in the buffers is thrown away at both ends."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class's name)
        """Quiet: the calls are in `FakeMessages.calls`."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve the Messages protocol with canned verdicts.")
    parser.add_argument("--port", type=int, default=8787)
    parser.add_argument("--key", default=KEY)
    arguments = parser.parse_args()
    fake = FakeMessages(key=arguments.key, port=arguments.port)
    print(f"Messages protocol on {fake.url}, key {fake.key}; stop with Ctrl-C", flush=True)
    fake.serve()


if __name__ == "__main__":
    main()
