"""Message Batches: those of Anthropic's protocol."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import quote

from annotation.llm import failures
from annotation.llm.batches import provider
from annotation.llm.batches.provider import BatchResultEntry, BatchStatus, LiveBatches, tell_broken
from annotation.llm.errors import LLMError
from annotation.llm.payload import build_request_payload
from annotation.llm.request import Request
from annotation.llm.responses import flag_duplicate_keys, reply_of

if TYPE_CHECKING:
    from anthropic.types.messages import MessageBatch


class MessageBatches(LiveBatches):
    """See `LiveBatches`."""

    def create(self, requests: Iterable[tuple[str, Request]]) -> BatchStatus:
        """By one call, which has all requests in its body."""
        asked: Any = [{"custom_id": key, "params": self._params(request)} for key, request in requests]
        with self._failing("create"):
            client = self._llm.client()
            made = client.messages.batches.create(requests=asked, timeout=provider.SENDS_WITHIN)
            return self._standing(made)

    def look(self, pk: str) -> BatchStatus:
        """See `LiveBatches`."""
        with self._failing(pk):
            return self._standing(self._llm.client().messages.batches.retrieve(quote(pk, safe="")))

    def cancel(self, pk: str) -> None:
        """See `LiveBatches`."""
        with self._failing(pk):
            self._llm.client().messages.batches.cancel(quote(pk, safe=""))

    def since(self, moment: datetime) -> Iterator[BatchStatus]:
        """See `LiveBatches`."""
        with self._failing("list"):
            for batch in self._llm.client().messages.batches.list(limit=provider.A_PAGE):
                standing = self._standing(batch)
                if standing.created_at < moment:
                    return
                yield standing

    def results(self, pk: str) -> Iterator[BatchResultEntry]:
        """See `LiveBatches`."""
        for key, data, line in self._lines(pk):
            result = data.get("result")
            yield self._result(key, result if isinstance(result, dict) else {}, line)

    def _params(self, request: Request) -> dict[str, Any]:
        arguments = build_request_payload(request, self._llm.profile, self._llm.mode_of(request.model))
        return {**arguments, **arguments.pop("extra_body", {})}

    def _fetch(self, place: str, file: IO[bytes]) -> LLMError | None:
        import anthropic
        import httpx2

        # By the documented path, not by the address in the provider's answer: the key goes nowhere else.
        path = f"/v1/messages/batches/{quote(place, safe='')}/results"
        with self._failing(place):
            stream = self._llm.client().get(
                path, cast_to=object, stream=True, stream_cls=anthropic.Stream[object]
            )
        try:
            with contextlib.closing(stream.response):
                for part in stream.response.iter_bytes():
                    file.write(part)
        except httpx2.HTTPError as error:
            return tell_broken(place, error)
        return None

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
