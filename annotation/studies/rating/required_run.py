"""Under *own tests* a label rests on a finished run of the rater's own program, or says why none is possible.

The plan says whether that is asked (`Study.needs_run`).
"""

from __future__ import annotations

from typing import Final

from django.db.models import QuerySet

from annotation.models import Assignment, ExecutionRequest
from annotation.studies.plan.form_checks import BadRating, RaterStatement

NO_RUN: Final = (
    "This label needs a run of your own test. Run one first, or say why no test is possible. "
    "Nothing is stored yet."
)
WAITS: Final = "Your test still runs: wait for its result, then label. Nothing is stored yet."
NOT_STARTED: Final = (
    "None of your tests ran: each ended with an error before its first check. Change the test and run it "
    "again, or say why no test is possible. Nothing is stored yet."
)


def finished_runs() -> QuerySet[ExecutionRequest]:
    """Runs in which the program itself ran: no syntax error, no missing module, no sandbox that was away."""
    return ExecutionRequest.objects.filter(state=ExecutionRequest.State.DONE, execution__ran=True)


def refuse_label_without_run(now: Assignment, mine: RaterStatement) -> None:
    """Raises BadRating where a label needs a run that is not there. Unsure is no label, and needs none."""
    if mine.value is None or mine.no_test or not now.needs_run:
        return
    if finished_runs().filter(assignment=now).exists():
        return
    asked = ExecutionRequest.objects.filter(assignment=now)
    waits = any(request.is_open for request in asked.only("state"))
    raise BadRating(WAITS if waits else NOT_STARTED if asked.exists() else NO_RUN)
