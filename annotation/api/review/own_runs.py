"""What one person runs in plain review: tests, calls, the strength of a test, a query's tests crossed."""

from __future__ import annotations

import json

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Path, Router, Status

from annotation.accounts.roles import Role
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.api.shared.form_refusals import InvalidValues
from annotation.jobs.wake_up import wake_workers
from annotation.models import CallRequest, Case, ExecutionRequest, TestProgram
from annotation.review.own_runs import calls, cross_tests, own_tests
from annotation.review.own_runs.cross_tests import Grid
from annotation.review.own_runs.strength import Strength, ask_strength, load_test_strengths
from annotation.schemas.review.own_runs import (
    CallIn,
    CrossingOut,
    CrossingTestOut,
    OwnCallOut,
    OwnRunOut,
    RunTestIn,
    StrengthOut,
)
from annotation.studies.exposure import mark_seen, mark_test_seen
from annotation.web.browse.views import query_of
from annotation.web.cases.trial_views import case_of, needed_by, programs_visible_to
from retrieval.schemas import Id

router = Router(tags=["runs"], auth=signed_in(Role.EXPERT))


@router.post("/cases/{int:pk}/runs", response={201: OwnRunOut})
def run_test(request: HttpRequest, pk: Path[Id], wanted: RunTestIn) -> Status[OwnRunOut]:
    """Run a test of the case's pair again, or one of your own; `/api/runs/{id}` tells how it went. For
    experts.
    """
    case, user = visible.case(request, pk), visible.caller(request)
    program = find_program(case, wanted.program)
    if program is not None:
        mark_test_seen(user, case.pair_id)
    if wanted.source is not None:
        asked = own_tests.run_own_test(user, case, wanted.source, program)
    elif program is None:
        raise InvalidValues([("source", "This pair has no test: send one.")])
    else:
        asked = own_tests.request_execution(user, program, case.dependencies)
    wake_workers()
    return Status(201, own_run_out(asked))


@router.get("/runs/{int:pk}", response=OwnRunOut)
def get_run(request: HttpRequest, pk: Path[Id]) -> OwnRunOut:
    """A run that you asked for in plain review, with its report once it is done. For experts."""
    rows = ExecutionRequest.objects.filter(user=visible.caller(request), assignment=None)
    seen = rows.filter(program__pair__in=visible.cases(request).values("pair"))
    asked = get_object_or_404(seen.select_related("execution__report", "program"), pk=pk)
    mark_seen(request.user, [asked.program.pair_id])
    return own_run_out(asked)


@router.post("/cases/{int:pk}/calls", response={201: OwnCallOut})
def call_function(request: HttpRequest, pk: Path[Id], wanted: CallIn) -> Status[OwnCallOut]:
    """Have an expression evaluated beside the case's function; `/api/calls/{id}` has the answer. For
    experts.
    """
    asked = calls.request_candidate_call(
        visible.caller(request), visible.case(request, pk), wanted.expression
    )
    wake_workers()
    return Status(201, own_call_out(asked))


@router.get("/calls/{int:pk}", response=OwnCallOut)
def get_call(request: HttpRequest, pk: Path[Id]) -> OwnCallOut:
    """A call that you asked for in plain review, with its answer once it is there. For experts."""
    rows = CallRequest.objects.filter(user=visible.caller(request), assignment=None)
    seen = rows.filter(pair__in=visible.cases(request).values("pair"))
    return own_call_out(get_object_or_404(seen.select_related("answer"), pk=pk))


@router.get("/programs/{int:pk}/strength", response=StrengthOut)
def get_strength(request: HttpRequest, pk: Path[Id]) -> StrengthOut:
    """How many planted bugs of its function a test notices, as far as anybody has asked. For experts."""
    program, _ = visible_program(request, pk)
    return strength_out(program.pk, load_test_strengths([program])[program.pk])


@router.post("/programs/{int:pk}/strength", response={201: StrengthOut})
def check_strength(request: HttpRequest, pk: Path[Id]) -> Status[StrengthOut]:
    """Have a test run beside planted bugs of its function. For experts."""
    program, case = visible_program(request, pk)
    ask_strength(visible.caller(request), program, needed_by(program, case))
    wake_workers()
    return Status(201, strength_out(program.pk, load_test_strengths([program])[program.pk]))


@router.get("/builds/{int:pk}/queries/{int:query}/tests", response=CrossingOut)
def get_crossing(request: HttpRequest, pk: Path[Id], query: Path[Id]) -> CrossingOut:
    """How a query's tests end beside all of its functions, as far as anybody has asked. For experts."""
    return crossing_out(crossing_of(request, pk, query))


@router.post("/builds/{int:pk}/queries/{int:query}/tests", response={201: CrossingOut})
def cross_query_tests(request: HttpRequest, pk: Path[Id], query: Path[Id]) -> Status[CrossingOut]:
    """Run a query's tests beside all of its functions, as many runs as a minute may have. For experts."""
    cross_tests.ask_grid(visible.caller(request), crossing_of(request, pk, query))
    wake_workers()
    return Status(201, crossing_out(crossing_of(request, pk, query)))


def find_program(case: Case, pk: int | None) -> TestProgram | None:
    """The program of the case's pair, by default the case's own. Raises Http404."""
    if pk is None:
        return case.program
    programs = TestProgram.objects.filter(pair=case.pair_id, assignment=None)
    return get_object_or_404(programs.select_related("source"), pk=pk)


def visible_program(request: HttpRequest, pk: int) -> tuple[TestProgram, Case | None]:
    """The test with the case that it belongs to, which the caller has seen from now on. Raises Http404."""
    user = visible.caller(request)
    related = "source", "author", "pair__query", "pair__snippet__body"
    program = get_object_or_404(programs_visible_to(user).select_related(*related), pk=pk)
    mark_seen(user, [program.pair_id])
    return program, case_of(user, program)


def crossing_of(request: HttpRequest, pk: int, query: int) -> Grid:
    """Raises Http404."""
    build = visible.build(request, pk)
    grid = cross_tests.of_query(build, query_of(build, query))
    mark_seen(request.user, [candidate.case.pair_id for candidate in grid.candidates if candidate.case])
    return grid


def own_run_out(asked: ExecutionRequest, *, in_study: bool = False) -> OwnRunOut:
    """In a study no id of an execution is told: an old one would say that agents ran the same test."""
    execution = asked.execution
    return OwnRunOut.of(
        asked,
        execution_id=None if in_study else asked.execution_id,
        outcome=execution.outcome if execution else None,
        report=json.loads(execution.report.text) if execution else None,
    )


def own_call_out(asked: CallRequest) -> OwnCallOut:
    return OwnCallOut.of(asked, answer=json.loads(asked.answer.text) if asked.answer else None)


def strength_out(program: int, found: Strength) -> StrengthOut:
    return StrengthOut(
        program=program, asked=found.asked, open=found.open, tried=found.tried, caught=found.caught
    )


def crossing_out(grid: Grid) -> CrossingOut:
    return CrossingOut(
        functions=[candidate.snippet.pk for candidate in grid.candidates],
        tests=[
            CrossingTestOut(
                program=row.test.program.pk,
                outcomes=[cell.outcome for cell in row.cells],
                mark=row.mark.value if row.mark else None,
            )
            for row in grid.rows
        ],
        missing=len(grid.missing),
        open=grid.open,
        left_out_tests=grid.more_tests,
        left_out_functions=grid.more_candidates,
    )
