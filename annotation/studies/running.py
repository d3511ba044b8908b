"""A rater's own tests and calls: run in the sandbox, kept with the assignment, evidence of its label.

They stand under the limits of everybody's runs. In *own tests* they start from nothing: no program, no
dependency and no run of the agents reaches them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from annotation import drafting
from annotation.models import (
    Assignment,
    CallRequest,
    ExecutionRequest,
    ProgramText,
    RatingDraft,
    Study,
    TestProgram,
)
from annotation.review.own_tests import (
    MOST_WAITING,
    OPEN,
    BadTest,
    TooManyWaiting,
    beginning_of_a_test,
    kept_source,
    refuse_haste,
)
from annotation.studies import drafts
from annotation.studies.queueing import REMOVED
from annotation.studies.showing import case_shown, sides_of
from retrieval.hostile import clean
from retrieval.models import Pair
from sandbox.calling import BadExpression, Call
from sandbox.program import helpers, redefines

MOST_SHOWN: Final = 10

__all__ = [
    "BadExpression",
    "BadTest",
    "NotNow",
    "TooManyWaiting",
    "ask",
    "calls_of",
    "refuse",
    "run",
    "runs_of",
]


class NotNow(Exception):
    """Nothing can be run for the assignment as it stands; the message says why, and what to do."""


def refuse(assignment: Assignment) -> str:
    """Why nothing can be run now; empty where something can."""
    if not assignment.condition.may_run:
        return "In this study the code is judged by reading it: nothing can be run."
    if assignment.enrolment.study.state != Study.State.RUNNING:
        return "The study is not running now, so nothing can be run. What you typed is kept."
    if assignment.enrolment.removed:
        return f"{REMOVED} Nothing can be run any more."
    if assignment.state == Assignment.State.LAPSED:
        return (
            "Your reservation of this pair ran out. What you typed is kept: take the pair again, then run it."
        )
    if assignment.state == Assignment.State.SKIPPED:
        return "You have skipped this pair, so nothing can be run for it."
    return ""


def ask(assignment: Assignment, pair: Pair, expression: str) -> CallRequest:
    """Ask a worker for the value of an expression beside a snippet; twice while one waits asks once.

    Raises BadExpression, NotNow and TooManyWaiting; then the draft stays.
    """
    check(assignment)
    wanted = clean(expression).strip()
    Call(pair.snippet.text, wanted)
    waiting = CallRequest.objects.filter(user=assignment.rater_id, state__in=OPEN)
    with transaction.atomic():
        earlier = waiting.filter(assignment=assignment, pair=pair, expression=wanted).first()
        if earlier is None and waiting.count() >= MOST_WAITING:
            raise TooManyWaiting(
                f"{MOST_WAITING} of your calls wait for the sandbox. Ask again when one is done."
            )
        if earlier is None:
            refuse_haste(assignment.rater_id)
        if has_draft(assignment, pair):
            drafts.clear(assignment, RatingDraft.Field.CALL)
        return earlier or CallRequest.objects.create(
            user=assignment.rater,
            assignment=assignment,
            pair=pair,
            expression=wanted,
            dependencies=dependencies_for(assignment),
        )


def has_draft(assignment: Assignment, pair: Pair) -> bool:
    """Whether what is typed in the box of the pair's snippet is a draft: of two boxes that of the first."""
    return sides_of(assignment)[0].pair.pk == pair.pk


def run(
    assignment: Assignment, pair: Pair, source: str, window: drafting.Window | None = None
) -> ExecutionRequest:
    """Keep a test program for the assignment and have it run beside the pair's snippet, both or neither.

    Raises BadTest, NotNow and TooManyWaiting; then the draft stays.
    """
    check(assignment)
    text = kept_source(source)
    waiting = ExecutionRequest.objects.filter(user=assignment.rater_id, state__in=OPEN)
    with transaction.atomic():
        program = program_of(assignment, pair, text)
        earlier = waiting.filter(program=program).first()
        if earlier is None and waiting.count() >= MOST_WAITING:
            raise TooManyWaiting(
                f"{MOST_WAITING} of your test programs wait for the sandbox. Run this one when one is done."
            )
        if earlier is None:
            refuse_haste(assignment.rater_id)
        drafts.clear(assignment, RatingDraft.Field.TEST, window=window)
        return earlier or ExecutionRequest.objects.create(
            user=assignment.rater,
            assignment=assignment,
            program=program,
            dependencies=dependencies_for(assignment),
        )


def check(assignment: Assignment) -> None:
    """Raises NotNow."""
    why = refuse(assignment)
    if why:
        raise NotNow(why)


def program_of(assignment: Assignment, pair: Pair, text: str) -> TestProgram:
    """The last program for the snippet where it says the same, else a new one that follows it."""
    last = programs_of(assignment).filter(pair=pair).first()
    if last is not None and last.source.text == text:
        return last
    return TestProgram.objects.create(
        pair=pair,
        source=ProgramText.keep(text),
        helpers=list(helpers(text)),
        redefines=redefines(pair.snippet.text, text),
        author=assignment.rater,
        assignment=assignment,
        parent=last,
    )


def programs_of(assignment: Assignment) -> QuerySet[TestProgram]:
    """The programs written for an assignment, the newest first."""
    return assignment.programs.select_related("source", "author").order_by("-id")


def beginning_of(assignment: Assignment, pair: Pair) -> str:
    """What the rater's test begins with: their last program, else how the snippet of `pair` is reached."""
    last = programs_of(assignment).first()
    return last.source.text if last else beginning_of_a_test(pair)


def dependencies_for(assignment: Assignment) -> list[str]:
    """The packages that the agents found, where they are shown; none where nobody may know that they did."""
    case = case_shown(assignment)
    return list(case.dependencies) if case else []


def runs_of(assignment: Assignment) -> QuerySet[ExecutionRequest]:
    """What the rater had run for it, the newest first; no wide rows."""
    asked = ExecutionRequest.objects.filter(assignment=assignment).select_related("program", "execution")
    return asked.order_by("-id")


def calls_of(assignment: Assignment) -> QuerySet[CallRequest]:
    """The rater's calls for it, the newest first, with their answers."""
    return CallRequest.objects.filter(assignment=assignment).select_related("answer").order_by("-id")


def ids_of(assignment: Assignment) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(calls, runs) made for it, the oldest first: what its label rests on."""
    calls: Sequence[int] = list(calls_of(assignment).values_list("pk", flat=True))
    runs: Sequence[int] = list(runs_of(assignment).values_list("pk", flat=True))
    return tuple(reversed(calls)), tuple(reversed(runs))


def own_runs(assignment: Assignment) -> QuerySet[ExecutionRequest]:
    """Those runs with all that a page of one shows."""
    related = "program__source", "program__author", "execution__report", "user"
    return ExecutionRequest.objects.filter(assignment=assignment).select_related(*related)
