"""A rater's own tests and calls: run in the sandbox, kept with the assignment, evidence of its label.

They stand under the limits of everybody's runs. In *own tests* they start from nothing: no program, no
dependency and no run of the agents reaches them.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from annotation import draft_rules
from annotation.models import (
    Assignment,
    CallRequest,
    ExecutionRequest,
    RatingDraft,
    Study,
    TestProgram,
)
from annotation.review.own_runs.assertions import Added, append_to_draft
from annotation.review.own_runs.calls import request_call
from annotation.review.own_runs.own_tests import (
    MOST_WAITING,
    OPEN,
    TooManyWaiting,
    beginning_of_a_test,
    kept_source,
    refuse_haste,
    write_program,
)
from annotation.studies.enrolment.queue import REMOVED
from annotation.studies.rating import drafts
from annotation.studies.rating.shown_pair import case_shown, sides_of
from retrieval.models import Pair
from retrieval.models.prepared_query import PreparedQuery

MOST_SHOWN: Final = 10


class NotNow(Exception):
    """Nothing can be run for the assignment as it stands; the message says why, and what to do."""


def describe_run_refusal(assignment: Assignment) -> str:
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


def request_expression_call(assignment: Assignment, pair: Pair, expression: str) -> CallRequest:
    """Ask a worker for the value of an expression beside a snippet; twice while one waits asks once.

    Raises BadExpression, NotNow and TooManyWaiting; then the draft stays.
    """
    check_run_allowed(assignment)

    def clear_draft() -> None:
        if has_draft(assignment, pair):
            drafts.clear_sent_drafts(assignment, RatingDraft.Field.CALL)

    needed = dependencies_for(assignment)
    return request_call(assignment.rater, pair, expression, needed, clear_draft, assignment)


def has_draft(assignment: Assignment, pair: Pair) -> bool:
    """Whether what is typed in the box of the pair's snippet is a draft: of two boxes that of the first."""
    return sides_of(assignment)[0].pair.pk == pair.pk


def run_rater_test(
    assignment: Assignment, pair: Pair, source: str, window: draft_rules.Window | None = None
) -> ExecutionRequest:
    """Keep a test program for the assignment and have it run beside the pair's snippet, both or neither.

    Raises BadTest, NotNow and TooManyWaiting; then the draft stays.
    """
    check_run_allowed(assignment)
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
        drafts.clear_sent_drafts(assignment, RatingDraft.Field.TEST, window=window)
        return earlier or ExecutionRequest.objects.create(
            user=assignment.rater,
            assignment=assignment,
            program=program,
            dependencies=dependencies_for(assignment),
        )


def check_run_allowed(assignment: Assignment) -> None:
    """Raises NotNow."""
    why = describe_run_refusal(assignment)
    if why:
        raise NotNow(why)


def program_of(assignment: Assignment, pair: Pair, text: str) -> TestProgram:
    """The last program for the snippet where it says the same, else a new one that follows it."""
    last = programs_of(assignment).filter(pair=pair).first()
    if last is not None and last.source.text == text:
        return last
    return write_program(pair, text, assignment.rater, last, assignment=assignment)


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


def rater_runs_of_assignment(assignment: Assignment) -> QuerySet[ExecutionRequest]:
    """What the rater had run for it, the newest first; no wide rows."""
    asked = ExecutionRequest.objects.filter(assignment=assignment).select_related("program", "execution")
    return asked.order_by("-id")


def rater_calls_of_assignment(assignment: Assignment) -> QuerySet[CallRequest]:
    """The rater's calls for it, the newest first, with their answers."""
    return CallRequest.objects.filter(assignment=assignment).select_related("answer").order_by("-id")


def ids_of(assignment: Assignment) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(calls, runs) made for it, the oldest first: what its label rests on."""
    return tuple(CALLS.load(assignment.pk)), tuple(RUNS.load(assignment.pk))


CALLS: PreparedQuery[int] = PreparedQuery(
    lambda pk: CallRequest.objects.filter(assignment=pk).order_by("id").values_list("pk", flat=True), int
)
RUNS: PreparedQuery[int] = PreparedQuery(
    lambda pk: ExecutionRequest.objects.filter(assignment=pk).order_by("id").values_list("pk", flat=True), int
)


def own_runs(assignment: Assignment) -> QuerySet[ExecutionRequest]:
    """Those runs with all that a page of one shows."""
    related = "program__source", "program__author", "execution__report", "user"
    return ExecutionRequest.objects.filter(assignment=assignment).select_related(*related)


def add_assertion(
    assignment: Assignment, asked: CallRequest, window: draft_rules.Window | None = None
) -> Added:
    """Add a call of `rater_calls_of_assignment` to the draft of the test; returns what was added.

    Without a draft it begins as the editor does. The call stays evidence of the label.

    Raises NoAssertion and DraftRefused; then the draft stays as it was.
    """
    draft = drafts.by_field(assignment).get(RatingDraft.Field.TEST)
    start = beginning_of(assignment, sides_of(assignment)[0].pair)
    save = partial(drafts.save_draft, assignment, RatingDraft.Field.TEST)
    return append_to_draft(asked, draft, start, window, save)
