"""What annotators said of the bench's pairs, as plain data. No Django, no database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

SCREENED: Final = "screened"
TESTED: Final = "tested"
NO_RUN: Final = "no run"


@dataclass(frozen=True, slots=True)
class BenchPair:
    """A pair of the bench. Pairs with one `query` (a hash of its text) are drawn together; `stratum` is
    empty where the file fixes none.
    """

    id: str
    query: str
    stratum: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """Requests and tokens; a fraction of a request that served several pairs."""

    requests: float = 0.0
    input: float = 0.0
    output: float = 0.0

    def plus(self, other: Spent) -> Spent:
        return Spent(self.requests + other.requests, self.input + other.input, self.output + other.output)

    def over(self, pairs: int) -> Spent:
        """The mean of so many pairs."""
        return Spent(self.requests / pairs, self.input / pairs, self.output / pairs)


@dataclass(frozen=True, slots=True)
class Answer:
    """What was said of one pair, and what it rests on.

    `label` is None where it was not judged, `is_open` where it is still worked on. `tested` says whether a
    program was written or executed (None: nobody knows), `decided` in which stage by which event it ended.
    `outcome` is that of the last run, which `ran` and `touched` the candidate; `cause` why it was abandoned.
    `spent` is by agent. `case` leads to what was said, `why` is what a file said of it.
    """

    label: int | None
    tested: bool | None = None
    is_open: bool = False
    decided: str = ""
    outcome: str = ""
    ran: bool = False
    touched: bool = False
    cause: str = ""
    spent: Mapping[str, Spent] = field(default_factory=dict)
    case: int | None = None
    why: str = ""

    @property
    def stage(self) -> str:
        """Screened or tested; empty where nobody knows."""
        return "" if self.tested is None else TESTED if self.tested else SCREENED


@dataclass(frozen=True, slots=True)
class Answering:
    """One time that an annotator answered: a build, a round of it, a file. A pair without an answer was not
    asked about.
    """

    name: str
    answers: Mapping[str, Answer]


@dataclass(frozen=True, slots=True)
class BenchEntry:
    """An annotator that enters the bench, with each time that it answered."""

    name: str
    answerings: tuple[Answering, ...]

    @property
    def has_stages(self) -> bool:
        """Whether it is known of any answer if it was tested."""
        return any(answer.tested is not None for many in self.answerings for answer in many.answers.values())
