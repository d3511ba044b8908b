"""Versions with known ways out, and what to do about them. Distributions repair without a new number."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sandbox.protocol import Check

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Weakness:
    """`part` had it from `since` until it was repaired, in each branch that was, by the versions `fixed`."""

    part: str
    fixed: tuple[Version, ...]
    what: str
    since: Version = (0,)

    def has(self, version: Version) -> bool:
        repaired = next((one for one in self.fixed if one[:2] == version[:2]), self.fixed[-1])
        return self.since <= version < repaired


_WEAKNESSES = (
    _Weakness("runc", ((1, 1, 12),), "lets a container out through a leaked descriptor (CVE-2024-21626)"),
    _Weakness(
        "runc",
        ((1, 2, 8), (1, 3, 3)),
        "lets a container out through links in /dev and /proc (CVE-2025-31133, -52565, -52881)",
    ),
    _Weakness("Engine", ((23, 0),), "gets no repairs from its makers any more"),
    _Weakness(
        "Engine",
        ((24, 0, 9), (25, 0, 2)),
        "lets an image out that is being built (CVE-2024-23651 to -23653)",
    ),
    _Weakness(
        "kernel",
        ((5, 10, 102), (5, 15, 25), (5, 16, 11)),
        "lets programs write to files that they may only read (CVE-2022-0847)",
        since=(5, 8),
    ),
    _Weakness("kernel", ((5, 14),), "counts a program's processes together with all others of its user"),
    _Weakness("bubblewrap", ((0, 8),), "cannot refuse nested user namespaces (--disable-userns)"),
)
_ADVICE = "Update it, or see in your distribution's change log whether it was repaired there."


def list_weakness_checks(versions: Mapping[str, str]) -> Iterator[Check]:
    """One check for each of these parts that ever had a known weakness: passed where it has none now."""
    for part in dict.fromkeys(weakness.part for weakness in _WEAKNESSES):
        text = versions.get(part, "")
        numbers = tuple(map(int, re.findall(r"\d+", text)[:3]))
        if numbers:
            found = [
                weakness.what for weakness in _WEAKNESSES if weakness.part == part and weakness.has(numbers)
            ]
            told = f"{text} {'; it '.join(found)}".strip()
            advice = _ADVICE if found else ""
            yield Check(f"{part} without a known weakness", not found, told, required=False, advice=advice)
