"""An edited function is checked as the written one was: the same test, beside the edit, in the sandbox."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotation.models import ExecutionRequest, Proposal, TestProgram
from annotation.review.own_runs.own_tests import MOST_SHOWN, TooManyWaiting, request_execution
from retrieval.models import Pair, Text
from sandbox.program import is_candidate_redefined

__all__ = ["TooManyWaiting", "list_edit_executions", "run_beside", "runs_beside", "standing_run"]


def run_beside(user: User, proposal: Proposal, text: Text) -> ExecutionRequest | None:
    """The run of the proposal's test beside `text`, asked for or made before; None where there is no test.

    Raises TooManyWaiting.
    """
    case = proposal.case
    if case is None or case.program is None:
        return None
    earlier = standing_run(proposal, text)
    if earlier is not None and earlier.state != ExecutionRequest.State.FAILED:
        return earlier
    with transaction.atomic():
        program = program_beside(user, case.program, proposal.query_id, text)
        return request_execution(user, program, case.dependencies)


def program_beside(user: User, program: TestProgram, query: int, text: Text) -> TestProgram:
    """The agents' test as one of the pair that the edit would make; the same text is stored once."""
    pair = Pair.objects.keep_all([(query, text.pk)])[0]
    mine = TestProgram.objects.filter(pair=pair, parent=program, source=program.source, author=user)
    return mine.first() or TestProgram.objects.create(
        pair=pair,
        source=program.source,
        reading=program.reading,
        helpers=program.helpers,
        redefines=is_candidate_redefined(text.text, program.source.text),
        author=user,
        parent=program,
    )


def list_edit_executions(proposal: Proposal) -> QuerySet[ExecutionRequest]:
    """The last runs that experts asked for beside their edits, the newest first."""
    return runs_beside(proposal)[:MOST_SHOWN]


def runs_beside(proposal: Proposal) -> QuerySet[ExecutionRequest]:
    """All of them."""
    case = proposal.case
    asked = ExecutionRequest.objects.filter(
        program__parent=case.program_id if case and case.program_id else 0,
        program__pair__query=proposal.query_id,
    )
    return asked.select_related("user", "program__pair__snippet", "execution__report")


def standing_run(proposal: Proposal, text: Text) -> ExecutionRequest | None:
    """The last run of the test beside this very text."""
    return next(
        (run for run in list_edit_executions(proposal) if run.program.pair.snippet_id == text.pk), None
    )
