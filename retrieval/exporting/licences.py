"""Which licences let a snippet be passed on, as far as a table can tell; who publishes decides.

A licence that is not in the table is taken not to allow it; where none is stated, nobody knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

REDISTRIBUTABLE: Final = frozenset(
    name.lower()
    for name in [
        "0BSD",
        "AFL-3.0",
        "AGPL-3.0",
        "Apache-2.0",
        "Artistic-2.0",
        "BSD",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "BSL-1.0",
        "CC-BY-3.0",
        "CC-BY-4.0",
        "CC-BY-SA-3.0",
        "CC-BY-SA-4.0",
        "CC0-1.0",
        "EPL-2.0",
        "GPL-2.0",
        "GPL-3.0",
        "ISC",
        "LGPL-2.1",
        "LGPL-3.0",
        "MIT",
        "MIT-0",
        "MPL-2.0",
        "PSF-2.0",
        "Python-2.0",
        "Unlicense",
        "WTFPL",
        "Zlib",
    ]
)
OPERATOR = re.compile(r"\s+(AND|OR)\s+")
UNSTATED: Final = frozenset({"", "noassertion", "none", "unknown"})
"""What stands where there is no licence; the second and third are SPDX's words."""


class Standing(StrEnum):
    """What a licence says of passing a snippet on."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"
    """Stated, and not among those known to allow it."""
    UNSTATED = "unstated"


class Withhold(StrEnum):
    """Which snippets an export withholds, so that their origin and hash alone are in it."""

    NONE = "none"
    FORBIDDEN = "forbidden"
    """Those whose stated licence is not known to allow passing on."""
    UNKNOWN = "unknown"
    """Those, and whatever states no licence."""


REASONS: Final[Mapping[Standing, str]] = {
    Standing.FORBIDDEN: "by a stated licence that is not known to allow passing on",
    Standing.UNSTATED: "without a stated licence",
}
WITHHELD: Final[Mapping[Withhold, frozenset[Standing]]] = {
    Withhold.NONE: frozenset(),
    Withhold.FORBIDDEN: frozenset({Standing.FORBIDDEN}),
    Withhold.UNKNOWN: frozenset({Standing.FORBIDDEN, Standing.UNSTATED}),
}


def standing(licence: str) -> Standing:
    """What `licence` says of passing on.

    >>> [standing(licence).value for licence in ("MIT", "CC-BY-NC-4.0", "")]
    ['allowed', 'forbidden', 'unstated']
    """
    if licence.strip().lower() in UNSTATED:
        return Standing.UNSTATED
    return Standing.ALLOWED if may_be_passed_on(licence) else Standing.FORBIDDEN


def reasons_told(counts: Mapping[Standing, int]) -> str:
    """How many are withheld for which reason, in words.

    >>> reasons_told({Standing.FORBIDDEN: 2, Standing.UNSTATED: 1})
    '2 by a stated licence that is not known to allow passing on, 1 without a stated licence'
    """
    return ", ".join(f"{count:,} {REASONS[why]}" for why, count in counts.items() if count)


def may_be_passed_on(licence: str) -> bool:
    """Whether a licence (SPDX, also with AND, OR, `-only`, `-or-later`, `+`, WITH …) is in the table.

    >>> may_be_passed_on("GPL-3.0-or-later OR Proprietary"), may_be_passed_on("CC-BY-NC-4.0")
    (True, False)
    """
    first, *rest = OPERATOR.split(licence.strip(" ()"))
    found = _known(first)
    for operator, name in zip(rest[::2], rest[1::2], strict=True):
        found = found or _known(name) if operator == "OR" else found and _known(name)
    return found


def _known(name: str) -> bool:
    plain = name.strip(" ()").split(" WITH ")[0].lower().removesuffix("+")
    return plain.removesuffix("-only").removesuffix("-or-later") in REDISTRIBUTABLE
