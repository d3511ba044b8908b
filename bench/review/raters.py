"""Twenty raters at one server: at the pace of people, and as fast as they get answers."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from bench.measure.clock import median_and_p95
from bench.review.desks import DecisionTimes, Desk
from bench.review.server import Failed

RATERS: Final = 20
PACE_SECONDS: Final = 2.0
KINDS: Final = ("next", "review", "submit")


@dataclass
class Shift:
    """What some raters did in a window."""

    decisions: list[DecisionTimes] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def told(self) -> dict[str, object]:
        """p95 by kind in milliseconds, decisions a second, and the first errors."""
        return {
            "p95_ms": p95_of(self.decisions),
            "decisions": len(self.decisions),
            "decisions_a_second": round(len(self.decisions) / self.seconds, 2),
            "errors": len(self.errors),
            "first_errors": self.errors[:3],
        }


def p95_of(decisions: Sequence[DecisionTimes]) -> dict[str, float]:
    """Milliseconds by kind."""
    return {kind: median_and_p95([getattr(one, kind) for one in decisions])["p95"] for kind in KINDS}


def run_rater_shift(desks: Sequence[Desk], pace: float, seconds: float) -> Shift:
    """All at once for so many seconds: each decision begins `pace` seconds after the last one, or at once."""
    done, began = Shift(), time.perf_counter()
    ends = began + seconds
    threads = [
        threading.Thread(
            target=run_rater_desk, args=(desk, done, began + pace * place / len(desks), ends, pace)
        )
        for place, desk in enumerate(desks)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done.seconds = time.perf_counter() - began
    return done


def run_rater_desk(desk: Desk, done: Shift, due: float, ends: float, pace: float) -> None:
    """One rater's share; a rater to whom something goes wrong goes on."""
    while max(due, time.perf_counter()) < ends:
        time.sleep(max(0.0, due - time.perf_counter()))
        due += pace
        try:
            done.decisions.append(desk.decide())
        except (Failed, OSError, http.client.HTTPException) as why:
            done.errors.append(str(why))
            desk.client.close()
