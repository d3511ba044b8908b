"""What an admin asks for who has functions written, and for which queries that is."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import numpy as np

from annotation.builds.launch.order import Order as BuildOrder
from annotation.derived.missing_functions import unmatched_queries
from annotation.models import Build

TRIES: Final = 2
"""A function that its test denied is written anew once; then the expert gets it, marked so."""
SAME: Final = ("name", "provider", "model", "recorded", "budget", "unpriced")
SEED: Final = 1
"""Draws the queries of a job with a limit."""


@dataclass(frozen=True)
class FillOrder:
    """What an admin asks for. `unjudged`: also queries of which some candidates could not be judged.

    `tries`: how many functions are written for a query at most while the agents deny them. `limit`: so many
    queries at most, drawn by `SEED`. `at_once`: why a large live job does without a small one before it.
    The others are as in any `Order`; the path of a function is that of the build's agents, without a
    screener.
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

    @property
    def whole(self) -> BuildOrder:
        """In the terms of any launch."""
        config, repairs = self.of.annotator.config, ("sampling", "fix_rounds", "rewrites", "second_test")
        return BuildOrder(
            queries=self.of.queries,
            snippets=self.of.snippets,
            encoders=(),
            k=1,
            **{name: getattr(self, name) for name in SAME},
            **{name: config[name] for name in repairs if name in config},
        )


def unmatched_queries_of_order(order: FillOrder) -> list[tuple[int, bool]]:
    """The queries (ids) that a function is written for, each with whether it was judged in part only."""
    found = [(pk, False) for pk in unmatched_queries.without_match(order.of).values_list("pk", flat=True)]
    if order.unjudged:
        found += [
            (pk, True)
            for pk in unmatched_queries.find_unjudged_queries(order.of).values_list("pk", flat=True)
        ]
    if order.limit is None or order.limit >= len(found):
        return found
    places = np.random.default_rng(SEED).choice(len(found), order.limit, replace=False)
    return [found[place] for place in sorted(places)]
