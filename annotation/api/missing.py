"""Queries without a match: count them, order functions, decide about each, read what was accepted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router, Status

from annotation import tasks
from annotation.access import Role
from annotation.api import visible
from annotation.api.auth import signed_in
from annotation.api.builds import build_detail
from annotation.api.estimates import figures_out
from annotation.estimating import confirming
from annotation.missing import counting, deciding, ordering, written
from annotation.missing.orders import FillOrder
from annotation.models import Case, Filling, Proposal, ProposalDecision, Step
from annotation.schemas.builds import BuildDetail
from annotation.schemas.missing import (
    DecisionIn,
    DecisionOut,
    FillEstimate,
    FillIn,
    FillLaunch,
    MissingOut,
    ProposalDetail,
    ProposalOut,
    ProposalPage,
    ProposalState,
    TakeBackIn,
    WrittenOut,
)
from annotation.seen import mark_counts_seen, mark_seen
from retrieval.api import text_head
from retrieval.schemas import Id, Page, Paging, page_of

router = Router(tags=["missing queries"])


@router.get("/builds/{int:pk}/missing", response=MissingOut, auth=signed_in(Role.ADMIN))
def get_missing(request: HttpRequest, pk: Path[Id]) -> MissingOut:
    """How many queries of the build have no match, and the jobs that write for them. For admins."""
    build = visible.build(request, pk)
    told = counting.standing(build)
    jobs = list(Filling.objects.filter(of=build).order_by("-pk").values_list("build", flat=True))
    return MissingOut(
        queries=told.queries,
        matched=told.matched,
        without=told.without,
        unjudged=told.unjudged,
        open=told.open,
        covered=told.covered,
        jobs=jobs,
    )


@router.post("/builds/{int:pk}/missing/estimate", response=FillEstimate, auth=signed_in(Role.ADMIN))
def estimate_functions(request: HttpRequest, pk: Path[Id], wanted: FillIn) -> FillEstimate:
    """What having functions written would take. Nothing is ordered. For admins."""
    order = FillOrder(of=visible.build(request, pk), **wanted.dict())
    ordering.refuse_bad(order)
    found = ordering.price(order)
    confirm = ordering.word_of(order, found)
    return FillEstimate(**figures_out(found).dict(), queries=found.queries, confirm=confirm)


@router.post("/builds/{int:pk}/missing", response={201: BuildDetail}, auth=signed_in(Role.ADMIN))
def order_functions(request: HttpRequest, pk: Path[Id], wanted: FillLaunch) -> Status[BuildDetail]:
    """Have functions written for the queries without a match; answers with the job. For admins.

    A live job is launched on its estimate, see `/missing/estimate`, or by saying `unconfirmed`.
    """
    confirming.refuse_unseen(wanted.provider, wanted.estimate, unconfirmed=wanted.unconfirmed)
    said = wanted.dict(exclude={"estimate", "unconfirmed"})
    order = FillOrder(of=visible.build(request, pk), **said)
    made = ordering.launch(order, visible.caller(request), wanted.estimate)
    tasks.wake("llm")
    return Status(201, build_detail(visible.job(request, made.pk)))


@router.get("/builds/{int:pk}/functions", response=Page[ProposalOut], auth=signed_in(Role.EXPERT))
def list_functions(request: HttpRequest, pk: Path[Id], wanted: Query[ProposalPage]) -> Page[ProposalOut]:
    """The functions of a job, or those written for a build by any job. For experts."""
    build = visible.job(request, pk)
    rows = proposals(request).filter(Q(filling__build=build) | Q(filling__of=build))
    rows = rows.for_experts() if wanted.waiting else rows
    page = list(rows.filter(pk__gt=wanted.after or 0).order_by("pk")[: wanted.limit + 1])
    note_seen(request, page[: wanted.limit])
    return page_of(page, wanted.limit, lambda row: row.pk, proposal_out)


@router.get("/functions/{int:pk}", response=ProposalDetail, auth=signed_in(Role.EXPERT))
def get_function(request: HttpRequest, pk: Path[Id]) -> ProposalDetail:
    """One function with its test, the run, the agents' verdict and the decisions. For experts."""
    return detail(request, pk)


@router.post("/functions/{int:pk}/decisions", response={201: ProposalDetail}, auth=signed_in(Role.EXPERT))
def decide(request: HttpRequest, pk: Path[Id], said: DecisionIn) -> Status[ProposalDetail]:
    """Accept the function, accept it with changes, or reject it. For experts.

    409 where somebody was faster, with the stored decision and yours.
    """
    choice = deciding.Choice(said.action, said.reason, said.code)
    deciding.decide(visible.caller(request), whole(request, pk), choice, said.seen_revision)
    return Status(201, detail(request, pk))


@router.post("/functions/{int:pk}/undo", response={201: ProposalDetail}, auth=signed_in(Role.EXPERT))
def take_back(request: HttpRequest, pk: Path[Id], said: TakeBackIn) -> Status[ProposalDetail]:
    """Take the standing decision back: label and snippet are taken back with it. For experts."""
    deciding.undo(visible.caller(request), whole(request, pk), said.seen_revision, said.reason)
    return Status(201, detail(request, pk))


@router.get("/builds/{int:pk}/written", response=Page[WrittenOut])
def list_written(request: HttpRequest, pk: Path[Id], wanted: Query[Paging]) -> Page[WrittenOut]:
    """The accepted functions of a build, each with its query, its label and where it came from."""
    rows = written.accepted(visible.build(request, pk)).filter(proposal__gt=wanted.after or 0)
    page = list(rows[: wanted.limit + 1])
    note_seen(request, [row.proposal for row in page[: wanted.limit]])
    return page_of(page, wanted.limit, lambda row: row.proposal_id, written_out)


def proposals(request: HttpRequest) -> Any:
    """The functions written for builds that the caller may see."""
    rows = Proposal.objects.filter(filling__of__in=visible.builds(request).values("pk"))
    return rows.select_related("query", "case", "filling")


def note_seen(request: HttpRequest, shown: Sequence[Proposal]) -> None:
    """What the agents said of functions, and that their queries have no match, which tells each label."""
    mark_seen(request.user, [row.case.pair_id for row in shown if row.case])
    cases = Case.objects.filter(build__in={row.filling.of_id for row in shown})
    mark_counts_seen(request.user, cases, [row.query_id for row in shown])


def whole(request: HttpRequest, pk: int) -> Proposal:
    """A function with what a decision needs. Raises Http404."""
    related = (
        "query__body",
        "snippet__body",
        "call",
        "filling__of",
        "filling__build__tally",
        "case__program__source",
        "case__execution__report",
    )
    found: Proposal = get_object_or_404(proposals(request).select_related(*related), pk=pk)
    return found


def proposal_out(row: Proposal) -> ProposalOut:
    case = row.case
    return ProposalOut(
        id=row.pk,
        query=text_head(row.query),
        number=row.number,
        state=cast(ProposalState, row.state),
        waits=row.state == Proposal.State.WRITTEN and row.is_checked,
        unjudged=row.unjudged,
        agents_label=case.label if case else None,
        case=row.case_id,
        failure=row.failure or (case.reason if case else ""),
        seen_revision=row.revision,
    )


def detail(request: HttpRequest, pk: int) -> ProposalDetail:
    row = whole(request, pk)
    case = row.case
    note_seen(request, [row])
    execution = case.execution if case else None
    return ProposalDetail(
        **proposal_out(row).dict(),
        code=row.snippet.text if row.snippet else None,
        explanation=row.explanation,
        packages=row.packages,
        test_program=case.program.source.text if case and case.program else None,
        report=json.loads(execution.report.text) if execution else None,
        verdict=Step.objects.filter(case=row.case_id)
        .order_by("-number")
        .values_list("note", flat=True)
        .first()
        or "",
        decisions=[decision_out(one) for one in decisions(row)],
    )


def decisions(row: Proposal) -> QuerySet[ProposalDecision]:
    related = "user", "text__body", "check_run__execution"
    return ProposalDecision.objects.filter(proposal=row).select_related(*related).order_by("revision")


def decision_out(row: ProposalDecision) -> DecisionOut:
    run = row.check_run.execution if row.check_run else None
    return DecisionOut(
        revision=row.revision,
        action=cast(Any, row.action),
        user=row.user.username,
        reason=row.reason,
        agents_label=row.agent_label,
        code=row.text.text if row.text else None,
        label=row.label_id,
        test_of_edit=run.outcome if run else None,
        at=row.at,
    )


def written_out(row: ProposalDecision) -> WrittenOut:
    assert row.text is not None, "what was accepted has its text"
    return WrittenOut(
        query=row.proposal.query.text, code=row.text.text, label=1, provenance=written.provenance(row)
    )
