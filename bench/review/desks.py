"""What a rater does at a desk, over and over: ask for the next item, read its page, say something of it.

Each queue is a desk of its own kind, which knows its addresses and what its form sends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Protocol

from bench.review.server import Answer, Client, Failed, path_of

HIDDEN: Final = re.compile(r'name="(token|evidence|seen_revision|seconds)" value="([^"]*)"')
CHOICE: Final = re.compile(r'name="label" value="([^"]+)"')
FORM: Final = 'id="label-form"'
PAIR: Final = re.compile(r"/rate/\d+/pairs/\d+/$")
CASE: Final = re.compile(r"/review/cases/(\d+)/")
REASON: Final = "it does what the query asks, as far as the bench can tell"


@dataclass(frozen=True)
class DecisionTimes:
    """Seconds of the three answers of one decision."""

    next: float
    review: float
    submit: float


class Desk(Protocol):
    """One rater's place."""

    client: Client

    def decide(self) -> DecisionTimes:
        """Do one decision. Raises Failed."""


@dataclass
class ReviewDesk:
    """Plain review of a build: from the case `after` on."""

    client: Client
    build: int
    after: int

    def decide(self) -> DecisionTimes:
        found = self.client.get(f"/review/builds/{self.build}/?after={self.after}", (302,))
        path = path_of(found.place)
        self.after = case_of(path)
        page = self.client.get(path)
        said = self.client.post(f"/review/cases/{self.after}/label/", form_of(page))
        case_of(path_of(said.place))
        return DecisionTimes(found.seconds, page.seconds, said.seconds)


@dataclass
class StudyDesk:
    """The queue of a study, in which the server says what is next."""

    client: Client
    study: int

    def decide(self) -> DecisionTimes:
        found = self.client.get(f"/rate/{self.study}/next/", (302,))
        path = path_of(found.place)
        if not PAIR.match(path):
            raise Failed(f"{path} is no pair: is nothing left to rate?")
        page = self.client.get(path)
        form = hidden_of(page) | {"label": first_choice(page)}
        said = self.client.post(f"{path}submit/", form)
        return DecisionTimes(found.seconds, page.seconds, said.seconds)


def first_choice(page: Answer) -> str:
    """The first label that a page offers. Raises Failed."""
    found = CHOICE.search(page.text)
    if found is None:
        raise Failed("the page offers no label")
    return found[1]


def case_of(path: str) -> int:
    """The case that a redirect leads to. Raises Failed, also at the end of the list."""
    found = CASE.match(path)
    if found is None:
        raise Failed(f"{path} is no case: is the list at its end?")
    return int(found[1])


def form_of(page: Answer) -> dict[str, str]:
    """What the label form of a page sends; with a reason, as the label may contradict the agents."""
    return {**hidden_of(page), "label": "1", "reason": REASON, "show": "waiting"}


def hidden_of(page: Answer) -> dict[str, str]:
    """What a page has to be sent back, from its label form: that of undo has a revision of its own."""
    found: dict[str, str] = {}
    for name, value in HIDDEN.findall(page.text.partition(FORM)[2]):
        found.setdefault(name, value)
    return found
