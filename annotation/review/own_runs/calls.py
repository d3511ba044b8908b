"""A person calls a candidate with values of their own: asked here, answered by a worker, kept as evidence."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Final

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import QuerySet

from annotation.builds.pipeline.llm_calls import no_connection
from annotation.models import Assignment, CallRequest, Case, Draft
from annotation.review import drafts
from annotation.review.own_runs.own_tests import MOST_WAITING, OPEN, TooManyWaiting, refuse_haste
from retrieval.models import Pair
from retrieval.texts.hostile import mark_hostile_characters
from sandbox.expression_call import Call

MOST_SHOWN: Final = 10
SECONDS_BETWEEN_LOOKS: Final = 0.02


def request_candidate_call(user: User, case: Case, expression: str) -> CallRequest:
    """Ask a worker of the interactive queue for the value; asking twice while one waits asks once.

    Raises BadExpression and TooManyWaiting; then the draft stays.
    """

    def clear_draft() -> None:
        drafts.clear_drafts(user, case.pair_id, Draft.Field.CALL)

    return request_call(user, case.pair, expression, case.dependencies, clear_draft)


def request_call(
    user: User,
    pair: Pair,
    expression: str,
    dependencies: Sequence[str],
    clear_draft: Callable[[], None],
    assignment: Assignment | None = None,
) -> CallRequest:
    """The same for any page. Raises BadExpression and TooManyWaiting."""
    wanted = mark_hostile_characters(expression).strip()
    Call(pair.snippet.text, wanted)
    waiting = CallRequest.objects.filter(user=user, state__in=OPEN)
    with transaction.atomic():
        earlier = waiting.filter(pair=pair, expression=wanted, assignment=assignment).first()
        if earlier is None and waiting.count() >= MOST_WAITING:
            raise TooManyWaiting(
                f"{MOST_WAITING} of your calls are waiting for the sandbox. Try again when one is done."
            )
        if earlier is None:
            refuse_haste(user.pk)
        clear_draft()
        return earlier or CallRequest.objects.create(
            user=user,
            assignment=assignment,
            pair=pair,
            expression=wanted,
            dependencies=list(dependencies),
        )


def wait_for_call(asked: CallRequest, seconds: float) -> None:
    """Wait until the call is answered, at most so long, and read it anew."""
    ends = time.monotonic() + seconds
    still_open = CallRequest.objects.filter(pk=asked.pk, state__in=OPEN)
    while still_open.exists() and time.monotonic() < ends:
        with release_connection():
            time.sleep(SECONDS_BETWEEN_LOOKS)
    asked.refresh_from_db()


def release_connection() -> AbstractContextManager[None]:
    """Between two looks: ten who wait must not hold the ten connections that answering them takes.

    A file that is kept open is nobody else's, and opening it costs more than the look.
    """
    return no_connection() if connection.vendor == "postgresql" else nullcontext()


def candidate_calls_of_user(user: User, pair_id: int) -> QuerySet[CallRequest]:
    """The person's calls on a pair, the newest first, with their answers."""
    asked = CallRequest.objects.filter(user=user, pair=pair_id, assignment=None)
    return asked.select_related("answer").order_by("-id")[:MOST_SHOWN]
