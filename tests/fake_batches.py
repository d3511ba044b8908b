"""The Message Batches of the fake server: created, polled, cancelled, listed, and their results in any order.

Each request of a batch is answered as a live one would be, once the batch has been looked at so often as
`looks` says; a `Fault` becomes an errored entry. What goes wrong with the results is said beforehand:

    fake.batches.twice, fake.batches.cuts, fake.batches.strangers = 3, 1, 2
"""

from __future__ import annotations

import json
import random
import re
import threading
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlsplit

from tests.messages_protocol import Json, Refused

if TYPE_CHECKING:
    from tests.fake_messages import Answer, FakeMessages

PATH: Final = "/v1/messages/batches"
CUSTOM_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MOST: Final = 100_000
DAY: Final = timedelta(hours=24)


@dataclass(frozen=True)
class Lost:
    """What was asked for is done, and `gone` goes out instead of the answer."""

    gone: Answer


@dataclass
class FakeBatch:
    """One batch; `results` are its lines once it has ended."""

    id: str
    requests: list[Json]
    created_at: datetime
    looks: int
    results: list[Json] | None = None
    cancelled: bool = False
    ended_at: datetime | None = None


@dataclass
class Batches:
    """All batches of the server.

    looks      how often a batch is looked at before it has ended
    faults     answers to the next requests that concern batches, instead of what they ask for
    twice      so many results of a batch come twice
    strangers  so many results belong to nobody's request
    cuts       so many downloads of results break in the middle
    """

    fake: FakeMessages
    looks: int = 1
    twice: int = 0
    strangers: int = 0
    cuts: int = 0
    faults: deque[tuple[str, Answer | Lost]] = field(default_factory=deque)
    made: dict[str, FakeBatch] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)
    random: random.Random = field(default_factory=lambda: random.Random(7))

    def fail(self, what: str, *answers: Answer | Lost) -> None:
        """Answer the next requests of a kind (create, get, results, cancel, list) so instead."""
        self.faults.extend((what, answer) for answer in answers)

    @property
    def asked(self) -> list[str]:
        """The ids of all requests that were ever handed in, in this order."""
        return [request["custom_id"] for batch in self.made.values() for request in batch.requests]

    def answer(self, method: str, path: str, body: Json) -> Answer | Json:
        split = urlsplit(path)
        parts = split.path.removeprefix(PATH).strip("/").split("/")
        what = self._what(method, parts)
        with self.lock:
            fault = self._fault(what)
            if fault is not None and not isinstance(fault, Lost):
                return fault
            found = self._do(what, parts[0], body, parse_qs(split.query))
            return fault.gone if fault is not None else found

    def _what(self, method: str, parts: list[str]) -> str:
        if method == "POST":
            return {"": "create"}.get(parts[0]) or (parts[1] if parts[1:] == ["cancel"] else "unknown")
        return "list" if not parts[0] else parts[1] if parts[1:] == ["results"] else "get"

    def _fault(self, what: str) -> Answer | Lost | None:
        if self.faults and self.faults[0][0] == what:
            return self.faults.popleft()[1]
        return None

    def _do(self, what: str, pk: str, body: Json, query: dict[str, list[str]]) -> Answer | Json:
        if what == "create":
            return self.described(self._create(body))
        if what == "list":
            return self._list(query)
        batch = self.made.get(pk)
        if batch is None or what == "unknown":
            raise Refused(f"{pk} not found", 404)
        if what == "cancel":
            if batch.results is not None:
                raise Refused("the batch has ended", 400)
            batch.cancelled, batch.looks = True, 0
        elif what == "get":
            self._look(batch)
        else:
            return self._results(batch)
        return self.described(batch)

    def _create(self, body: Json) -> FakeBatch:
        requests = body.get("requests")
        if set(body) != {"requests"} or not isinstance(requests, list) or not 1 <= len(requests) <= MOST:
            raise Refused("requests: 1 to 100,000 items")
        ids = [request.get("custom_id", "") for request in requests]
        if not all(CUSTOM_ID.fullmatch(one) for one in ids) or len(set(ids)) < len(ids):
            raise Refused("custom_id: 1 to 64 letters, digits, _ and -, each once")
        batch = FakeBatch(self.fake.next_id("msgbatch"), requests, datetime.now(UTC), self.looks)
        self.made[batch.id] = batch
        return batch

    def _look(self, batch: FakeBatch) -> None:
        if batch.results is None and batch.looks <= 0:
            batch.results = [self._result(batch, request) for request in batch.requests]
            batch.ended_at = datetime.now(UTC)
        batch.looks -= 1

    def _result(self, batch: FakeBatch, request: Json) -> Json:
        """One line; the parameters are looked at only now, as the real server does."""
        from tests.fake_messages import Expired, Fault, Slowly

        said: Answer | Json
        try:
            said = self.fake.answered("/v1/messages", request["params"]) if not batch.cancelled else {}
        except Refused as refused:
            said = Fault(refused.status, str(refused))
        said = said.said if isinstance(said, Slowly) else said
        if batch.cancelled:
            result: Json = {"type": "canceled"}
        elif isinstance(said, Expired):
            result = {"type": "expired"}
        elif isinstance(said, Fault):
            error = {"type": "error", "error": {"type": said.kind, "message": said.message}}
            result = {"type": "errored", "error": error}
        else:
            result = {"type": "succeeded", "message": said}
        return {"custom_id": request["custom_id"], "result": result}

    def _results(self, batch: FakeBatch) -> Answer:
        from tests.fake_messages import Raw

        if batch.results is None:
            raise Refused("the batch has not ended", 400)
        lines = [*batch.results, *batch.results[: self.twice]]
        lines += [
            {"custom_id": f"stranger-{n}", "result": {"type": "expired"}} for n in range(self.strangers)
        ]
        self.random.shuffle(lines)
        self.cuts, cut = max(0, self.cuts - 1), self.cuts > 0
        body = "".join(json.dumps(line) + "\n" for line in lines).encode()
        return Raw(body, "application/x-jsonl", cut=cut)

    def _list(self, query: dict[str, list[str]]) -> Json:
        newest = list(reversed(self.made.values()))
        after, limit = query.get("after_id", [""])[0], int(query.get("limit", ["20"])[0])
        start = next((at + 1 for at, one in enumerate(newest) if one.id == after), 0)
        page = newest[start : start + limit]
        return {
            "data": [self.described(one) for one in page],
            "has_more": start + limit < len(newest),
            "first_id": page[0].id if page else None,
            "last_id": page[-1].id if page else None,
        }

    def described(self, batch: FakeBatch) -> Json:
        kinds = [line["result"]["type"] for line in batch.results or ()]
        names = ("succeeded", "errored", "canceled", "expired")
        ended = batch.results is not None
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "canceling" if batch.cancelled else "in_progress",
            "request_counts": {
                "processing": 0 if ended else len(batch.requests),
                **{name: kinds.count(name) for name in names},
            },
            "created_at": batch.created_at.isoformat(),
            "expires_at": (batch.created_at + DAY).isoformat(),
            "ended_at": batch.ended_at.isoformat() if batch.ended_at else None,
            "cancel_initiated_at": batch.created_at.isoformat() if batch.cancelled else None,
            "archived_at": None,
            "results_url": f"{self.fake.url}{PATH}/{batch.id}/results" if ended else None,
        }
