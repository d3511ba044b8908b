"""Which queries and snippets an export withholds by what their licences say; who publishes decides."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from retrieval.licences import LicenseStanding


class Withhold(StrEnum):
    """Which queries and snippets an export withholds, so that their origin and hash alone are in it."""

    NONE = "none"
    FORBIDDEN = "forbidden"
    """Those whose stated licence is not known to allow passing on."""
    UNKNOWN = "unknown"
    """Those, and whatever states no licence."""


REASONS: Final[Mapping[LicenseStanding, str]] = {
    LicenseStanding.FORBIDDEN: "by a stated licence that is not known to allow passing on",
    LicenseStanding.UNSTATED: "without a stated licence",
}
WITHHELD: Final[Mapping[Withhold, frozenset[LicenseStanding]]] = {
    Withhold.NONE: frozenset(),
    Withhold.FORBIDDEN: frozenset({LicenseStanding.FORBIDDEN}),
    Withhold.UNKNOWN: frozenset({LicenseStanding.FORBIDDEN, LicenseStanding.UNSTATED}),
}


def reasons_told(counts: Mapping[LicenseStanding, int]) -> str:
    """How many are withheld for which reason, in words.

    >>> reasons_told({Standing.FORBIDDEN: 2, Standing.UNSTATED: 1})
    '2 by a stated licence that is not known to allow passing on, 1 without a stated licence'
    """
    return ", ".join(f"{count:,} {REASONS[why]}" for why, count in counts.items() if count)
