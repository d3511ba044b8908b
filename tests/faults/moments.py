"""When what is killed, drawn from a seed."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

ASKING: Final = ("screening", "reading", "writing_test", "arbitrating")
WORKING: Final = (*ASKING, "executing")
STAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "call": ASKING,
    "execution": ("executing",),
    "reserve": ASKING,
    "settle": ASKING,
    "move": (*WORKING, "fixing"),
    "publish": ("settled",),
    "stored": ASKING,
    "claimed": WORKING,
    "any": ("",),
}
"""The points that a worker can be killed at, with the stages that have them."""
KINDS: Final = {
    "call": "a call in flight",
    "execution": "during an execution",
    "reserve": "inside a transaction",
    "settle": "inside a transaction",
    "move": "inside a transaction",
    "publish": "inside a transaction",
    "stored": "reply stored, case not moved",
    "claimed": "claimed, not begun",
    "any": "any moment",
}
SHARES: Final = (
    ("call", 20),
    ("execution", 16),
    ("stored", 14),
    ("move", 9),
    ("reserve", 9),
    ("settle", 9),
    ("publish", 9),
    ("claimed", 5),
    ("any", 9),
)
"""Of 100 kills so many are at each point."""
LEAST: Final = {
    "a call in flight": 0.10,
    "during an execution": 0.10,
    "inside a transaction": 0.05,
    "reply stored, case not moved": 0.05,
}
"""The share of the kills that has to be of a kind."""
MANY_MACHINES: Final = (
    *("worker", "postgres", "worker", "redis", "worker"),
    *("beat", "worker", "web", "worker", "postgres"),
)
"""In an order in which few kills, too, meet both services that a worker needs."""
ONE_MACHINE: Final = ("server",)


@dataclass(frozen=True)
class Moment:
    """Kill `target` while a worker is at `point` with a case in `stage`."""

    target: str
    point: str
    stage: str

    @property
    def kind(self) -> str:
        return KINDS[self.point]


def draw(kills: int, seed: int, targets: Sequence[str] = MANY_MACHINES) -> list[Moment]:
    """So many moments; targets and points come in fixed shares, their order and pairing by chance."""
    chance = random.Random(seed)
    points = [point for point, _ in spread(kills)]
    killed = list(itertools.islice(itertools.cycle(targets), kills))
    chance.shuffle(points)
    chance.shuffle(killed)
    return [
        Moment(target, point, chance.choice(STAGES[point]))
        for target, point in zip(killed, points, strict=True)
    ]


def spread(kills: int) -> list[tuple[str, float]]:
    """The points by their shares: the n-th of a point stands at n over its share."""
    queued = [(point, (number + 0.5) / share) for point, share in SHARES for number in range(kills)]
    return sorted(queued, key=lambda entry: entry[1])[:kills]


def lacking(moments: Iterable[Moment]) -> list[str]:
    """The kinds of which there are fewer than there have to be."""
    counts = Counter(moment.kind for moment in moments)
    return [kind for kind, share in LEAST.items() if counts[kind] < share * sum(counts.values())]


def table(moments: Iterable[Moment]) -> str:
    """Counts by kind and stage (lines) and target (columns)."""
    counts = Counter((f"{moment.kind:<30}{moment.stage:<14}", moment.target) for moment in moments)
    targets = sorted({target for _, target in counts})
    head = " " * 44 + "".join(f"{target:>10}" for target in targets)
    lines = [
        line + "".join(f"{counts[line, target] or '':>10}" for target in targets)
        for line in sorted({line for line, _ in counts})
    ]
    return "\n".join([head, *lines])
