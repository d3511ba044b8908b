"""Whether a standing label of an expert contradicts a case is kept with the case: lists look at no review.

It changes when a case settles (`Case.move`), and when a review is appended: to give, change or take back a
label. Both hold the case first and look afterwards, so that of two at once the later one sees the earlier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from annotation.models.cases import CONTRADICTED, Case
from retrieval.models import statements


@contextmanager
def reconsidered(pair: int) -> Iterator[None]:
    """Within a transaction: in the block, what experts say of the pair may change."""
    held = Case.objects.select_for_update(no_key=True).filter(pair=pair).order_by("pk")
    list(held.values_list("pk", flat=True))
    yield
    note({"pair": pair})


def note(cases: Mapping[str, Any]) -> int:
    """Put right what is kept with the cases whose columns equal `cases`; returns how many it was wrong of."""
    now = statements.change(
        Case, {**cases, "contradicted": False}, put={"contradicted": True}, provided=CONTRADICTED
    )
    no_longer = statements.change(
        Case, {**cases, "contradicted": True}, put={"contradicted": False}, provided=f"NOT ({CONTRADICTED})"
    )
    return now + no_longer
