"""Whether a standing label of an expert contradicts a case is kept with the case: lists look at no review.

It changes when a case settles (`Case.move`), and when a review is appended: to give, change or take back a
label (within `labels_in_force.track_people`). Both hold the case first and look afterwards, so that of two
at once the later one sees the earlier.
"""

from __future__ import annotations

from typing import Final

from django.db import connection

from annotation.models.builds.cases import CONTRADICTED

WRONG: Final = (
    "UPDATE annotation_case SET contradicted = NOT contradicted"  # noqa: S608  # composed of constants
    f" WHERE contradicted <> ({CONTRADICTED})"
)
"""Turns over what is kept wrongly; in SQL of both databases."""


def refresh_contradictions(pair: int | None = None) -> int:
    """Put right what is kept with the cases of the pair, or with all; returns how many it was wrong of."""
    with connection.cursor() as cursor:
        cursor.execute(WRONG if pair is None else f"{WRONG} AND pair_id = %s", [] if pair is None else [pair])
        return int(cursor.rowcount)
