"""What an admin asks for who has functions written, and for which queries that is."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import numpy as np

from annotation import launching
from annotation.missing import counting
from annotation.models import Build

TRIES: Final = 2
"""A function that its test denied is written anew once; then the expert gets it, marked so."""
SEED: Final = 1
"""Draws the queries of a job with a limit."""


@dataclass(frozen=True)
class FillOrder:
    """What an admin asks for. `unjudged`: also queries of which some candidates could not be judged.

    `tries`: how many functions are written for a query at most while the agents deny them. `limit`: so many
    queries at most, drawn by `SEED`. `at_once`: why a large live job does without a small one before it.
    `why`: for the job's history. The others are as in `launching.Order`; the path of a function is that of
    the build's agents, without a screener.
    """

    of: Build
    name: str
    provider: str
    model: str
    recorded: str = ""
    budget: Decimal | None = None
    unpriced: bool = False
    unjudged: bool = False
    tries: int = TRIES
    limit: int | None = None
    at_once: str = ""
    why: str = ""

    @property
    def whole(self) -> launching.Order:
        """In the terms of any launch."""
        said = self.of.annotator.config
        return launching.Order(
            name=self.name,
            queries=self.of.queries,
            snippets=self.of.snippets,
            encoders=(),
            k=1,
            provider=self.provider,
            model=self.model,
            recorded=self.recorded,
            budget=self.budget,
            unpriced=self.unpriced,
            sampling=said.get("sampling", {}),
            fix_rounds=said.get("fix_rounds", 2),
            rewrites=said.get("rewrites", 1),
            second_test=said.get("second_test", False),
        )


def queries_of(order: FillOrder) -> list[tuple[int, bool]]:
    """The queries (ids) that a function is written for, each with whether it was judged in part only."""
    found = [(pk, False) for pk in counting.without_match(order.of).values_list("pk", flat=True)]
    if order.unjudged:
        found += [(pk, True) for pk in counting.unjudged(order.of).values_list("pk", flat=True)]
    if order.limit is None or order.limit >= len(found):
        return found
    places = np.random.default_rng(SEED).choice(len(found), order.limit, replace=False)
    return [found[place] for place in sorted(places)]
