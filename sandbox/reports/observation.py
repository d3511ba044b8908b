"""What the supervisor saw of a run, read from the harness's reply."""

import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sandbox.reports.records import Record
from sandbox.reports.texts import escape_unstorable_text


class Garbled(Exception):
    """The harness's answer is no reply: an infrastructure failure, to be tried once more."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What the supervisor saw of one run; the program may have influenced all of it."""

    records: tuple[Record, ...]
    stdout: str
    stderr: str
    output_bytes: tuple[int, int]
    status: int
    stopped: str
    seconds: float
    cpu_seconds: float
    peak: int
    oom_kills: int | None
    left: int
    foreign: int
    raw: tuple[str, str] = ("", "")
    lost: int = 0

    def of(self, kind: str) -> Iterator[tuple[Any, ...]]:
        """The values of all records of one kind, in order."""
        return (record[1:] for record in self.records if record[0] == kind)

    def is_clean(self) -> bool:
        """Whether the program ended by itself, left nothing behind, and showed no sign of tampering."""
        odd = self.stopped or self.oom_kills or self.left or self.foreign or self.lost
        return not odd and os.WIFEXITED(self.status) and not any(self.of("sign"))


def parse_harness_reply(reply: bytes, oom_kills: int | None = None) -> Observation:
    """Read the harness's reply; raises Garbled when it is not one.

    `oom_kills` were seen from outside, None where the kernel does not say.
    """
    try:
        data = json.loads(reply)
        records = tuple(_record(line) for line in data["records"])
        out, err = data["output_bytes"]
        if ("ready",) not in records:
            raise Garbled(f"the program could not be started: {data['stderr'][:500]}")
        return Observation(
            records=records,
            stdout=escape_unstorable_text(data["stdout"]),
            stderr=escape_unstorable_text(data["stderr"]),
            raw=(str(data["stdout"]), str(data["stderr"])),
            output_bytes=(int(out), int(err)),
            status=_status(data["status"]),
            stopped=str(data["stopped"]),
            seconds=_finite(data["seconds"]),
            cpu_seconds=_finite(data["cpu_seconds"]),
            peak=int(data["peak"]),
            oom_kills=_most(data["oom_kills"], oom_kills),
            left=int(data["left"]),
            foreign=int(data["foreign"]),
            lost=int(data.get("lost", 0)),
        )
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise Garbled(f"the harness's reply cannot be read: {type(error).__name__}: {error}") from error


def killed_for_memory() -> Observation:
    """What is known of a run whose harness was among what the kernel killed for memory: nothing else."""
    return Observation((), "", "", (0, 0), 0, "memory", 0.0, 0.0, 0, oom_kills=1, left=0, foreign=0)


def _record(line: str) -> Record:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    return tuple(record) if isinstance(record, list) and record else ("unreadable",)


def _status(value: Any) -> int:
    if int(value) not in range(1 << 16):
        raise ValueError(f"{value} is no status of a process")
    return int(value)


def _finite(value: Any) -> float:
    if not math.isfinite(float(value)):
        raise ValueError(f"{value} is no time")
    return float(value)


def _most(*counts: Any) -> int | None:
    return max((int(count) for count in counts if count is not None), default=None)
