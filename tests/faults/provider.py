"""The fake provider as a process of its own, which no kill touches: it keeps the book of what it answered.

    python -m tests.faults.provider --seed 7 --log provider.jsonl

Its faults are drawn from the seed. Under /control/ a driver can hold the next request of an agent, let it go
on, and say how long replies take.
"""

from __future__ import annotations

import argparse
import json
import random
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any, Final

from tests.fake_batches import PATH, Batches, FakeBatch, Lost
from tests.fake_messages import (
    KEY,
    Answer,
    Drop,
    Expired,
    FakeMessages,
    Fault,
    Handler,
    Raw,
    Say,
    Slowly,
    structured,
)
from tests.faults.answers import agent_of, answer, digest_of
from tests.messages_protocol import Json

RARE: Final = 3
"""How often something goes wrong that a person has to look at."""
LONGEST_HOLD, LONGEST_DRIP = 30.0, 5.0


@dataclass(frozen=True)
class Shares:
    """Of 1,000 requests so many go wrong in this way; those that stall do so for `seconds`.

    A storm refuses at most `refused` requests in a row, and at least two fifths of that.

    No other reply takes longer than `longest`: a client gives up what takes longer than its timeout, and it
    would look as if a reply had been lost with nobody dead.
    """

    storm: int = 3
    overload: int = 20
    reset: int = 15
    drip: int = 15
    stall: int = 4
    nonsense: int = 10
    person: int = 8
    seconds: float = 3.0
    longest: float = 5.0
    refused: int = 20


class Faults:
    """Draws, request by request, what goes wrong."""

    def __init__(self, seed: int, shares: Shares) -> None:
        self.drawn: dict[str, int] = {}
        self.latency = 0.05
        self._random, self._shares = random.Random(seed), shares
        self._storm = 0
        self._headers: dict[str, str] = {}
        self._lock = threading.Lock()

    def draw(self, body: Json) -> tuple[str, Answer]:
        """The name of the fault ("" for none) and what goes out."""
        with self._lock:
            kind = self._kind()
            self.drawn[kind] = self.drawn.get(kind, 0) + 1
            return kind, self._made(kind, body)

    def draw_entry(self, body: Json) -> Answer:
        """What a batch has for one request: a few come back without a reply."""
        with self._lock:
            lot = self._random.randrange(20)
        return (Expired(), Fault(500, "not now"))[lot] if lot < 2 else answer(body)

    def _kind(self) -> str:
        if self._storm:
            self._storm -= 1
            return "429"
        at, share = self._random.randrange(1000), 0
        for kind in ("storm", "overload", "reset", "drip", "stall", "nonsense", "person"):
            share += getattr(self._shares, kind)
            if at < share:
                return self._begun(kind)
        return ""

    def _begun(self, kind: str) -> str:
        if kind == "storm":
            self._storm = self._random.randint(2 * self._shares.refused // 5, self._shares.refused)
            self._headers = self._random.choice([{}, {"retry-after": "1"}, used_up()])
            return "429"
        if kind == "person":
            kind = self._random.choice(["malformed", "wrong model"])
            return kind if self.drawn.get(kind, 0) < RARE else ""
        return kind

    def _made(self, kind: str, body: Json) -> Answer:
        late = min(self.latency * self._random.expovariate(1.0), self._shares.longest)
        said, seconds = structured(answer(body), body), self._shares.seconds
        match kind:
            case "429":
                return Fault(429, "slow down", self._headers)
            case "overload":
                return Fault(self._random.choice([500, 529]), "not now")
            case "malformed":
                return Raw(b'{"id": "msg_1", "type": "mess')
            case "wrong model":
                return Say(said.text, said.stop_reason, "some-other-model", said.tool_inputs)
            case "nonsense":
                return Say("Well, that depends. {")
        return Slowly(
            said,
            stall=seconds if kind == "stall" else late,
            drip=min(seconds / 2, LONGEST_DRIP) if kind == "drip" else 0.0,
            cut=kind == "reset",
        )


def used_up() -> dict[str, str]:
    """Headers that say that the limit of requests is renewed in a second."""
    renewed = datetime.now(UTC) + timedelta(seconds=1)
    return {
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": renewed.isoformat(),
    }


class Provider(FakeMessages):
    """The fake server with faults, a book, and a hold on it for the driver."""

    def __init__(self, seed: int, shares: Shares, log: IO[str], port: int = 0) -> None:
        super().__init__(port=port, handler=BookedHandler)
        self.faults = Faults(seed, shares)
        self.answer = self._drawn
        self.batches = BookedBatches(self, twice=2, strangers=1, cuts=2)
        self.batches.fail("create", Lost(Drop()))
        self.here = threading.local()
        self._log, self._hold = log, list[str]()
        self._held: Json | None = None
        self._go = threading.Event()

    def _drawn(self, body: Json) -> Answer:
        if getattr(self.here, "in_batch", False):
            return self.faults.draw_entry(body)
        record = self.here.record
        record["agent"], record["digest"] = agent_of(body), digest_of(body)
        if self._is_held(record):
            self._go.wait(LONGEST_HOLD)
            record["held"] = True
        record["fault"], drawn = (
            ("", structured(answer(body), body)) if "held" in record else self.faults.draw(body)
        )
        return drawn

    def _is_held(self, record: Json) -> bool:
        with self._lock:
            if record["agent"] not in self._hold:
                return False
            self._hold, self._held = [], dict(record)
            return True

    def control(self, body: Json) -> Json:
        """`hold` the next request of some agents, `release` it, set the `latency`."""
        with self._lock:
            if "hold" in body:
                self._go.set()
                self._hold, self._held, self._go = body["hold"], None, threading.Event()
            if "release" in body:
                self._hold = []
                self._go.set()
            self.faults.latency = body.get("latency", self.faults.latency)
            return {"held": self._held, "drawn": self.faults.drawn}

    def book(self, record: Json) -> None:
        with self._lock:
            self._log.write(json.dumps(record) + "\n")
            self._log.flush()


class BookedBatches(Batches):
    """Batches whose first is made while its connection breaks, and each of whose replies is in the book."""

    def _result(self, batch: FakeBatch, request: Json) -> Json:
        provider: Any = self.fake
        provider.here.in_batch = True
        line = super()._result(batch, request)
        provider.here.in_batch = False
        message = line["result"].get("message")
        if message:
            body, now = request["params"], time.time()
            provider.book(
                {"arrived": batch.created_at.timestamp(), "finished": now, "worker": 0, "status": 200}
                | {"agent": agent_of(body), "digest": digest_of(body), "fault": "", "batch": True}
                | {"request_id": message["id"], "usage": message["usage"]}
            )
        return line


class BookedHandler(Handler):
    """Books each request when its answer has gone out, or could not."""

    timeout = 60

    def answer_request(self) -> None:
        provider: Any = self.server.fake
        if self.path.startswith("/control/"):
            self._controlled(provider)
            return
        worker = int(self.headers.get("x-worker", "0"))
        provider.here.record = record = {"arrived": time.time(), "worker": worker, "status": 0, "usage": {}}
        self.request_id = ""
        try:
            super().answer_request()
        except OSError:
            record["gone"] = True
            self.close_connection = True
        if not self.path.startswith(PATH):  # the replies in batches are booked one by one
            provider.book(record | {"finished": time.time(), "request_id": self.request_id})

    def deliver(self, answer: Answer, status: int) -> None:
        record: Json = self.server.fake.here.record  # type: ignore[attr-defined]
        record["status"] = status
        said = answer.said if isinstance(answer, Slowly) else answer
        if isinstance(said, dict):
            record["usage"] = said.get("usage", {})
        super().deliver(answer, status)

    def _controlled(self, provider: Provider) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))))
        self._send(200, json.dumps(provider.control(body)).encode(), {})


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve the Messages protocol with faults.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--stall", type=float, default=3.0, help="seconds that some replies stall")
    parser.add_argument("--longest", type=float, default=5.0, help="seconds that no other reply exceeds")
    parser.add_argument("--storm", type=int, default=20, help="requests refused in a row, at most")
    parser.add_argument("--log", type=Path, required=True)
    arguments = parser.parse_args()
    with arguments.log.open("a") as log:
        shares = Shares(seconds=arguments.stall, longest=arguments.longest, refused=arguments.storm)
        provider = Provider(arguments.seed, shares, log, arguments.port)
        print(f"{provider.url} key {KEY}", flush=True)
        provider.serve()


if __name__ == "__main__":
    main()
