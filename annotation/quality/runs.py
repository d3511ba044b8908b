"""What the tests were worth: how many could be executed, and how many tested the candidate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from annotation.quality.answers import Answer, BenchEntry
from annotation.quality.ground import Ground
from annotation.stats.agreement.figures import Figure
from annotation.stats.agreement.statistic import measure_statistics, share_of

NO_RUN_YET = "no test program was executed"


@dataclass(frozen=True, slots=True)
class Runs:
    """Of the pairs that were asked about (truth or not), how many were `tested` and `executed`: all
    answerings added up. `executable` and `touching` are shares of the executed: each pair's last run got past
    imports and syntax; it evaluated an assertion about the candidate.
    """

    asked: int
    tested: int
    executed: int
    executable: Figure
    touching: Figure


def measure_test_runs(ground: Ground, entry: BenchEntry) -> Runs:
    """Over all pairs of the bench."""

    def counted(holds: Callable[[Answer], bool]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        found = (
            sum(holds(many.answers[pair.id]) for many in entry.answerings if pair.id in many.answers)
            for pair in ground.pairs
        )
        return np.fromiter(found, dtype=np.float64, count=len(ground.pairs))

    executed = counted(lambda answer: answer.outcome != "")
    parts = {
        "executable": counted(lambda answer: answer.ran),
        "touching": counted(lambda answer: answer.touched),
    }
    columns = {name: ground.sample.sums(np.column_stack([part, executed])) for name, part in parts.items()}
    most = float(executed.sum())
    statistics = {name: share_of(column, NO_RUN_YET, pairs=most) for name, column in columns.items()}
    drawn = measure_statistics(ground.draws, statistics)
    return Runs(
        asked=int(counted(lambda _: True).sum()),
        tested=int(counted(lambda answer: bool(answer.tested)).sum()),
        executed=int(executed.sum()),
        executable=drawn["executable"].figure,
        touching=drawn["touching"].figure,
    )
