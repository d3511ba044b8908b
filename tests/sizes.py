"""At which size tests run that have two: small in each run, whole in targets of their own."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

WHOLE = bool(os.environ.get("TESTS_WHOLE"))
"""Whether lists and data are taken whole: `make survive`, `make protections`, `make figures`, `make keys`."""
PAIRS, CODEBASE = "cosqa-retrieval-dev-500.json", "code_idx_map.txt"
QUERIES, FUNCTIONS = 50, range(1400, 1800)
"""The part of the real data that a usual run takes; what tests decide about is among it."""


def cosqa_files(real_data: Path, folder: Path) -> tuple[Path, Path]:
    """CoSQA's labelled pairs and its code base; where `WHOLE` is not set a part of them, made in `folder`."""
    whole = real_data / "cosqa" / PAIRS, real_data / "cosqa" / CODEBASE
    if WHOLE:
        return whole
    pairs, indices = (json.loads(path.read_text("utf-8")) for path in whole)
    named = {pair["code"] for pair in pairs[:QUERIES]}
    kept = [code for code in indices if code in named or indices[code] in FUNCTIONS]
    places = {code: place for place, code in enumerate(kept)}
    renumbered = [pair | {"retrieval_idx": places[pair["code"]]} for pair in pairs[:QUERIES]]
    return written(folder / PAIRS, renumbered), written(folder / CODEBASE, places)


def written(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), "utf-8")
    return path
