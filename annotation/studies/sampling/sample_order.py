"""What can be asked of a sample."""

from __future__ import annotations

from typing import Final

from annotation.schemas.studies.studies import SampleWish

MOST_STRATA: Final = 60


class SampleRefused(ValueError):
    """Such a sample can't be drawn; the message says what to change."""


def refuse_impossible_sample(wish: SampleWish) -> None:
    """Raises SampleRefused where no frame could satisfy the wish."""
    if wish.strata and wish.per_query > 1:
        raise SampleRefused("With strata, take one pair a query, or as many as come (0).")
