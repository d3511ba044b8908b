"""A person runs a test program again, or an edited copy of it: stored as theirs, executed by a worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotation.draft_rules import Window
from annotation.models import Case, Draft, ExecutionRequest, ProgramText, TestProgram
from annotation.review import drafts
from annotation.review.own_runs import pace
from retrieval.models import Pair
from retrieval.texts.hostile import mark_hostile_characters
from sandbox.program import candidate_names, is_candidate_redefined, list_test_helpers

MOST_SOURCE = 64 * 1024
MOST_WAITING = 5
MOST_SHOWN = 10
OPEN = (ExecutionRequest.State.WAITING, ExecutionRequest.State.RUNNING)


class BadTest(ValueError):
    """The text can't be a test program; the message says what to change."""


class TooManyWaiting(Exception):
    """The person has asked for so many executions that wait; the message says what to do."""


class TooFast(TooManyWaiting):
    """The person has asked for as many runs and calls as a minute may have; `retry_after` is in seconds."""

    def __init__(self, retry_after: int, kept: str = "What you typed is kept") -> None:
        super().__init__(
            f"{settings.RUNS_PER_MINUTE:,} runs and calls a minute are the most. {kept}: ask again in "
            f"{retry_after} s."
        )
        self.retry_after = retry_after


def refuse_haste(user_id: int) -> None:
    """Raises TooFast."""
    wait = pace.seconds_to_wait(user_id)
    if wait:
        raise TooFast(wait)


def refuse_many(user_id: int, runs: int) -> None:
    """The same for so many runs of tests at once. Raises TooFast."""
    wait = pace.seconds_to_wait(user_id, runs=runs) if runs else 0
    if wait:
        raise TooFast(wait, "What ran is kept")


def save_test(user: User, case: Case, source: str, parent: TestProgram | None) -> TestProgram:
    """A person's own test program for the case's pair; a copy that was not changed is its parent.

    Raises BadTest. The draft of the test stays: it is cleared by whoever knows that the run was asked for.
    """
    kept = kept_source(source)
    if parent is not None and parent.source.text == kept:
        return parent
    return write_program(case.pair, kept, user, parent, reading=parent.reading if parent else "")


def write_program(
    pair: Pair, text: str, author: User, parent: TestProgram | None, **columns: Any
) -> TestProgram:
    """Store a test program that a person wrote for a pair, with what can be read off its text."""
    return TestProgram.objects.create(
        pair=pair,
        source=ProgramText.keep(text),
        helpers=list(list_test_helpers(text)),
        redefines=is_candidate_redefined(pair.snippet.text, text),
        author=author,
        parent=parent,
        **columns,
    )


def kept_source(source: str) -> str:
    """A typed test program as it is stored. Raises BadTest."""
    kept = mark_hostile_characters(source).replace("\r\n", "\n")
    if not kept.strip():
        raise BadTest("The test program is empty. Write at least one assertion about the function.")
    if len(kept) > MOST_SOURCE:
        raise BadTest(f"A test program has at most {MOST_SOURCE:,} characters; this one has {len(kept):,}.")
    return kept


def request_execution(user: User, program: TestProgram, dependencies: Sequence[str]) -> ExecutionRequest:
    """Ask a worker of the interactive queue to run `program`; asking twice while one waits asks once.

    Raises TooManyWaiting.
    """
    wanted = list(dependencies)
    waiting = ExecutionRequest.objects.filter(user=user, state__in=OPEN)
    for earlier in waiting.filter(program=program):
        if earlier.dependencies == wanted:
            return earlier
    if waiting.count() >= MOST_WAITING:
        raise TooManyWaiting(
            f"{MOST_WAITING} of your tests are waiting for the sandbox. Run this one again when one is done."
        )
    refuse_haste(user.pk)
    return ExecutionRequest.objects.create(user=user, program=program, dependencies=wanted)


def run_own_test(
    user: User, case: Case, source: str, parent: TestProgram | None, window: Window | None = None
) -> ExecutionRequest:
    """Save an edited test and ask for its execution, both or neither. Raises BadTest and TooManyWaiting."""
    with transaction.atomic():
        program = save_test(user, case, source, parent)
        request = request_execution(user, program, case.dependencies)
        drafts.clear_drafts(user, case.pair_id, Draft.Field.TEST, window=window)
    return request


def requests_for(pair_id: int) -> QuerySet[ExecutionRequest]:
    """What people asked to have executed on a pair, the newest first; no wide rows."""
    asked = ExecutionRequest.objects.filter(program__pair=pair_id, assignment=None)
    return asked.select_related("user", "program", "execution")[:MOST_SHOWN]


def beginning_of_a_test(pair: Pair) -> str:
    """What the editor starts with where no agent wrote a test: how to reach the candidate.

    An empty line keeps it from naming a test case of what is typed below.
    """
    names = candidate_names(pair.snippet.text)
    scope = ", ".join(names) if names else "nothing that could be found by reading it"
    example = f"assert {names[0]}(...) == ..." if names else "assert ..."
    return f"# You can call the function directly. It defines: {scope}\n# {example}\n\n"
