"""Queries without a match: count them, order functions, decide about each, read what was accepted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router, Status

from annotation.accounts.roles import Role
from annotation.api.builds.builds import build_detail
from annotation.api.review.own_runs import own_run_out
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.api.shared.derivations import launch_plan, quote_out
from annotation.derived.missing_functions import (
    accepted_functions,
    function_decisions,
    function_edits,
    unmatched_queries,
)
from annotation.derived.missing_functions.launch import FillPlan, plan_filling, write_again
from annotation.derived.missing_functions.orders import FillOrder
from annotation.jobs.wake_up import wake_workers
from annotation.models import Case, Filling, Proposal, ProposalDecision, Step
from annotation.schemas.builds.builds import BuildDetail
from annotation.schemas.derived.missing_functions import (
    EditRunIn,
    FillEstimate,
    FillIn,
    FillLaunch,
    FunctionDecisionIn,
    FunctionDecisionOut,
    MissingOut,
    ProposalDetail,
    ProposalOut,
    ProposalPage,
    TakeBackIn,
    WrittenAgain,
    WrittenOut,
)
from annotation.schemas.review.own_runs import OwnRunOut
from annotation.studies.exposure import mark_counts_seen, mark_seen
from retrieval.models import Text
from retrieval.schemas import Id, Page, Paging

router = Router(tags=["missing queries"])


@router.get("/builds/{int:pk}/missing", response=MissingOut, auth=signed_in(Role.ADMIN))
def get_missing(request: HttpRequest, pk: Path[Id]) -> MissingOut:
    """How many queries of the build have no match, and the jobs that write for them. For admins."""
    build = visible.build(request, pk)
    told = unmatched_queries.count_queries_by_match(build)
    jobs = list(Filling.objects.filter(of=build).order_by("-pk").values_list("build", flat=True))
    return MissingOut.of(told, jobs=jobs)


@router.post("/builds/{int:pk}/missing/estimate", response=FillEstimate, auth=signed_in(Role.ADMIN))
def estimate_functions(request: HttpRequest, pk: Path[Id], wanted: FillIn) -> FillEstimate:
    """What having functions written would take. Nothing is ordered. For admins."""
    plan = fill_plan(request, pk, wanted)
    return FillEstimate(**quote_out(plan), queries=len(plan.queries))


@router.post("/builds/{int:pk}/missing", response={201: BuildDetail}, auth=signed_in(Role.ADMIN))
def order_functions(request: HttpRequest, pk: Path[Id], wanted: FillLaunch) -> Status[BuildDetail]:
    """Have functions written for the queries without a match; answers with the job. For admins.

    A live job is launched on its estimate, see `/missing/estimate`, or by saying `unconfirmed`.
    """
    made = launch_plan(request, fill_plan(request, pk, wanted), wanted)
    wake_workers("llm")
    return Status(201, build_detail(visible.job(request, made.pk)))


def fill_plan(request: HttpRequest, pk: int, wanted: FillIn) -> FillPlan:
    said = wanted.dict(exclude={"reason", "estimate", "unconfirmed"})
    return plan_filling(FillOrder(of=visible.build(request, pk), **said))


@router.get("/builds/{int:pk}/functions", response=Page[ProposalOut], auth=signed_in(Role.EXPERT))
def list_functions(request: HttpRequest, pk: Path[Id], wanted: Query[ProposalPage]) -> Page[ProposalOut]:
    """The functions of a job, or those written for a build by any job. For experts."""
    build = visible.job(request, pk)
    rows = proposals(request).filter(Q(filling__build=build) | Q(filling__of=build))
    rows = rows.for_experts() if wanted.waiting else rows
    page = wanted.page(rows.filter(pk__gt=wanted.after or 0).order_by("pk"))
    note_seen(request, page.items)
    return Page(items=[ProposalOut.of(row, **checked(row)) for row in page.items], next=page.next)


@router.get("/functions/{int:pk}", response=ProposalDetail, auth=signed_in(Role.EXPERT))
def get_function(request: HttpRequest, pk: Path[Id]) -> ProposalDetail:
    """One function with its test, the run, the agents' verdict and the decisions. For experts."""
    return detail(request, pk)


@router.post("/functions/{int:pk}/decisions", response={201: ProposalDetail}, auth=signed_in(Role.EXPERT))
def decide(request: HttpRequest, pk: Path[Id], said: FunctionDecisionIn) -> Status[ProposalDetail]:
    """Accept the function, accept it with changes, or reject it. For experts.

    409 where somebody was faster, with the stored decision and yours.
    """
    choice = function_decisions.ProposalChoice(said.action, said.reason, said.code)
    function_decisions.decide_proposal(
        visible.caller(request), whole(request, pk), choice, said.seen_revision
    )
    return Status(201, detail(request, pk))


@router.post("/functions/{int:pk}/undo", response={201: ProposalDetail}, auth=signed_in(Role.EXPERT))
def take_back(request: HttpRequest, pk: Path[Id], said: TakeBackIn) -> Status[ProposalDetail]:
    """Take the standing decision back: label and function are taken back with it. For experts."""
    function_decisions.undo_proposal_decision(
        visible.caller(request), whole(request, pk), said.seen_revision, said.reason
    )
    return Status(201, detail(request, pk))


@router.get("/builds/{int:pk}/written", response=Page[WrittenOut])
def list_written(request: HttpRequest, pk: Path[Id], wanted: Query[Paging]) -> Page[WrittenOut]:
    """The accepted functions of a build, each with its query, its label and where it came from."""
    rows = accepted_functions.accepted_decisions_of_build(visible.build(request, pk)).filter(
        proposal__gt=wanted.after or 0
    )
    page = wanted.page(rows, lambda row: row.proposal_id)
    note_seen(request, [row.proposal for row in page.items])
    return Page(items=[written_out(row) for row in page.items], next=page.next)


@router.post("/builds/{int:pk}/functions/again", response=WrittenAgain, auth=signed_in(Role.ADMIN))
def write_functions_again(request: HttpRequest, pk: Path[Id]) -> WrittenAgain:
    """Have the functions of a job written that could not be. For admins."""
    count = write_again(visible.job(request, pk), visible.caller(request))
    wake_workers("llm")
    return WrittenAgain(functions=count)


@router.post("/functions/{int:pk}/runs", response={201: OwnRunOut}, auth=signed_in(Role.EXPERT))
def run_function_edit(request: HttpRequest, pk: Path[Id], wanted: EditRunIn) -> Status[OwnRunOut]:
    """Run the function's test beside an edit of it; `/runs/{run}` tells how it went. For experts."""
    row = whole(request, pk)
    note_seen(request, [row])
    text = Text.objects.keep(function_decisions.checked_code(wanted.code))
    asked = function_edits.run_beside(visible.caller(request), row, text)
    if asked is None:
        raise function_decisions.BadDecision("There is no test to run: the agents did not get that far.")
    wake_workers()
    return Status(201, own_run_out(asked))


@router.get("/functions/{int:pk}/runs/{int:run}", response=OwnRunOut, auth=signed_in(Role.EXPERT))
def get_function_run(request: HttpRequest, pk: Path[Id], run: Path[Id]) -> OwnRunOut:
    """A run beside an edit, with its report once it is done. For experts."""
    row = whole(request, pk)
    note_seen(request, [row])
    return own_run_out(get_object_or_404(function_edits.runs_beside(row), pk=run))


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


def checked(row: Proposal) -> dict[str, Any]:
    """What its case says of a function."""
    case = row.case
    return {
        "waits": row.state == Proposal.State.WRITTEN and row.is_checked,
        "agent_label": case.label if case else None,
        "failure": row.failure or (case.reason if case else ""),
    }


def detail(request: HttpRequest, pk: int) -> ProposalDetail:
    row = whole(request, pk)
    case = row.case
    note_seen(request, [row])
    execution = case.execution if case else None
    steps = Step.objects.filter(case=row.case_id).order_by("-number")
    return ProposalDetail.of(
        row,
        **checked(row),
        code=row.snippet.text if row.snippet else None,
        test_program=case.program.source.text if case and case.program else None,
        report=json.loads(execution.report.text) if execution else None,
        verdict=steps.values_list("note", flat=True).first() or "",
        decisions=[decision_out(decision) for decision in decisions(row)],
    )


def decisions(row: Proposal) -> QuerySet[ProposalDecision]:
    related = "user", "text__body", "check_run__execution"
    return ProposalDecision.objects.filter(proposal=row).select_related(*related).order_by("revision")


def decision_out(row: ProposalDecision) -> FunctionDecisionOut:
    run = row.check_run.execution if row.check_run else None
    return FunctionDecisionOut.of(
        row, code=row.text.text if row.text else None, test_of_edit=run.outcome if run else None
    )


def written_out(row: ProposalDecision) -> WrittenOut:
    assert row.text is not None, "what was accepted has its text"
    return WrittenOut(
        query=row.proposal.query.text,
        code=row.text.text,
        label=1,
        provenance=accepted_functions.provenance_of_decision(row),
    )
