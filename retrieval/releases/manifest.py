"""What a release says of itself in `workbench.json`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from retrieval.exporting import provenance
from retrieval.exporting.files import FORMAT, MANIFEST
from retrieval.filters import Rule
from retrieval.models import Pool
from retrieval.texts.hostile import clean_json
from retrieval.texts.small_files import read_small_json

LONGEST_NOTES: Final = 2000
MAIN_FILES: Final = ("query.json", "codebase.json", "pairs.json")
READ: Final = (
    *MAIN_FILES,
    *(provenance.QUERIES, provenance.SNIPPETS, provenance.LABELS, provenance.CANDIDATES),
    *(provenance.ALIASES, provenance.WITHHELD, provenance.WITHHELD_PAIRS),
)
"""The files of a release that an import reads."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What `workbench.json` says, as far as it can be believed; all empty without one.

    `files` are those of READ that were written.
    """

    digest: str = ""
    pool: Pool = Pool.COLLECTION
    merge_rule: str = ""
    encoders: tuple[str, ...] = ()
    k: int = 1
    knows_rules: bool = False
    notes: str = ""
    by_ids: bool = True
    files: tuple[str, ...] = ()


def manifest_of(folder: Path) -> Manifest:
    """What the folder says of itself; one that is no export of ours says nothing."""
    try:
        told: Any = clean_json(read_small_json(folder / MANIFEST))
        if told["format"] != FORMAT or told["written_as"] != "release":
            return Manifest()
        mining = told["mining"] or {"encoders": [], "k": 1}
        return Manifest(
            str(told["digest"]),
            Pool(told["pool"]),
            str(told["merge_rule"]),
            tuple(str(name)[:120] for name in mining["encoders"]),
            max(1, min(int(mining["k"]), 10**6)),
            told["rules"] == [str(rule.name) for rule in Rule],
            str(told.get("notes", ""))[:LONGEST_NOTES],
            told.get("by_ids") is True,
            tuple(name for name in READ if name in told.get("files", [])),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Manifest()
