"""Times work: rates with several callers in rounds that take turns, latencies of one caller."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

Work = Callable[[], object]
ROUNDS: Final = 7


@dataclass(frozen=True)
class Throughputs:
    """How often a second each work was done, in rounds in which they take turns."""

    rounds: tuple[Mapping[str, float], ...]

    def medians(self) -> dict[str, float]:
        """Each work's median."""
        return {
            name: round(statistics.median(one[name] for one in self.rounds), 1) for name in self.rounds[0]
        }

    def ratio(self, work: str, rival: str) -> float:
        """The median of the rounds' ratios: a busy moment of the machine meets both sides of one."""
        return round(statistics.median(one[work] / one[rival] for one in self.rounds), 3)


def rates_in_turns(works: Mapping[str, Work], times: int, callers: int) -> Throughputs:
    """`times` runs of each work by so many callers, a round after the other."""
    return Throughputs(
        tuple(
            {name: measure_work_rate(work, times, callers) for name, work in works.items()}
            for _ in range(ROUNDS)
        )
    )


def measure_work_rate(work: Work, times: int, callers: int) -> float:
    started = time.perf_counter()
    with ThreadPoolExecutor(callers) as pool:
        for done in [pool.submit(work) for _ in range(times)]:
            done.result()
    return times / (time.perf_counter() - started)


def measure_latencies(work: Work, times: int, pause: float = 0.0) -> list[float]:
    """Seconds of each of `times` runs, one after another, `pause` seconds apart."""
    found = []
    for _ in range(times):
        time.sleep(pause)
        started = time.perf_counter()
        work()
        found.append(time.perf_counter() - started)
    return found


def median_and_p95(seconds: Sequence[float]) -> dict[str, float]:
    """In milliseconds."""
    p95 = statistics.quantiles(seconds, n=20, method="inclusive")[-1]
    return {"median": round(statistics.median(seconds) * 1000, 1), "p95": round(p95 * 1000, 1)}
