"""Message Batches: many requests that a provider answers later, in any order, at half the price."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import quote

from annotation.llm import failures
from annotation.llm.errors import LLMError
from annotation.llm.live import LiveLLM, way_refused
from annotation.llm.payload import build_request_payload
from annotation.llm.profiles import Mode
from annotation.llm.reply import Reply
from annotation.llm.request import Request
from annotation.llm.responses import flag_duplicate_keys, flag_unusable_reply, reply_of
from annotation.llm.strict_json import NotJson, parse_strict_json

if TYPE_CHECKING:
    from anthropic.types.messages import MessageBatch

SENDS_WITHIN: Final = 300.0
"""Seconds for the provider to take in a batch, which may be tens of megabytes."""
A_PAGE: Final = 100
CHUNK: Final = 100
LONGEST_LINE: Final = 8_000_000
"""Bytes of one result; a longer one is no reply of ours, whose length is bounded by `max_tokens`."""


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """How the provider says that a batch stands. `requests` is how many it has."""

    id: str
    ended: bool
    requests: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class BatchResultEntry:
    """One line of the results: the request's id with its reply, or with why there is none."""

    id: str
    reply: Reply | None = None
    error: LLMError | None = None


class LiveBatches:
    """The batches of one live provider. Every method raises LLMError as `LiveLLM.ask` does."""

    def __init__(self, llm: LiveLLM) -> None:
        self._llm = llm
        self.refused: Mode | None = None

    def create(self, requests: Iterable[tuple[str, Request]]) -> BatchStatus:
        """Hand in requests, each under an id of at most 64 letters, digits, `_` and `-`."""
        asked: Any = [{"custom_id": key, "params": self._params(request)} for key, request in requests]
        with self._failing("create"):
            client = self._llm.client()
            return self._standing(client.messages.batches.create(requests=asked, timeout=SENDS_WITHIN))

    def look(self, pk: str) -> BatchStatus:
        """How the batch stands."""
        with self._failing(pk):
            return self._standing(self._llm.client().messages.batches.retrieve(quote(pk, safe="")))

    def cancel(self, pk: str) -> None:
        """Ask the provider to stop the batch; what is answered already stays, and is paid."""
        with self._failing(pk):
            self._llm.client().messages.batches.cancel(quote(pk, safe=""))

    def since(self, moment: datetime) -> Iterator[BatchStatus]:
        """The batches of the account that were created since then, the newest first."""
        with self._failing("list"):
            for batch in self._llm.client().messages.batches.list(limit=A_PAGE):
                standing = self._standing(batch)
                if standing.created_at < moment:
                    return
                yield standing

    def results(self, pk: str) -> Iterator[BatchResultEntry]:
        """The results of a batch that has ended, in whatever order and however often they come.

        They lie in a file meanwhile. Where the connection breaks, LLMError follows the last whole one.
        """
        with tempfile.TemporaryFile() as file:
            broken = self._fetch(pk, file)
            file.seek(0)
            for line in iter(lambda: file.readline(LONGEST_LINE), b""):
                if line.endswith(b"\n") or broken is None:
                    yield from self._entry(line)
        if broken is not None:
            raise broken

    def checked(self, reply: Reply, request: Request) -> Reply:
        """The reply with what keeps it from being an answer. Raises LLMError where another model gave it."""
        return flag_unusable_reply(reply, request, self._llm.profile)

    def learn(self, error: LLMError, model: str) -> None:
        """Where an entry complains of the way that structured output was asked for, use the next one.

        Once for all entries: they were asked in one way. `refused` is that one then.
        """
        mode = self._llm.mode_of(model)
        if self.refused is None and way_refused(error, mode):
            self.refused = mode
            self._llm.skip(model, mode)

    def skip(self, model: str, mode: Mode) -> None:
        """Ask `model` no more in a way that entries of an earlier batch have complained of."""
        self._llm.skip(model, mode)

    def _params(self, request: Request) -> dict[str, Any]:
        arguments = build_request_payload(request, self._llm.profile, self._llm.mode_of(request.model))
        return {**arguments, **arguments.pop("extra_body", {})}

    def _fetch(self, pk: str, file: IO[bytes]) -> LLMError | None:
        """Write the results to `file`; the error that ended them too early, if one did."""
        import anthropic
        import httpx2

        # By the documented path, not by the address in the provider's answer: the key goes nowhere else.
        path = f"/v1/messages/batches/{quote(pk, safe='')}/results"
        with self._failing(pk):
            stream = self._llm.client().get(
                path, cast_to=object, stream=True, stream_cls=anthropic.Stream[object]
            )
        try:
            with contextlib.closing(stream.response):
                for part in stream.response.iter_bytes():
                    file.write(part)
        except httpx2.HTTPError as error:
            told = f"the results of {pk} were not whole ({type(error).__name__}: {error})"
            return LLMError(told, retryable=True)
        return None

    def _entry(self, line: bytes) -> Iterator[BatchResultEntry]:
        """The entry in a line; none where it is not of the protocol."""
        text = line.decode("utf-8", "replace")
        try:
            data = parse_strict_json(text)
        except NotJson:
            return
        if isinstance(data, dict) and isinstance(data.get("custom_id"), str):
            result = data.get("result")
            yield self._result(data["custom_id"], result if isinstance(result, dict) else {}, text)

    def _result(self, key: str, result: dict[str, Any], line: str) -> BatchResultEntry:
        from anthropic.types import Message

        kind = result.get("type")
        if kind != "succeeded":
            return BatchResultEntry(key, error=_no_reply(kind, result.get("error")))
        message = result.get("message")
        try:
            built = Message.construct(**message) if isinstance(message, dict) else None
            reply = flag_duplicate_keys(reply_of(built, {}, 0.0, self._llm.base_url), line)
            return BatchResultEntry(key, reply=replace(reply, by_batch=True))
        except LLMError as error:
            return BatchResultEntry(key, error=error)

    def _standing(self, batch: MessageBatch) -> BatchStatus:
        counts = getattr(batch, "request_counts", None)
        numbers = [getattr(counts, kind, None) for kind in _KINDS]
        if not isinstance(getattr(batch, "id", None), str) or not isinstance(batch.created_at, datetime):
            raise failures.of_protocol("the answer is no batch with id and date", self._llm.base_url)
        return BatchStatus(
            id=batch.id,
            ended=batch.processing_status == "ended",
            requests=sum(number for number in numbers if isinstance(number, int)),
            created_at=batch.created_at.astimezone(UTC),
        )

    @contextlib.contextmanager
    def _failing(self, what: str) -> Iterator[None]:
        """The client's errors as LLMError."""
        import anthropic

        try:
            yield
        except anthropic.APIStatusError as error:
            raise failures.of_status(error, f"batch: {what}") from error
        except anthropic.APIConnectionError as error:
            raise failures.of_connection(error, self._llm.base_url) from error
        except (anthropic.AnthropicError, ValueError, AttributeError) as error:
            raise failures.of_protocol(str(error), self._llm.base_url, maybe_billed=True) from error


_KINDS: Final = ("processing", "succeeded", "errored", "canceled", "expired")


def _no_reply(kind: object, error: object) -> LLMError:
    """Why an entry has no reply, in the provider's words where there are any."""
    inner = error.get("error") if isinstance(error, dict) else None
    said = inner if isinstance(inner, dict) else {}
    words = f": {said.get('type', '')}, {str(said.get('message', ''))[:300]}" if said else ""
    told = f"the batch gave no reply, its entry is '{str(kind)[:60]}'{words}"
    status = 400 if said.get("type") == "invalid_request_error" else None
    return LLMError(told, retryable=True, status=status)


def chunk_batch_entries(entries: Iterable[BatchResultEntry]) -> Iterator[list[BatchResultEntry]]:
    """`entries` by the handful; an error among them comes after those before it."""
    left, problem = iter(entries), list[LLMError]()

    def whole() -> Iterator[BatchResultEntry]:
        try:
            yield from left
        except LLMError as error:
            problem.append(error)

    good = whole()
    while chunk := list(islice(good, CHUNK)):
        yield chunk
    if problem:
        raise problem[0]
