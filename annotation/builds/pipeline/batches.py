"""Batches: what a build may wait for is asked together, later, at half the price.

A batch fills with the requests of cases (`llm_calls.obtain_answered_call`), is sent, and is looked at with
growing pauses by whichever worker comes. Its results become the replies of its calls, as if they had been
asked live, and the cases that wait for them go on. All of it is in the row: a worker may die at any moment.

The provider gives a batch its id only when it has taken it. A row is SENDING before that; whoever finds it so
later looks for the batch among those that the provider has, and sends it again only where it is not there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, cast

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet
from django.utils import timezone

from annotation.builds.limits import budget, circuit_breaker, full_disk, unusable_replies
from annotation.builds.pipeline import claims, llm_calls
from annotation.llm import LLM, LLMError, Reply, Request
from annotation.llm.batches import (
    CHUNK,
    BatchResultEntry,
    LiveBatches,
    chunk_batch_entries,
    open_batches,
)
from annotation.llm.live import LiveLLM
from annotation.llm.profiles import Mode
from annotation.models import Batch, Build, Case, LLMCall
from annotation.models.builds.batches import FILLS
from annotation.models.builds.calls import SystemText
from retrieval.texts.hostile import mark_hostile_characters

State = Batch.State
log = logging.getLogger(__name__)
LEASE: Final = timedelta(minutes=10)
"""So long one look may take before another worker takes the next: that one may have died."""
QUIET: Final = timedelta(seconds=10)
"""Nothing joined it for so long, and nothing is there that could: a batch that is not full is sent."""
LONG_QUIET: Final = timedelta(minutes=5)
"""The same where something is there that could, and for some reason does not."""
FIRST_PAUSE: Final = timedelta(seconds=20)
LONGEST_PAUSE: Final = timedelta(minutes=10)
SETTLES: Final = timedelta(minutes=1)
"""After a connection that broke, the provider may still be taking the batch in."""
SLACK: Final = timedelta(minutes=5)
"""The provider's clock and ours may differ by so much."""
TAKES: Final = LEASE + SLACK
"""So long after it was said to be sent the provider may have made it, by its own clock."""
GONE: Final = timedelta(hours=26)
"""A batch ends within 24 hours; one that the provider does not know by then is gone for good."""
STARTED: Final = (Build.State.RUNNING, Build.State.WAITING)


def tend_one(llm_of: Callable[[Build], LLM]) -> bool:
    """Look after one batch that is due; says whether there was one. Raises nothing for a batch's sake."""
    due = Batch.objects.due(timezone.now()).select_related("build__tally")
    batch = next((one for one in due[:20] if claim_batch(one)), None)
    if batch is None:
        return False
    had = batch.error
    try:
        TEND[State(batch.state)](batch, lambda: batches_of(batch.build, llm_of))
        # A look that asks nothing leaves the error where it is.
        if had and Batch.objects.filter(pk=batch.pk, error="").exists():
            circuit_breaker.batch_works(batch.build)
    except LLMError as error:
        handle_batch_error(batch, error)
    except Exception as fault:
        if not full_disk.note_full_disk(fault):
            log.exception("batch %s", batch.pk)
        claims.mend_connection()
        words = f"a fault of the workbench: {fault!r}"
        full_disk.retry_while_full(lambda: schedule_batch_poll(batch, words))
    return True


def claim_batch(batch: Batch) -> bool:
    """Make the look this worker's; False where another one took it."""
    mine = Batch.objects.filter(pk=batch.pk, state=batch.state, next_poll_at=batch.next_poll_at)
    return mine.update(next_poll_at=timezone.now() + LEASE) == 1


def batches_of(build: Build, llm_of: Callable[[Build], LLM]) -> LiveBatches:
    """The batches of whom the build asks. Raises LLMError where it has none."""
    llm = llm_of(build)
    if not isinstance(llm, LiveLLM) or not llm.profile.batches:
        told = f"{llm.name} takes no batches: start with a provider profile that does, or cancel the build"
        raise LLMError(told, retryable=False, provider=True)
    return open_batches(llm)


Provider = Callable[[], LiveBatches]


def send_or_withdraw_batch(batch: Batch, provider: Provider) -> None:
    """Send a batch that is ready; withdraw that of a build which somebody has stopped."""
    if batch.build.state not in STARTED:
        if change_batch_state(batch, State.WITHDRAWN):
            give_back(batch, f"the build was {batch.build.state} before the batch was sent")
    elif is_ready(batch):
        submit_batch(batch, provider())
    else:
        Batch.objects.filter(pk=batch.pk).update(next_poll_at=timezone.now() + FILLS)


def is_ready(batch: Batch) -> bool:
    """Whether it is full, or nothing is left that could join it."""
    quiet = timezone.now() - batch.joined_at
    if not batch.has_room or quiet >= LONG_QUIET:
        return True
    begun = Q(lease__isnull=False) | Q(next_attempt_at=None) | Q(next_attempt_at__lte=timezone.now())
    could = Case.objects.filter(begun, build=batch.build_id, stage__in=llm_calls.BY_BATCH, waiting_for=None)
    return quiet >= QUIET and not could.exists()


def submit_batch(batch: Batch, batches: LiveBatches) -> None:
    """Hand the batch in: what is about to be done is stored first."""
    if not change_batch_state(batch, State.SENDING, sent_at=timezone.now()):
        return
    asked = list(requests_of(batch))
    for way in Batch.objects.ways_refused(batch.build):
        batches.skip(batch.build.model, cast(Mode, way))
    try:
        with llm_calls.no_connection():
            standing = batches.create(asked)
    except LLMError as error:
        not_sent(batch, error)
    else:
        change_batch_state(
            batch, State.OPEN, provider_id=standing.id, next_poll_at=timezone.now() + FIRST_PAUSE, **NEWS
        )


def requests_of(batch: Batch) -> Iterator[tuple[str, Request]]:
    """Digest and request of each call, counted; the rules of an agent are in memory once."""
    calls, systems = in_it(batch), dict[str, SystemText]()
    Batch.objects.filter(pk=batch.pk).update(requests=calls.count())
    for call in calls.select_related("request").order_by("pk").iterator(chunk_size=500):
        if call.system_id not in systems:
            systems[call.system_id] = call.system
        call.system = systems[call.system_id]
        yield call.digest, call.whole_request()


def not_sent(batch: Batch, error: LLMError) -> None:
    """It may be there all the same; or it is sent later; or it will never be taken."""
    if error.maybe_billed:
        at = timezone.now() + SETTLES
        if change_batch_state(
            batch, State.SENDING, next_poll_at=at, error=mark_hostile_characters(error.message)
        ):
            circuit_breaker.batch_failed(batch.build, error, at)
    elif error.retryable or error.provider:
        change_batch_state(batch, State.FILLING)
        handle_batch_error(batch, error)
    elif change_batch_state(batch, State.ENDED, error=mark_hostile_characters(error.message)):
        give_back(batch, error.message)


def recover_lost_batch(batch: Batch, provider: Provider) -> None:
    """Find the batch among the provider's, after its id was lost; send it anew where it is not there.

    The provider names no request of a batch that runs: one of as many requests, made at that moment, is
    taken for it, and its results say whether it is. While another batch was taken for what may be this one,
    this one waits for those results: sent anew, it might be paid twice.
    """
    assert batch.sent_at is not None, "set before anything was sent"
    sent, count = batch.sent_at, in_it(batch).count()
    with llm_calls.no_connection():
        there = provider().since(sent - SLACK)
        likely = {one.id: one for one in there if one.requests == count and one.created_at <= sent + TAKES}
    for name in {*Batch.objects.surely(), *batch.refuted_ids}:
        likely.pop(name, None)
    taken = set(Batch.objects.filter(provider_id__in=likely).values_list("provider_id", flat=True))
    free = [one for one in likely.values() if one.id not in taken]
    if free:
        best = min(free, key=lambda one: abs(one.created_at - sent))
        change_batch_state(
            batch, State.OPEN, provider_id=best.id, is_guessed=True, next_poll_at=timezone.now(), **NEWS
        )
        circuit_breaker.note_automatic_event(
            batch.build, "found a batch", f"{best.id}, whose id was lost when it was sent"
        )
    elif taken and timezone.now() - sent < GONE:
        schedule_batch_poll(
            batch, f"another batch was taken for {min(taken)}, which may be this one: its results will say"
        )
    else:
        change_batch_state(batch, State.FILLING, next_poll_at=timezone.now(), **NEWS)
        circuit_breaker.note_automatic_event(
            batch.build, "sends a batch again", "the provider does not have it"
        )


def poll_batch(batch: Batch, provider: Provider) -> None:
    """Ask how the batch stands; take its results when it has ended."""
    batches = provider()
    with llm_calls.no_connection():
        if batch.build.state == Build.State.CANCELLED and batch.cancelled_at is None:
            cancel_batch(batch, batches)
        ended = batches.look(batch.provider_id).ended
    if ended:
        collect_batch_results(batch, batches)
    else:
        schedule_batch_poll(batch)


def cancel_batch(batch: Batch, batches: LiveBatches) -> None:
    """Stop it at the provider: what is not answered yet costs nothing then."""
    try:
        batches.cancel(batch.provider_id)
    except LLMError as error:
        if error.retryable:
            raise
        log.info("batch %s has ended before it was cancelled: %s", batch.pk, error.message)
    Batch.objects.filter(pk=batch.pk).update(cancelled_at=timezone.now())


def collect_batch_results(batch: Batch, batches: LiveBatches) -> None:
    """Take every result, then see what is missing. Can be repeated: what is stored is not taken again."""
    strange, others = set[str](), list[LLMError]()
    try:
        with llm_calls.no_connection():
            for entries in chunk_batch_entries(batches.results(batch.provider_id)):
                strange |= take_in(batch, entries, batches, others)
    finally:
        stop_for(batch, others)
    batch.refresh_from_db()
    if strange and not batch.answered + batch.returned and in_it(batch).exists():
        reassign_mistaken_batch(batch, strange)
        return
    count_unanswered_calls(batch, "the results of its batch do not have it")
    told = {"unknown_results": len(strange), "refused_output_mode": batches.refused or ""}
    change_batch_state(batch, State.ENDED, ended_at=timezone.now(), next_poll_at=None, **told, **NEWS)
    if strange:
        words = f"{len(strange):,} results of {batch.provider_id} belong to none of its requests"
        circuit_breaker.note_automatic_event(batch.build, "ignored results", words)


def stop_for(batch: Batch, others: list[LLMError]) -> None:
    """Stop the build once for all replies of a model that nobody has asked for; the others are kept."""
    if others:
        words = (
            f"{len(others):,} of the {batch.requests:,} replies of batch {batch.provider_id} are of no use: "
            f"{others[0].message}. They are paid for. Who resumes the build asks, and pays, for them again"
        )
        circuit_breaker.stop_build_for_person(batch.build, words, Build.State.WAITING)


def reassign_mistaken_batch(batch: Batch, strange: set[str]) -> None:
    """What was taken for the batch is another's, as the results say: give it to that one and look on.

    Two batches of one size whose ids were lost together may have been taken for each other.
    """
    taken, now = batch.provider_id, timezone.now()
    lost = [State.SENDING, State.OPEN]
    asked = LLMCall.objects.filter(digest__in=list(strange)[:CHUNK], batch__state__in=lost)
    owners = Batch.objects.filter(pk__in=in_work(asked).values("batch"))
    with transaction.atomic():
        owner = owners.exclude(pk=batch.pk).select_related("build__tally").first()
        refuted = [*batch.refuted_ids, taken]
        change_batch_state(
            batch, State.SENDING, provider_id="", is_guessed=False, refuted_ids=refuted, next_poll_at=now
        )
        if owner is None or taken in owner.refuted_ids or owner.provider_id in batch.refuted_ids:
            return
        had = owner.provider_id
        given = change_batch_state(
            owner, State.OPEN, provider_id=taken, is_guessed=False, next_poll_at=now, **NEWS
        )
        if given and had:
            change_batch_state(batch, State.OPEN, provider_id=had, is_guessed=True, next_poll_at=now, **NEWS)
    if given:
        circuit_breaker.note_automatic_event(
            owner.build, "found a batch", f"{taken}, which was taken for another one"
        )


def take_in(
    batch: Batch, entries: Iterable[BatchResultEntry], batches: LiveBatches, others: list[LLMError]
) -> set[str]:
    """Store a handful of results and let their cases go on; returns the ids that are none of its requests'.

    One that comes twice is taken once, and never for a later try. What another model than was asked for has
    answered goes to `others`. Raises LLMError where the model behind the name has changed.
    """
    told = {entry.id: entry for entry in entries}
    mine = LLMCall.objects.filter(batch=batch, digest__in=told)
    strange = told.keys() - set(mine.values_list("digest", flat=True))
    related = "build__tally", "price", "system", "request"
    calls = list(in_work(mine).select_related(*related))
    try:
        for call in calls:
            store_batch_result(call, told[call.digest], batches, others)
    finally:
        claims.free_waiting_for(LLMCall.objects.filter(pk__in=[call.pk for call in calls]))
        record_batch_progress(batch)
    return strange


def store_batch_result(
    call: LLMCall, entry: BatchResultEntry, batches: LiveBatches, others: list[LLMError]
) -> None:
    """One result, by the same way as a live reply.

    Raises LLMError where the model behind the name has changed: whoever resumes the build takes the new one,
    so the other results stay where they are until then. One that was never asked for is taken by nobody.
    """
    try:
        reply = batches.checked(read_entry_reply(entry, call, batches), call.whole_request())
    except LLMError as error:
        llm_calls.book_failed_call(call, error)
        others += [error] if error.reply is not None else []
        return
    try:
        llm_calls.refuse_other_model(call, reply)
    except LLMError as error:
        llm_calls.book_failed_call(call, error)
        raise
    problem = unusable_replies.find_reply_problem(call.build, call.agent, reply)
    llm_calls.settle_paid_reply(call, reply, problem)
    unusable_replies.stop_if_due(call.build, problem)


def read_entry_reply(entry: BatchResultEntry, call: LLMCall, batches: LiveBatches) -> Reply:
    """The reply in an entry. Raises LLMError where there is none."""
    if entry.reply is None:
        error = entry.error or LLMError("the batch gave no reply", retryable=True)
        batches.learn(error, call.model)
        raise error
    return entry.reply


def record_batch_progress(batch: Batch) -> None:
    """Note how far the batch is, and hold it on."""
    ok = LLMCall.Status.SUCCEEDED, LLMCall.Status.UNUSABLE
    gone = LLMCall.Status.FAILED, LLMCall.Status.UNKNOWN
    counted: dict[str, int] = batch.calls.aggregate(
        answered=Count("pk", filter=Q(status__in=ok)), returned=Count("pk", filter=Q(status__in=gone))
    )
    Batch.objects.filter(pk=batch.pk).update(**counted, next_poll_at=timezone.now() + LEASE)


def give_back(batch: Batch, why: str) -> None:
    """Return every request unanswered: nothing was paid, and the cases ask again."""
    for call in in_it(batch).select_related("build__tally"):
        budget.fail_call_attempt(call, why)
    claims.free_waiting_for(LLMCall.objects.filter(batch=batch))
    record_batch_progress(batch)
    Batch.objects.filter(pk=batch.pk).update(next_poll_at=None, ended_at=timezone.now())


def in_it(batch: Batch) -> QuerySet[LLMCall]:
    """The calls of the batch that have no result yet."""
    return in_work(LLMCall.objects.filter(batch=batch))


def in_work(calls: QuerySet[LLMCall]) -> QuerySet[LLMCall]:
    return calls.filter(status=LLMCall.Status.BATCHED)


def handle_batch_error(batch: Batch, error: LLMError) -> None:
    """Try again later. What a person has to put right stops the build; a batch not found may turn up."""
    unknown = error.status == 404 and batch.state == State.OPEN
    if error.provider and not unknown:
        circuit_breaker.stop_build_for_person(batch.build, error.message, Build.State.WAITING)
    if unknown and batch.sent_at is not None and timezone.now() - batch.sent_at > GONE:
        give_up_batch(batch, error.message)
    else:
        at = schedule_batch_poll(batch, error.message, circuit_breaker.asked_pause(error))
        if error.retryable:
            circuit_breaker.batch_failed(batch.build, error, at)


def give_up_batch(batch: Batch, why: str) -> None:
    """Nobody can say any more what was answered: its requests count at their bounds, and are asked again."""
    count_unanswered_calls(batch, why)
    change_batch_state(
        batch, State.ENDED, ended_at=timezone.now(), next_poll_at=None, error=mark_hostile_characters(why)
    )


def count_unanswered_calls(batch: Batch, why: str) -> None:
    """Count what has no result at its bound, and let the cases go on."""
    for call in in_it(batch).select_related("build__tally"):
        budget.give_up(call, f"{why}; {llm_calls.COUNTED}")
    claims.free_waiting_for(LLMCall.objects.filter(batch=batch))


def schedule_batch_poll(batch: Batch, error: str = "", asked: timedelta = timedelta()) -> datetime:
    """Look once more: later each time, and never before the provider asked for it. Returns when."""
    grown = min(FIRST_PAUSE * 1.5 ** min(batch.idle_polls, 20), LONGEST_PAUSE)
    at = timezone.now() + max(grown, asked)
    Batch.objects.filter(pk=batch.pk).update(
        next_poll_at=at, idle_polls=F("idle_polls") + 1, error=mark_hostile_characters(error)
    )
    batch.build.tally.change()
    return at


NEWS: Final[Mapping[str, Any]] = {"idle_polls": 0, "error": ""}
"""Columns after something has happened: the pauses begin anew."""


def change_batch_state(batch: Batch, state: Batch.State, **columns: Any) -> bool:
    """Move the batch on; False where another worker did. From now on nothing joins it."""
    told = {"state": state, "has_room": False, **columns}
    fence = {"state": batch.state, "sent_at": batch.sent_at, "provider_id": batch.provider_id}
    with transaction.atomic():
        changed = Batch.objects.filter(pk=batch.pk, **fence).update(**told) == 1
        if changed:
            batch.build.tally.change()
    for name, value in told.items() if changed else ():
        setattr(batch, name, value)
    return changed


def resume_batch_release(batch: Batch, provider: Provider) -> None:
    """Go on with giving back what a dead worker began to."""
    give_back(batch, batch.error or "the batch was never sent")


TEND: Final[Mapping[Batch.State, Callable[[Batch, Provider], None]]] = {
    State.FILLING: send_or_withdraw_batch,
    State.SENDING: recover_lost_batch,
    State.OPEN: poll_batch,
    State.WITHDRAWN: resume_batch_release,
    State.ENDED: resume_batch_release,
}
