"""Cases and their executions."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, QueryDict
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router

from annotation import review
from annotation.api import visible
from annotation.models import Case, Execution, Step
from annotation.review.hidden_labels import find_hidden_pairs, hide_labels_in_force, hides_labels_from
from annotation.schemas.cases import CaseDetail, CaseOut, CasePage, ExecutionOut, StepOut
from annotation.studies.exposure import mark_list_seen, mark_seen
from annotation.web.cases.evidence import evidence_hash
from annotation.web.cases.filters import Filters, find_case_page, list_told_cases, load_listed_cases
from retrieval.schemas import Id, Page
from sandbox.reports.canonical import canonical_text

router = Router(tags=["cases"])


@router.get("/builds/{int:pk}/cases", response=Page[CaseOut])
def list_cases(request: HttpRequest, pk: Path[Id], wanted: Query[CasePage]) -> Page[CaseOut]:
    """The build's cases that pass the filters, in the order asked for."""
    build = visible.build(request, pk)
    filters = Filters(
        stage=wanted.stage or "",
        label=wanted.label or "",
        q=wanted.q.strip(),
        differs="" if hides_labels_from(request.user, build) else wanted.differs or "",
        sort=wanted.sort,
    )
    mark_list_seen(request.user, build.pk, list_told_cases(build, filters, wanted.query or 0))
    place = QueryDict(f"after={wanted.after or ''}")
    window = find_case_page(
        build, visible.builds(request), filters, place, wanted.limit, wanted.query or 0
    ).window
    page = load_listed_cases([case.pk for case in window.rows], "query", "build")
    pairs = [case.pair_id for case in page]
    mark_seen(request.user, pairs)
    hide_labels_in_force(page, find_hidden_pairs(request.user, build, pairs))
    return Page(
        items=[CaseOut.of(case, **listed(case)) for case in page], next=page[-1].pk if window.next else None
    )


@router.get("/cases/{int:pk}", response=CaseDetail)
def get_case(request: HttpRequest, pk: Path[Id]) -> CaseDetail:
    """One case with its texts, its steps and its test program."""
    case = visible.case(request, pk)
    mark_seen(request.user, [case.pair_id])
    hide_labels_in_force([case], find_hidden_pairs(request.user, case.build, [case.pair_id]))
    related = "call", "program__source", "execution"
    steps = list(case.steps.select_related(*related).order_by("number"))
    mine = review.reviews_of(case.pair_id, visible.caller(request)).last()
    return CaseDetail.of(
        case,
        **listed(case),
        left_stage=case.left_stage or None,
        steps=[step_out(step) for step in steps],
        evidence=evidence_hash(case, steps),
        seen_revision=review.revision_seen(mine),
    )


@router.get("/executions/{int:pk}", response=ExecutionOut)
def get_execution(request: HttpRequest, pk: Path[Id]) -> ExecutionOut:
    """One execution with its whole report."""
    execution = get_object_or_404(visible.executions(request).select_related("report"), pk=pk)
    mark_seen(request.user, pairs_of(execution))
    report = execution.whole_report()
    return ExecutionOut.of(execution, report=report, canonical=canonical_text(report))


def pairs_of(execution: Execution) -> list[int]:
    """The pairs whose cases rest on the execution."""
    stepped = Step.objects.filter(execution=execution).values_list("case__pair", flat=True)
    asked = execution.requests.values_list("program__pair", flat=True)
    return [*stepped.order_by(), *asked.order_by()]


def listed(case: Case) -> dict[str, Any]:
    """What the row of a case does not say by itself."""
    return {
        "score": case.score if case.build.pair_list_id is None else None,
        "outcome": case.execution.outcome if case.execution else None,
    }


def step_out(step: Step) -> StepOut:
    call = step.call
    return StepOut.of(
        step, agent=call and call.agent, model=call and call.model, cost=None if call is None else call.cost
    )
