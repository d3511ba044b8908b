"""The cases of a build that runs others again: where they begin, and what they take over from there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Final

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.builds.results.case_queryset import CLEAR, REACHING, READ, UNCLEAR
from annotation.models import Build, Case, Rerun, Step
from annotation.models.builds.cases import CLEAR as CLEARED
from annotation.models.builds.cases import COUNTED
from annotation.stages import Event, Stage
from retrieval.models import Candidate
from sandbox.program import count_assertions

CASES_A_BATCH: Final = 1000
ENTERED_BY: Final[Mapping[Stage, frozenset[Event]]] = MappingProxyType(
    {
        Stage.SCREENING: frozenset(),
        Stage.READING: frozenset({Event.TO_READER}),
        Stage.WRITING_TEST: frozenset({Event.UNCLEAR, Event.READ}),
        Stage.EXECUTING: frozenset({Event.WRITTEN}),
        Stage.ARBITRATING: frozenset({Event.EXECUTED, Event.REFUSED}),
        Stage.TIE_BREAKING: frozenset({Event.DISPUTED}),
    }
)
"""The stages that cases can begin at, with the events that lead there; what came before is taken over."""
HAS_READER: Final = Q(annotator__config__reader=True)
CAN_BEGIN: Final[Mapping[Stage, Q]] = MappingProxyType(
    {
        Stage.SCREENING: Q(),
        Stage.READING: UNCLEAR & HAS_READER,
        Stage.WRITING_TEST: READ,
        Stage.EXECUTING: REACHING["written"] & Q(program__isnull=False),
        Stage.ARBITRATING: REACHING["executed"] & Q(execution__isnull=False),
        Stage.TIE_BREAKING: REACHING["disputed"] & Q(execution__isnull=False),
    }
)
"""Cases that have come as far as the stage, by their rows."""
COPIED: Final = (
    *("number", "before", "event", "after", "note", "at"),
    *("call_id", "program_id", "execution_id"),
)
"""Columns of a step that another case takes over."""
AFTER_RUN: Final = (
    *("program_id", "execution_id", "reference_run_id", "neighbour_run_id", "dependencies"),
    *("missing_module", "rewrites", "fix_rounds", "tested_again"),
)
KEPT: Final[Mapping[Stage, tuple[str, ...]]] = MappingProxyType(
    {
        Stage.SCREENING: (),
        Stage.READING: (),
        Stage.WRITING_TEST: (),
        Stage.EXECUTING: ("program_id", "rewrites", "tested_again"),
        Stage.ARBITRATING: AFTER_RUN,
        Stage.TIE_BREAKING: AFTER_RUN,
    }
)
"""Columns that a case has when it begins there. Executing finds out anew which modules are missing."""


def rerun_of_build(build: Build) -> Rerun | None:
    """What the build runs again; no query where it was read with it."""
    try:
        return build.rerun
    except ObjectDoesNotExist:
        return None


def filter_rerunnable_cases(
    cases: QuerySet[Case], stage: Stage, *, spot_check: bool = False
) -> QuerySet[Case]:
    """Those of `cases` that can begin at `stage`, each pair once: that of its last round.

    A spot check begins with what the screener found clear.
    """
    later = Case.objects.filter(
        build=OuterRef("build"), candidate=OuterRef("candidate"), round__gt=OuterRef("round")
    )
    reached = CLEAR & HAS_READER if spot_check else CAN_BEGIN[stage]
    return cases.filter(reached).exclude(Exists(later))


def candidates_of_rerun(rerun: Rerun) -> QuerySet[Candidate]:
    """The candidates of the cases that were chosen."""
    return Candidate.objects.filter(cases__in=rerun.cases.all()).order_by("query_id", "rank")


def add_cases(rerun: Rerun, rows: QuerySet[Candidate], left_out: Collection[int] = ()) -> int:
    """Make the cases whose candidate is among `rows`; returns how many. The caller holds the build."""
    among = rerun.cases.filter(candidate__in=rows)
    chosen = filter_rerunnable_cases(among, Stage(rerun.stage), spot_check=rerun.spot_check).order_by(
        "query_id", "rank"
    )
    found = chosen.values_list("pk", "candidate_id")
    wanted = [pk for pk, candidate in found if candidate not in left_out]
    made, counts = 0, Counter[str]()
    for start in range(0, len(wanted), CASES_A_BATCH):
        made += add_some(rerun, wanted[start : start + CASES_A_BATCH], counts)
    rerun.build.tally.change(**{rerun.stage: made}, **counts)
    return made


def add_some(rerun: Rerun, wanted: Sequence[int], counts: Counter[str]) -> int:
    """Make the cases of those in `wanted`, with the steps behind them; adds to `counts` of the totals."""
    stage = Stage(rerun.stage)
    before = load_screener_steps(wanted) if rerun.spot_check else steps_before(stage, wanted)
    cases = Case.objects.in_bulk(wanted)
    made = Case.objects.bulk_create(
        create_rerun_case(rerun, cases[pk], len(before[pk])) for pk in wanted if pk in before
    )
    copies = [
        # Its seconds are not taken over: nobody works on it again.
        Step(case=case, **{name: getattr(step, name) for name in COPIED})
        for case, pk in zip(made, (pk for pk in wanted if pk in before), strict=True)
        for step in before[pk]
    ]
    times = [step.at for step in copies]
    Step.objects.bulk_create(copies)
    for step, at in zip(copies, times, strict=True):
        step.at = at  # when it was made, not when it was taken over
    Step.objects.bulk_update(copies, ["at"], batch_size=200)
    for steps in before.values():
        counts.update(count_reused_steps(steps))
    return len(made)


def steps_before(stage: Stage, wanted: Sequence[int]) -> dict[int, list[Step]]:
    """By case: the steps up to the last that led to `stage`; a case that nothing led there is left out."""
    if stage is Stage.SCREENING:
        return {pk: [] for pk in wanted}
    rows = Step.objects.filter(case__in=wanted).order_by("case", "number")
    found = groupby(rows.select_related("program__source", "execution"), key=lambda step: step.case_id)
    cut = ((pk, steps_before_stage(stage, list(steps))) for pk, steps in found)
    return {pk: steps for pk, steps in cut if steps}


def load_screener_steps(wanted: Sequence[int]) -> dict[int, list[Step]]:
    """By case: the screener's step, which settled it, as one that leads to the reader instead."""
    rows = Step.objects.filter(case__in=wanted, before=Stage.SCREENING, event__in=CLEARED)
    for step in (found := list(rows.order_by("case", "number"))):
        step.event, step.after = Event.SPOT_CHECK.value, Stage.READING.value
    return {step.case_id: [step] for step in found}


def steps_before_stage(stage: Stage, steps: Sequence[Step]) -> list[Step]:
    leading = [place for place, step in enumerate(steps, 1) if step.event in ENTERED_BY[stage]]
    return list(steps[: leading[-1]]) if leading else []


def create_rerun_case(rerun: Rerun, case: Case, steps: int) -> Case:
    """The case that takes `case` up at the stage."""
    kept = (*("candidate_id", "pair_id", "query_id", "rank", "score"), *KEPT[Stage(rerun.stage)])
    return Case(
        build=rerun.build,
        annotator_id=rerun.build.annotator_id,
        stage=rerun.stage,
        step_count=steps,
        **{name: getattr(case, name) for name in kept},
    )


def count_reused_steps(steps: Iterable[Step]) -> Counter[str]:
    """What the steps of one case add to a build's totals; their calls count as reused."""
    counts, second = Counter[str](), False
    for step in steps:
        event = Event(step.event)
        counts["reused"] += step.call_id is not None
        if event in COUNTED:
            counts[COUNTED[event]] += 1
        if event is Event.WRITTEN and step.program is not None:
            counts["test_cases"] += count_assertions(step.program.source.text)
        if event in {Event.EXECUTED, Event.TESTED_NOTHING, Event.REFUSED}:
            counts.update(count_finished_execution(step, second))
        second = second or event is Event.TESTED_NOTHING
    return counts


def count_finished_execution(step: Step, second: bool) -> dict[str, int]:
    """What a program whose execution is over adds; one whose module could not be had ran nowhere."""
    run = step.execution if step.event != Event.REFUSED else None
    touched = int(run is not None and run.touched)
    return {
        "programs": 1,
        "ran": int(run is not None and run.ran),
        "asserted": int(run is not None and run.asserted),
        "touched": touched,
        "second_tests": int(second),
        "second_touched": touched if second else 0,
    }


def origin_of_case(case: Case) -> Case | None:
    """The case of the other build that this one takes up; None where it takes up none."""
    rerun = rerun_of_build(case.build)
    if rerun is None:
        return None
    same = Case.objects.filter(build=rerun.of_id, candidate=case.candidate_id)
    return same.select_related("build").order_by("-round").first()
