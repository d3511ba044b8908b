"""What the batches of all protocols share: how they stand, their results, what is learned from these."""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import IO, Any, Final

from annotation.llm.errors import LLMError
from annotation.llm.live import LiveLLM, way_refused
from annotation.llm.profiles import Mode
from annotation.llm.reply import Reply
from annotation.llm.request import Request
from annotation.llm.responses import flag_unusable_reply
from annotation.llm.strict_json import NotJson, parse_strict_json

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


class LiveBatches(ABC):
    """The batches of one live provider. Every method raises LLMError as `LiveLLM.ask` does."""

    def __init__(self, llm: LiveLLM) -> None:
        self._llm = llm
        self.refused: Mode | None = None

    @abstractmethod
    def create(self, requests: Iterable[tuple[str, Request]]) -> BatchStatus:
        """Hand in requests, each under an id of at most 64 letters, digits, `_` and `-`."""

    @abstractmethod
    def look(self, pk: str) -> BatchStatus:
        """How the batch stands."""

    @abstractmethod
    def cancel(self, pk: str) -> None:
        """Ask the provider to stop the batch; what is answered already stays, and is paid."""

    @abstractmethod
    def since(self, moment: datetime) -> Iterator[BatchStatus]:
        """The batches of the account that were created since then, the newest first."""

    @abstractmethod
    def results(self, pk: str) -> Iterator[BatchResultEntry]:
        """The results of a batch that has ended, in whatever order and however often they come.

        They lie in a file meanwhile. Where the connection breaks, LLMError follows the last whole one.
        """

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

    def _lines(self, place: str) -> Iterator[tuple[str, Mapping[str, Any], str]]:
        """(id, object, text) of each line at a place of the provider that is of the protocol."""
        with tempfile.TemporaryFile() as file:
            broken = self._fetch(place, file)
            file.seek(0)
            for line in iter(lambda: file.readline(LONGEST_LINE), b""):
                if line.endswith(b"\n") or broken is None:
                    yield from _identified(line)
        if broken is not None:
            raise broken

    @abstractmethod
    def _fetch(self, place: str, file: IO[bytes]) -> LLMError | None:
        """Write what is there to `file`; the error that ended it too early, if one did."""


def tell_broken(place: str, error: Exception) -> LLMError:
    """The error of a download that ended too early."""
    told = f"the results of {place} were not whole ({type(error).__name__}: {error})"
    return LLMError(told, retryable=True)


def _identified(line: bytes) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    text = line.decode("utf-8", "replace")
    try:
        data = parse_strict_json(text)
    except NotJson:
        return
    if isinstance(data, dict) and isinstance(data.get("custom_id"), str):
        yield data["custom_id"], data, text


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
