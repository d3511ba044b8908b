"""Everything that was said of a case: each step's note, the programs, what was seen of their runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from annotation.models import Step
from sandbox.reports.canonical import canonical_text

AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class StepEvidence:
    """One step: who said what in which stage. `program` with its `reading` and `report` stand where each came
    up first; the report is as the agents read it.
    """

    stage: str
    event: str
    agent: str
    note: str
    reading: str = ""
    program: str = ""
    report: str = ""


def said_of(cases: Iterable[int]) -> dict[int, tuple[StepEvidence, ...]]:
    """The steps of these cases (ids)."""
    found = defaultdict[int, list[StepEvidence]](list)
    wanted = sorted(set(cases))
    for start in range(0, len(wanted), AT_ONCE):
        steps = Step.objects.filter(case__in=wanted[start : start + AT_ONCE]).order_by("case", "number")
        seen = set[tuple[str, int, int]]()
        for step in steps.select_related("call", "program__source", "execution__report"):
            found[step.case_id].append(collect_step_evidence(step, seen))
    return {case: tuple(steps) for case, steps in found.items()}


def collect_step_evidence(step: Step, seen: set[tuple[str, int, int]]) -> StepEvidence:
    """One step; `seen` are the programs and runs of cases that earlier steps showed."""
    program, run = step.program, step.execution
    new_program = program is not None and is_new(("program", step.case_id, program.pk), seen)
    new_run = run is not None and is_new(("run", step.case_id, run.pk), seen)
    return StepEvidence(
        stage=step.before,
        event=step.event,
        agent=step.call.agent if step.call else "",
        note=step.note,
        reading=program.reading if program and new_program else "",
        program=program.source.text if program and new_program else "",
        report=canonical_text(run.whole_report()) if run and new_run else "",
    )


def is_new(key: tuple[str, int, int], seen: set[tuple[str, int, int]]) -> bool:
    """Whether the key was not seen before; it is from now on."""
    before = len(seen)
    seen.add(key)
    return len(seen) > before
