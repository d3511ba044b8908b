"""Cases and their executions."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest, QueryDict
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router

from annotation import review
from annotation.api.shared import visible
from annotation.models import Build, Case, Execution, Step
from annotation.review.evidence_hash import evidence_hash
from annotation.review.hidden_labels import find_hidden_pairs, hide_labels_in_force, hides_labels_from
from annotation.schemas.builds.cases import CaseDetail, CaseOut, CasePage, ExecutionOut, StepOut
from annotation.studies.exposure import mark_list_seen, mark_seen
from annotation.web.cases.filters import Filters, find_case_page, list_told_cases
from retrieval.models.prepared_query import PreparedQuery
from retrieval.schemas import TEXT_HEAD, Id, Page, build_text_head
from sandbox.reports.canonical import canonical_text

router = Router(tags=["cases"])
FIELDS: Final = (
    *("id", "round", "stage", "label", "label_in_force", "pair"),
    *("rank", "score", "reason", "seconds", "updated_at", "outcome"),
)
CASE_COLUMNS: Final = (*FIELDS[:-1], "execution__outcome")
QUERY_COLUMNS: Final = tuple(f"query__{name}" for name in TEXT_HEAD)
STEPS: PreparedQuery[Step] = PreparedQuery(
    lambda case: (
        Step.objects.filter(case=case)
        .select_related("call", "program__source", "execution")
        .order_by("number")
    ),
    int,
)
SNIPPET_COLUMNS: Final = tuple(f"pair__snippet__{name}" for name in TEXT_HEAD)


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
    page = load_case_columns([case.pk for case in window.rows], build)
    pairs = [columns["pair"] for columns in page]
    mark_seen(request.user, pairs)
    hidden = find_hidden_pairs(request.user, build, pairs)
    for columns in page:
        if columns["pair"] in hidden:
            columns["label_in_force"] = columns["label"]
    items = [CaseOut.model_validate(columns) for columns in page]
    return Page(items=items, next=items[-1].id if window.next else None)


def load_case_columns(ids: list[int], build: Build) -> list[dict[str, Any]]:
    """What a list says of the build's cases with these keys, in this order, by the names of its fields.

    Long exports come in such lists: objects of the ORM would take several times as long.
    """
    rows = Case.objects.filter(pk__in=ids).order_by()
    found = {row[0]: row for row in rows.values_list(*CASE_COLUMNS, *QUERY_COLUMNS, *SNIPPET_COLUMNS)}
    query, snippet = len(CASE_COLUMNS), len(CASE_COLUMNS) + len(QUERY_COLUMNS)
    known = {"build": build.pk} if build.pair_list_id is None else {"build": build.pk, "score": None}
    return [
        dict(zip(FIELDS, row, strict=False))
        | {"query": build_text_head(*row[query:snippet]), "function": build_text_head(*row[snippet:])}
        | known
        for row in (found[pk] for pk in ids if pk in found)
    ]


@router.get("/cases/{int:pk}", response=CaseDetail)
def get_case(request: HttpRequest, pk: Path[Id]) -> CaseDetail:
    """One case with its texts, its steps and its test program."""
    case = visible.case(request, pk)
    mark_seen(request.user, [case.pair_id])
    hide_labels_in_force([case], find_hidden_pairs(request.user, case.build, [case.pair_id]))
    steps = STEPS.load(case.pk)
    mine = review.last_review_of(case.pair_id, visible.caller(request))
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
