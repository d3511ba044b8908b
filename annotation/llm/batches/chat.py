"""OpenAI's batches of chat completions: a file of requests goes in, one of replies and one of errors come."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any, Final

from annotation.llm import failures
from annotation.llm.batches import provider
from annotation.llm.batches.provider import BatchResultEntry, BatchStatus, LiveBatches, tell_broken
from annotation.llm.chat import ENDPOINT, PROTOCOL, build_chat_body, read_error_text, reply_of_completion
from annotation.llm.errors import LLMError
from annotation.llm.request import Request

if TYPE_CHECKING:
    from openai.types import Batch

WINDOW: Final = "24h"
COUNT: Final = "requests"
"""What says in a batch's metadata how many requests it has: the provider counts them only after a while."""
UNDER_WAY: Final = frozenset({"validating", "in_progress", "finalizing", "cancelling"})
UNDONE: Final = frozenset({"failed", "expired", "cancelled"})
"""A batch that ended so leaves requests out of both files; they were not answered, and cost nothing."""
_INVALID: Final = 400


class ChatBatches(LiveBatches):
    """See `LiveBatches`."""

    def create(self, requests: Iterable[tuple[str, Request]]) -> BatchStatus:
        """By two calls: a file with a line for each request, then the batch of that file."""
        with tempfile.TemporaryFile() as file:
            count = 0
            for key, request in requests:
                file.write(self._line(key, request))
                count += 1
            file.seek(0)
            file_id = self._upload(file)
        with self._failing("create"):
            made = self._llm.client().batches.create(
                completion_window=WINDOW,
                endpoint=ENDPOINT,
                input_file_id=file_id,
                metadata={COUNT: str(count)},
                timeout=provider.SENDS_WITHIN,
            )
            return self._standing(made)

    def look(self, pk: str) -> BatchStatus:
        """See `LiveBatches`."""
        return self._standing(self._retrieve(pk))

    def cancel(self, pk: str) -> None:
        """See `LiveBatches`."""
        with self._failing(pk):
            self._llm.client().batches.cancel(pk)

    def since(self, moment: datetime) -> Iterator[BatchStatus]:
        """See `LiveBatches`. Of this endpoint alone: an account may have batches of others."""
        with self._failing("list"):
            for batch in self._llm.client().batches.list(limit=provider.A_PAGE):
                standing = self._standing(batch)
                if standing.created_at < moment:
                    return
                if batch.endpoint == ENDPOINT:
                    yield standing

    def results(self, pk: str) -> Iterator[BatchResultEntry]:
        """See `LiveBatches`. What an undone batch left out comes with the reason, and at no cost."""
        batch, told = self._retrieve(pk), set[str]()
        for file_id in filter(None, (batch.output_file_id, batch.error_file_id)):
            for key, data, _ in self._lines(file_id):
                told.add(key)
                yield self._entry(key, data)
        if batch.status in UNDONE:
            why = describe_undone_batch(batch)
            for key, _, _ in self._lines(batch.input_file_id):
                if key not in told:
                    yield BatchResultEntry(key, error=why)

    def _line(self, key: str, request: Request) -> bytes:
        body = build_chat_body(request, self._llm.profile, self._llm.mode_of(request.model))
        line = {"custom_id": key, "method": "POST", "url": ENDPOINT, "body": body}
        return f"{json.dumps(line)}\n".encode()

    def _upload(self, file: IO[bytes]) -> str:
        """The file's id. Nothing is billed before there is a batch of it."""
        try:
            with self._failing("upload"):
                named = ("requests.jsonl", file, "application/jsonl")
                made = self._llm.client().files.create(
                    file=named, purpose="batch", timeout=provider.SENDS_WITHIN
                )
                return str(made.id)
        except LLMError as error:
            error.maybe_billed = False
            raise

    def _retrieve(self, pk: str) -> Batch:
        with self._failing(pk):
            found: Batch = self._llm.client().batches.retrieve(pk)
            return found

    def _fetch(self, place: str, file: IO[bytes]) -> LLMError | None:
        import httpx2

        client = self._llm.client()
        with contextlib.ExitStack() as open_until_here:
            with self._failing(place):
                content = client.files.with_streaming_response.content(place)
                response = open_until_here.enter_context(content)
            try:
                for part in response.iter_bytes():
                    file.write(part)
            except httpx2.HTTPError as error:
                return tell_broken(place, error)
        return None

    def _entry(self, key: str, data: Mapping[str, Any]) -> BatchResultEntry:
        response = data.get("response")
        if not isinstance(response, dict):
            return BatchResultEntry(key, error=_no_reply(data.get("error"), None))
        status, body = response.get("status_code"), response.get("body")
        if status != 200:
            return BatchResultEntry(key, error=_no_reply(body, status))
        headers = {"x-request-id": str(response.get("request_id") or "")}
        try:
            found = body if isinstance(body, dict) else {}
            reply = reply_of_completion(found, headers, 0.0, self._llm.base_url, None)
        except LLMError as error:
            return BatchResultEntry(key, error=error)
        return BatchResultEntry(key, reply=replace(reply, by_batch=True))

    def _standing(self, batch: Batch) -> BatchStatus:
        if not isinstance(getattr(batch, "id", None), str) or not isinstance(batch.created_at, int | float):
            reason = "the answer is no batch with id and date"
            raise failures.of_protocol(reason, self._llm.base_url, protocol=PROTOCOL)
        return BatchStatus(
            id=batch.id,
            ended=batch.status not in UNDER_WAY,
            requests=_count_of(batch),
            created_at=datetime.fromtimestamp(batch.created_at, UTC),
        )

    @contextlib.contextmanager
    def _failing(self, what: str) -> Iterator[None]:
        """The client's errors as LLMError."""
        import openai

        try:
            yield
        except openai.APIStatusError as error:
            raise failures.of_status(error, f"batch: {what}") from error
        except openai.APIConnectionError as error:
            raise failures.of_connection(error, self._llm.base_url) from error
        except (openai.OpenAIError, ValueError, AttributeError, OverflowError, OSError) as error:
            raise failures.of_protocol(
                str(error), self._llm.base_url, maybe_billed=True, protocol=PROTOCOL
            ) from error


def _count_of(batch: Batch) -> int:
    told = batch.metadata.get(COUNT) if isinstance(batch.metadata, dict) else None
    if isinstance(told, str) and told.isascii() and told.isdigit() and len(told) < 10:
        return int(told)
    total = getattr(batch.request_counts, "total", None)
    return total if isinstance(total, int) else 0


def describe_undone_batch(batch: Batch) -> LLMError:
    """Why requests of a batch that failed, expired or was cancelled have no reply."""
    found = getattr(batch.errors, "data", None) or []
    said = [" ".join(str(one.message or one.code or "").split())[:200] for one in found[:3]]
    words = f": {'; '.join(filter(None, said))}" if any(said) else ""
    told = f"the batch {batch.status} before this request was answered{words}"
    # An entry's status tells whether the way of asking was refused, as that of a live call does.
    return LLMError(told, retryable=True, status=_INVALID if batch.status == "failed" else None)


def _no_reply(told: object, status: object) -> LLMError:
    """Why an entry has no reply, in the provider's words where there are any."""
    said = read_error_text(told)[:300]
    number = status if isinstance(status, int) and 100 <= status < 600 else None
    which = f" (HTTP {number})" if number else ""
    return LLMError(f"the batch gave no reply{which}: {said}", retryable=True, status=number)
