"""Neural Code Search's score sheet: for each question and system the rank of the first answer.

A CSV file with a column `SYSTEM FRank` for each system; a cell is a rank from 1 on, or `NF`, not found.
"""

from __future__ import annotations

import re
from pathlib import Path

from retrieval.sources.lines import Malformed, csv_rows, lines, shown

SUFFIX = " FRank"
NOT_FOUND = "NF"
RANK = re.compile(r"[1-9][0-9]{0,8}")


def read_score_sheet(path: Path) -> dict[str, list[int | None]]:
    """The first ranks of each system by its name in the header, in the questions' order; None for `NF`.

    Raises `Malformed`.
    """
    rows = csv_rows(path, lines(path))
    first_line, header = next(rows, (0, []))
    systems = _systems(path, first_line, header)
    ranks: dict[str, list[int | None]] = {system: [] for system in systems}
    for line, row in rows:
        if len(row) != len(header):
            raise Malformed(path, line, f"expected {len(header)} columns as in the header, found {len(row)}")
        for system, place in systems.items():
            ranks[system].append(_rank(path, line, system, row[place].strip()))
    if not any(ranks.values()):
        raise Malformed(path, 0, "has a header and no questions")
    return ranks


def _systems(path: Path, line: int, header: list[str]) -> dict[str, int]:
    """The place of each system's column."""
    systems: dict[str, int] = {}
    for place, title in enumerate(header):
        name = title.strip().removesuffix(SUFFIX)
        if name == title.strip():
            continue
        if name in systems:
            raise Malformed(path, line, f"has two columns of the system {shown(name)}")
        systems[name] = place
    if not systems:
        found = f"found {shown(','.join(header))}" if header else "the file is empty"
        raise Malformed(path, line, f"expected a header with columns named 'SYSTEM{SUFFIX}', {found}")
    return systems


def _rank(path: Path, line: int, system: str, written: str) -> int | None:
    if written == NOT_FOUND:
        return None
    if not RANK.fullmatch(written):
        expected = f"expected a rank from 1 on or {NOT_FOUND} for {shown(system)}"
        raise Malformed(path, line, f"{expected}, found {shown(written)}")
    return int(written)
