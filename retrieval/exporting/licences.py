"""Which licences let a snippet be passed on, as far as a table can tell; who publishes decides.

What is not in the table, or has no licence, may not be.
"""

from __future__ import annotations

import re
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
