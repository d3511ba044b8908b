"""What a review rests on, as one hash: a label is stored only with the hash of what is known now."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.models import Case, Step


class EvidenceChanged(Exception):
    """The agents went on since the evidence was read: what was on screen is no longer what is known."""

    def __init__(self) -> None:
        super().__init__(
            "The agents continued with this pair while you were reading. Look at the evidence, then label."
        )


def refuse_changed(case: Case, seen: str) -> None:
    """A label belongs to the evidence that was on screen. Raises EvidenceChanged."""
    if evidence_now(case) != seen:
        raise EvidenceChanged


def evidence_hash(case: Case, steps: Sequence[Step]) -> str:
    """sha256 (hex) of what a review rests on: label, steps, program, execution. It changes when they do."""
    programs = {step.program_id: step.program.source_id for step in steps if step.program}
    reports = {step.execution_id: step.execution.report_id for step in steps if step.execution}
    return hash_of(case, [step.pk for step in steps], programs, reports)


def evidence_now(case: Case) -> str:
    """The same of a case whose steps nobody has read: by their keys, without the texts."""
    keys = "pk", "program", "program__source", "execution", "execution__report"
    rows = list(case.steps.order_by("number").values_list(*keys))
    programs = {program: source for _, program, source, _, _ in rows}
    return hash_of(case, [row[0] for row in rows], programs, {run: report for *_, run, report in rows})


def hash_of(
    case: Case, steps: Sequence[int], programs: Mapping[Any, str | None], reports: Mapping[Any, str | None]
) -> str:
    """`programs` and `reports`: the hashes of their texts by program and execution."""
    rests_on = {
        "label": case.label,
        "stage": case.stage,
        "steps": list(steps),
        "program": programs.get(case.program_id),
        "report": reports.get(case.execution_id),
    }
    return hashlib.sha256(json.dumps(rests_on, sort_keys=True).encode()).hexdigest()
