"""Tables and columns that were called otherwise when a dump was written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

RENAMED_TABLES: Final[Mapping[str, str]] = {
    "annotation.extensioncanary": "annotation.canary",
    "retrieval.benchmark_further_minings": "retrieval.benchmark_extension_minings",
}
"""By its old name (app and model) the name that a table has now: two may have become one."""

LOOKED_UP: Final[Mapping[str, Mapping[str, tuple[str, str, str]]]] = {
    "annotation.extensioncanary": {"build": ("extension", "annotation.extension", "build")}
}
"""By a table's old name, the columns that it had not: its own column that points to a row, the table of
that row, and the column there that has the value. That table's name comes before the old one."""

RENAMED: Final[Mapping[str, Mapping[str, str]]] = {
    "annotation.abandonment": {"left": "left_stage"},
    "annotation.amendment": {"why": "reason"},
    "annotation.batch": {
        "found": "is_guessed",
        "refuted": "refuted_ids",
        "refused_way": "refused_output_mode",
        "strange": "unknown_results",
        "look_at": "next_poll_at",
        "looks": "idle_polls",
    },
    "annotation.build": {"probe_at": "next_probe_at", "probes": "probe_count", "given": "pair_list"},
    "annotation.case": {"left": "left_stage", "steps_made": "step_count"},
    "annotation.driftanswer": {"words": "explanation"},
    "annotation.driftcheck": {
        "up": "higher",
        "down": "lower",
        "unlike": "judged_once",
        "apart": "odd_ones",
        "odd": "new_odd_ones",
    },
    "annotation.driftwatch": {"most": "max_checks"},
    "annotation.extension": {"words": "description", "why": "reason"},
    "annotation.merge": {"given": "new_or_changed"},
    "annotation.notice": {"words": "text"},
    "annotation.precedent": {"why": "reason"},
    "annotation.projectcapchange": {"why": "reason"},
    "annotation.rerun": {"words": "description", "why": "reason"},
    "retrieval.benchmark": {"given": "pair_list", "goes_on_from": "previous_version"},
    "retrieval.candidate": {"given": "pair_list"},
}
"""By the name that a table has now: by its old name the name that a column has now."""


def current_table(name: str) -> str:
    return RENAMED_TABLES.get(name, name)


def current_column(table: str, name: str) -> str:
    """`table` is called as it is now."""
    return RENAMED.get(table, {}).get(name, name)
