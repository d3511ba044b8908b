"""Requests and replies as JSON Lines, so that a person or any model can answer a build without a key.

A file of requests has two kinds of lines. A prompt line is {"prompt", "agent", "system", "schema"}: it holds
what many requests share, and comes once, before the first of them. A request line is {"id", "agent", "model",
"prompt", "messages"}, and "round" from the second one on; `prompt` names the line with its system prompt and
schema. A reply line is {"id", "reply"} with the agent's JSON object, or its text, as the reply. It may also
say which `model` answered and its `usage` ({"input_tokens", "output_tokens"}); other keys are ignored. The id
is the request's digest, so exporting again gives the same ids and a reply to a changed request is unknown.
"""

import hashlib
import json
import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final, NoReturn

from annotation.llm.errors import Waiting
from annotation.llm.reply import Reply, Usage, is_count
from annotation.llm.request import JsonObject, Request
from annotation.llm.strict_json import NotJson, parse_strict_json

LONGEST_LINE: Final = 4 * 1024 * 1024
_CHUNK: Final = 1024 * 1024
_ID: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class ReplyLine:
    """One good reply line; `line` counts from 1, `offset` is where it starts, in bytes."""

    line: int
    offset: int
    id: str
    text: str
    model: str
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class ExchangeProblem:
    """One line that was refused, and why; the other lines are not affected."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


class ExchangeLLM:
    """Answers nothing: every request waits until somebody's reply is imported."""

    name: Final = "exchange"

    def ask(self, request: Request) -> NoReturn:
        """Raises Waiting."""
        raise Waiting(request.digest(), request.agent)


def prompt_of(request: Request) -> dict[str, object]:
    """What the request shares with others of its agent, under the name that tells it apart from any other."""
    shared: dict[str, object] = {
        "agent": request.agent,
        "system": request.system,
        "schema": dict(request.schema),
    }
    digest = hashlib.sha256(json.dumps(shared, sort_keys=True).encode("ascii")).hexdigest()
    return {"prompt": f"{request.agent}-{digest[:12]}", **shared}


def question_of(request: Request) -> dict[str, object]:
    """What the request alone says, and the name of its prompt."""
    data = request.to_dict()
    asked = {"id": request.digest(), "agent": request.agent, "model": request.model}
    shared = {"prompt": prompt_of(request)["prompt"], "messages": data["messages"]}
    return {**asked, **shared, **round_of(request)}


def round_of(request: Request) -> dict[str, object]:
    """The round, where it is not the first: two rounds ask the same in the same words."""
    return {"round": request.round} if request.round > 1 else {}


def write_requests(stream: BinaryIO, requests: Iterable[Request], told: set[object] | None = None) -> int:
    """Write each request as a line, its prompt before it where that is new; returns how many requests.

    `told` are the prompts that the file has already.
    """
    written, known = 0, set[object]() if told is None else told
    for request in requests:
        prompt = prompt_of(request)
        if prompt["prompt"] not in known:
            known.add(prompt["prompt"])
            stream.write(f"{json.dumps(prompt)}\n".encode("ascii"))
        stream.write(f"{json.dumps(question_of(request))}\n".encode("ascii"))
        written += 1
    return written


def reply_line(request: Request, reply: Reply) -> str:
    """A reply as a line that an import or a recorded provider takes, without its line end."""
    try:
        answer = parse_strict_json(reply.text)
    except NotJson:
        answer = reply.text
    usage = {"input_tokens": reply.usage.input_tokens, "output_tokens": reply.usage.output_tokens}
    line = {
        "id": request.digest(),
        "agent": request.agent,
        "reply": answer if isinstance(answer, dict) else reply.text,
        "model": reply.model,
        "usage": usage,
    }
    return json.dumps(line | round_of(request))


def read_replies(
    stream: BinaryIO, known: Container[str] | None = None
) -> Iterator[ReplyLine | ExchangeProblem]:
    """The reply lines of a file, good and bad, in their order and with one line in memory at a time.

    `known` holds the ids that may be answered; None takes any. Blank lines are skipped. Of two replies to
    one request the first counts.
    """
    first_lines: dict[str, int] = {}
    for number, offset, content in _lines(stream):
        try:
            found = _reply(number, offset, _decoded(content))
            _refuse_unknown(found.id, known)
            _refuse_second(found.id, first_lines)
        except _BadLine as problem:
            yield ExchangeProblem(number, str(problem))
        else:
            first_lines[found.id] = number
            yield found


def read_reply_at(stream: BinaryIO, offset: int) -> ReplyLine | ExchangeProblem:
    """The one reply line that starts at `offset`, as `ReplyLine.offset` told it; its line number is 0."""
    stream.seek(offset)
    for _, _, content in _lines(stream):
        try:
            return _reply(0, offset, _decoded(content))
        except _BadLine as problem:
            return ExchangeProblem(0, str(problem))
    return ExchangeProblem(0, "the file has become shorter")


class _BadLine(Exception):
    """Why a line is refused."""


def _lines(stream: BinaryIO) -> Iterator[tuple[int, int, bytes | None]]:
    """(number, offset, content) of each line that isn't blank; the content of an oversize line is None."""
    number, offset = 0, stream.tell()
    while raw := stream.readline(LONGEST_LINE + 1):
        number += 1
        length = len(raw)
        if length > LONGEST_LINE and not raw.endswith(b"\n"):
            yield number, offset, None
            length += _skip_line(stream)
        elif content := raw.strip():
            yield number, offset, content
        offset += length


def _skip_line(stream: BinaryIO) -> int:
    skipped = 0
    while chunk := stream.readline(_CHUNK):
        skipped += len(chunk)
        if chunk.endswith(b"\n"):
            break
    return skipped


def _decoded(content: bytes | None) -> JsonObject:
    if content is None:
        raise _BadLine(f"is longer than {LONGEST_LINE:,} bytes")
    try:
        value = parse_strict_json(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _BadLine(f"is not UTF-8 (byte {error.start + 1} of the line)") from None
    except NotJson as error:
        raise _BadLine(f"is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise _BadLine('has to be a JSON object with the keys "id" and "reply"')
    return value


def _reply(number: int, offset: int, data: JsonObject) -> ReplyLine:
    id_, model = data.get("id"), data.get("model", "")
    if "reply" not in data and ("messages" in data or "prompt" in data):
        raise _BadLine('is a line of the file of requests: a reply is {"id", "reply"}')
    if not isinstance(id_, str) or not _ID.fullmatch(id_):
        raise _BadLine(f'"id" has to be the 64 hex digits of the request\'s id, got {_shown(id_)}')
    if not isinstance(model, str):
        raise _BadLine(f'"model" has to be a text, got {_shown(model)}')
    return ReplyLine(number, offset, id_, _read_reply_text(data), model, _usage(data.get("usage")))


def _read_reply_text(data: JsonObject) -> str:
    reply = data.get("reply")
    if isinstance(reply, dict) and reply:
        return json.dumps(reply, ensure_ascii=False)
    if isinstance(reply, str) and reply.strip():
        return reply
    raise _BadLine(f'"reply" has to be the agent\'s JSON object, or its text, got {_shown(reply)}')


def _usage(data: object) -> Usage | None:
    if data is None:
        return None
    counts = [data.get(key) for key in ("input_tokens", "output_tokens")] if isinstance(data, dict) else []
    match counts:
        case [taken, given] if is_count(taken) and is_count(given):
            return Usage(taken, given)
    raise _BadLine(f'"usage" needs the numbers "input_tokens" and "output_tokens", got {_shown(data)}')


def _refuse_unknown(id_: str, known: Container[str] | None) -> None:
    if known is not None and id_ not in known:
        raise _BadLine(f"no request with the id {id_} waits; the pair, prompt or model may have changed")


def _refuse_second(id_: str, first_lines: dict[str, int]) -> None:
    if id_ in first_lines:
        raise _BadLine(f"a second reply to {id_}; the first, on line {first_lines[id_]}, counts")


def _shown(value: object) -> str:
    text = "nothing" if value is None else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
