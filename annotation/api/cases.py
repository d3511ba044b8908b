"""Cases and their executions."""

from __future__ import annotations

from django.http import HttpRequest, QueryDict
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router

from annotation import review
from annotation.api import visible
from annotation.api.builds import dollars
from annotation.api.queries import text_head
from annotation.models import Case, Execution, Step, TestProgram
from annotation.pages.case_lists import Filters, found, listed
from annotation.pages.evidence import evidence_hash
from annotation.schemas.cases import CaseDetail, CaseOut, CasePage, ExecutionOut, ProgramOut, StepOut
from annotation.seen import mark_seen
from annotation.stages import Event, Stage
from retrieval.schemas import Id, Page
from sandbox.report import Outcome

router = Router(tags=["cases"])


@router.get("/builds/{int:pk}/cases", response=Page[CaseOut])
def list_cases(request: HttpRequest, pk: Path[Id], wanted: Query[CasePage]) -> Page[CaseOut]:
    """The build's cases that pass the filters, in the order asked for."""
    build = visible.build(request, pk)
    filters = Filters(
        stage=wanted.stage or "",
        label=wanted.label or "",
        q=wanted.q.strip(),
        differs=wanted.differs or "",
        sort=wanted.sort,
    )
    place = QueryDict(f"after={wanted.after or ''}")
    window = found(build, visible.builds(request), filters, place, wanted.limit, wanted.query or 0).window
    page = listed([case.pk for case in window.rows], "query", "build")
    mark_seen(request.user, [case.pair_id for case in page])
    return Page(items=[case_out(case) for case in page], next=page[-1].pk if window.next else None)


@router.get("/cases/{int:pk}", response=CaseDetail)
def get_case(request: HttpRequest, pk: Path[Id]) -> CaseDetail:
    """One case with its texts, its steps and its test program."""
    case = visible.case(request, pk)
    mark_seen(request.user, [case.pair_id])
    related = "call", "program__source", "execution"
    steps = list(case.steps.select_related(*related).order_by("number"))
    mine = review.reviews_of(case.pair_id, visible.caller(request)).last()
    return CaseDetail(
        **case_out(case).dict(),
        query_text=case.pair.query.text,
        code=case.pair.snippet.text,
        left=Stage(case.left) if case.left else None,
        missing_module=case.missing_module,
        dependencies=case.dependencies,
        program=program_out(case.program) if case.program else None,
        execution=case.execution_id,
        steps=[step_out(step) for step in steps],
        evidence=evidence_hash(case, steps),
        seen_revision=review.revision_seen(mine),
    )


@router.get("/executions/{int:pk}", response=ExecutionOut)
def get_execution(request: HttpRequest, pk: Path[Id]) -> ExecutionOut:
    """One execution with its whole report."""
    execution = get_object_or_404(visible.executions(request).select_related("report"), pk=pk)
    mark_seen(request.user, pairs_of(execution))
    return execution_out(execution)


def pairs_of(execution: Execution) -> list[int]:
    """The pairs whose cases rest on the execution."""
    stepped = Step.objects.filter(execution=execution).values_list("case__pair", flat=True)
    asked = execution.requests.values_list("program__pair", flat=True)
    return [*stepped.order_by(), *asked.order_by()]


def case_out(case: Case) -> CaseOut:
    return CaseOut(
        id=case.pk,
        stage=Stage(case.stage),
        label=case.label,
        build=case.build_id,
        pair=case.pair_id,
        query=text_head(case.query),
        snippet=text_head(case.pair.snippet),
        rank=case.rank,
        score=case.score if case.build.given_id is None else None,
        round=case.round,
        reason=case.reason,
        outcome=Outcome(case.execution.outcome) if case.execution else None,
        seconds=case.seconds,
        updated_at=case.updated_at,
    )


def step_out(step: Step) -> StepOut:
    call = step.call
    return StepOut(
        number=step.number,
        before=Stage(step.before),
        event=Event(step.event),
        after=Stage(step.after),
        note=step.note,
        agent=call.agent if call else None,
        model=call.model if call else None,
        cost=dollars(call.cost) if call else None,
        program=step.program_id,
        execution=step.execution_id,
        at=step.at,
    )


def program_out(program: TestProgram) -> ProgramOut:
    return ProgramOut(
        id=program.pk,
        source=program.source.text,
        reading=program.reading,
        readings=program.readings,
        test_cases=program.test_cases,
        helpers=program.helpers,
        redefines=program.redefines,
    )


def execution_out(execution: Execution) -> ExecutionOut:
    report = execution.whole_report()
    return ExecutionOut(
        id=execution.pk,
        outcome=Outcome(execution.outcome),
        ran=execution.ran,
        asserted=execution.asserted,
        touched=execution.touched,
        dependencies=execution.dependencies,
        image=execution.image,
        repeat=execution.repeat,
        backend=execution.backend,
        created_at=execution.created_at,
        report=report,
        canonical=report.canonical(),
    )
