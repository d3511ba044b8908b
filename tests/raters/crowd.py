"""Twenty browsers without a screen: each goes next → page → submit as fast as it is answered, over HTTP.

They also press twice, skip, take back, hold on, write drafts, and send from an old page. What the server said
that it has stored is written down here, to be held against its tables.
"""

from __future__ import annotations

import random
import re
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Final
from urllib.parse import urlencode

CSRF: Final = "c" * 32
HIDDEN: Final = re.compile(r'name="(token|evidence|seen_revision)" value="([^"]*)"')
PAIR: Final = re.compile(r"/rate/\d+/pairs/(\d+)/$")
TIMEOUT: Final = 60


STORED_MEANWHILE = "label of this pair is stored"
"""A fair answer to a skip: PostgreSQL may end what a killed server had begun after the page was served."""


@dataclass(frozen=True)
class Accepted:
    """A rating that was answered as stored; `notes` is unique to it."""

    rater: str
    number: int
    label: str
    notes: str


@dataclass
class Page:
    """What a rater has on screen."""

    number: int
    fields: Mapping[str, str]


@dataclass
class Rater:
    """One person with a browser; stops when told to or when nothing is left."""

    name: str
    session: str
    study: int
    port: Callable[[], int]
    stop: threading.Event
    seed: int
    accepted: list[Accepted] = field(default_factory=list)
    said: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self.run, name=self.name, daemon=True)
        self.dice = random.Random(self.seed)
        self.link: HTTPConnection | None = None
        self.old: Page | None = None

    def run(self) -> None:
        while not self.stop.is_set():
            try:
                page = self.next_page()
                if page is None:
                    if not self.said["nothing"] % 20:
                        self.act_without_a_page()
                    self.said["nothing"] += 1
                    self.stop.wait(0.2)
                    continue
                self.act(page)
            except (OSError, HTTPException):
                self.said["lost"] += 1  # the server is away: what was sent is sent again from the next page
                self.hang_up()
                self.stop.wait(0.1)
        self.hang_up()

    def act(self, page: Page) -> None:
        """Mostly say what the pair is."""
        chance = self.dice.random()
        if chance < 0.05:
            self.post(f"pairs/{page.number}/skip/", {"token": page.fields["token"], "reason": "can't say"})
        elif chance < 0.1:
            self.act_without_a_page()
        elif chance < 0.15:
            self.post(f"pairs/{page.number}/heartbeat/", {"token": page.fields["token"]})
        elif chance < 0.2:
            self.post(f"pairs/{page.number}/draft/", {"field": "notes", "text": "half a thought"})
        elif chance < 0.25 and self.old is not None:
            self.submit(self.old)
        else:
            self.submit(page, twice=chance > 0.9)
            self.old = page

    def act_without_a_page(self) -> None:
        self.post("undo/", {})

    def submit(self, page: Page, *, twice: bool = False) -> None:
        label, notes = self.dice.choice(["1", "0", "unsure"]), uuid.uuid4().hex
        body = {**page.fields, "label": label, "notes": notes, "reason": "because", "seconds": "3.5"}
        for _ in range(1 + twice):
            status, where = self.post(f"pairs/{page.number}/submit/", body)
            if status == 302 and where.endswith("/next/"):
                self.said["stored"] += 1
                self.accepted.append(Accepted(self.name, page.number, label, notes))

    def next_page(self) -> Page | None:
        status, where, _ = self.ask("GET", f"/rate/{self.study}/next/")
        found = PAIR.search(where)
        if status != 302 or not found:
            return None
        status, _, text = self.ask("GET", where)
        fields = dict(HIDDEN.findall(text))
        if status != 200 or set(fields) != {"token", "evidence", "seen_revision"}:
            self.wrong.append(f"{status} for {where}")
            return None
        return Page(int(found[1]), fields)

    def post(self, path: str, values: Mapping[str, str]) -> tuple[int, str]:
        status, where, _ = self.ask("POST", f"/rate/{self.study}/{path}", urlencode(values))
        self.said[f"{path.rsplit('/', 2)[-2]} {status}"] += 1
        return status, where

    def ask(self, method: str, path: str, body: str | None = None) -> tuple[int, str, str]:
        """Status, where it sends to, and text; anything that is no answer of ours is noted as wrong."""
        began = time.monotonic()
        if self.link is None:
            self.link = HTTPConnection("127.0.0.1", self.port(), timeout=TIMEOUT)
        headers = {"Cookie": f"sessionid={self.session}; csrftoken={CSRF}", "X-CSRFToken": CSRF}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self.link.request(method, path, body, headers)
        reply = self.link.getresponse()
        text = reply.read().decode()
        self.seconds.append(time.monotonic() - began)
        if STORED_MEANWHILE in text:
            self.said["stored meanwhile"] += 1
        elif reply.status >= 500 or reply.status in {400, 403, 404, 422}:
            self.wrong.append(f"{reply.status} for {method} {path}: {text[:300]}")
        return reply.status, reply.headers.get("Location", ""), text

    def hang_up(self) -> None:
        if self.link is not None:
            self.link.close()
        self.link = None


def crowd(
    study: int, sessions: Mapping[str, str], port: Callable[[], int]
) -> tuple[list[Rater], threading.Event]:
    """Started raters, and the event that ends them."""
    stop = threading.Event()
    raters = [
        Rater(name, session, study, port, stop, seed) for seed, (name, session) in enumerate(sessions.items())
    ]
    for rater in raters:
        rater.thread.start()
    return raters, stop


def finish(raters: Sequence[Rater], stop: threading.Event) -> None:
    """Let each end what it is at."""
    stop.set()
    for rater in raters:
        rater.thread.join(timeout=2 * TIMEOUT)
        assert not rater.thread.is_alive(), f"{rater.name} waits for an answer"
