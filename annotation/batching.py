"""Batches: what a build may wait for is asked together, later, at half the price.

A batch fills with the requests of cases (`asking.answered`), is sent, and is looked at with growing pauses by
whichever worker comes. Its results become the replies of its calls, as if they had been asked live, and the
cases that wait for them go on. All of it is in the row: a worker may die at any moment.

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

from annotation import asking, budget, claims, outages
from annotation.llm import LLM, LLMError, Reply, Request
from annotation.llm.batches import CHUNK, Entry, LiveBatches, chunked
from annotation.llm.live import LiveLLM
from annotation.llm.profiles import Mode
from annotation.models import Batch, Build, Case, LLMCall
from annotation.models.batches import FILLS
from annotation.models.calls import SystemText
from retrieval.hostile import clean

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
    batch = next((one for one in due[:20] if take(one)), None)
    if batch is None:
        return False
    had = batch.error
    try:
        TEND[State(batch.state)](batch, lambda: batches_of(batch.build, llm_of))
        # A look that asks nothing leaves the error where it is.
        if had and Batch.objects.filter(pk=batch.pk, error="").exists():
            outages.batch_works(batch.build)
    except LLMError as error:
        failed(batch, error)
    except Exception as fault:
        log.exception("batch %s", batch.pk)
        claims.mend_connection()
        again(batch, f"a fault of the workbench: {fault!r}")
    return True


def take(batch: Batch) -> bool:
    """Make the look this worker's; False where another one took it."""
    mine = Batch.objects.filter(pk=batch.pk, state=batch.state, look_at=batch.look_at)
    return mine.update(look_at=timezone.now() + LEASE) == 1


def batches_of(build: Build, llm_of: Callable[[Build], LLM]) -> LiveBatches:
    """The batches of whom the build asks. Raises LLMError where it has none."""
    llm = llm_of(build)
    if not isinstance(llm, LiveLLM) or not llm.profile.batches:
        told = f"{llm.name} takes no batches: start with a provider profile that does, or cancel the build"
        raise LLMError(told, retryable=False, provider=True)
    return LiveBatches(llm)


Provider = Callable[[], LiveBatches]


def fill(batch: Batch, provider: Provider) -> None:
    """Send a batch that is ready; withdraw that of a build which somebody has stopped."""
    if batch.build.state not in STARTED:
        if change(batch, State.WITHDRAWN):
            give_back(batch, f"the build was {batch.build.state} before the batch was sent")
    elif is_ready(batch):
        send(batch, provider())
    else:
        Batch.objects.filter(pk=batch.pk).update(look_at=timezone.now() + FILLS)


def is_ready(batch: Batch) -> bool:
    """Whether it is full, or nothing is left that could join it."""
    quiet = timezone.now() - batch.joined_at
    if not batch.has_room or quiet >= LONG_QUIET:
        return True
    begun = Q(lease__isnull=False) | Q(next_attempt_at=None) | Q(next_attempt_at__lte=timezone.now())
    could = Case.objects.filter(begun, build=batch.build_id, stage__in=asking.BY_BATCH, waiting_for=None)
    return quiet >= QUIET and not could.exists()


def send(batch: Batch, batches: LiveBatches) -> None:
    """Hand the batch in: what is about to be done is stored first."""
    if not change(batch, State.SENDING, sent_at=timezone.now()):
        return
    asked = list(requests_of(batch))
    for way in Batch.objects.ways_refused(batch.build):
        batches.skip(batch.build.model, cast(Mode, way))
    try:
        with asking.no_connection():
            standing = batches.create(asked)
    except LLMError as error:
        not_sent(batch, error)
    else:
        change(batch, State.OPEN, provider_id=standing.id, look_at=timezone.now() + FIRST_PAUSE, **NEWS)


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
        if change(batch, State.SENDING, look_at=at, error=clean(error.message)):
            outages.batch_failed(batch.build, error, at)
    elif error.retryable or error.provider:
        change(batch, State.FILLING)
        failed(batch, error)
    elif change(batch, State.ENDED, error=clean(error.message)):
        give_back(batch, error.message)


def find(batch: Batch, provider: Provider) -> None:
    """Find the batch among the provider's, after its id was lost; send it anew where it is not there.

    The provider names no request of a batch that runs: one of as many requests, made at that moment, is
    taken for it, and its results say whether it is. While another batch was taken for what may be this one,
    this one waits for those results: sent anew, it might be paid twice.
    """
    assert batch.sent_at is not None, "set before anything was sent"
    sent, count = batch.sent_at, in_it(batch).count()
    with asking.no_connection():
        there = provider().since(sent - SLACK)
        likely = {one.id: one for one in there if one.requests == count and one.created_at <= sent + TAKES}
    for name in {*Batch.objects.surely(), *batch.refuted}:
        likely.pop(name, None)
    taken = set(Batch.objects.filter(provider_id__in=likely).values_list("provider_id", flat=True))
    free = [one for one in likely.values() if one.id not in taken]
    if free:
        best = min(free, key=lambda one: abs(one.created_at - sent))
        change(batch, State.OPEN, provider_id=best.id, found=True, look_at=timezone.now(), **NEWS)
        outages.note(batch.build, "found a batch", f"{best.id}, whose id was lost when it was sent")
    elif taken and timezone.now() - sent < GONE:
        again(batch, f"another batch was taken for {min(taken)}, which may be this one: its results will say")
    else:
        change(batch, State.FILLING, look_at=timezone.now(), **NEWS)
        outages.note(batch.build, "sends a batch anew", "the provider does not have it")


def poll(batch: Batch, provider: Provider) -> None:
    """Ask how the batch stands; take its results when it has ended."""
    batches = provider()
    with asking.no_connection():
        if batch.build.state == Build.State.CANCELLED and batch.cancelled_at is None:
            cancel(batch, batches)
        ended = batches.look(batch.provider_id).ended
    if ended:
        collect(batch, batches)
    else:
        again(batch)


def cancel(batch: Batch, batches: LiveBatches) -> None:
    """Stop it at the provider: what is not answered yet costs nothing then."""
    try:
        batches.cancel(batch.provider_id)
    except LLMError as error:
        if error.retryable:
            raise
        log.info("batch %s has ended before it was cancelled: %s", batch.pk, error.message)
    Batch.objects.filter(pk=batch.pk).update(cancelled_at=timezone.now())


def collect(batch: Batch, batches: LiveBatches) -> None:
    """Take every result, then see what is missing. Can be repeated: what is stored is not taken again."""
    strange, others = set[str](), list[LLMError]()
    try:
        with asking.no_connection():
            for entries in chunked(batches.results(batch.provider_id)):
                strange |= take_in(batch, entries, batches, others)
    finally:
        stop_for(batch, others)
    batch.refresh_from_db()
    missing = in_it(batch)
    if strange and not batch.answered + batch.returned and missing.exists():
        refute(batch, strange)
        return
    for call in missing.select_related("build__tally"):
        budget.give_up(call, f"the results of its batch do not have it; {asking.COUNTED}")
    claims.free_waiting_for(LLMCall.objects.filter(batch=batch))
    told = {"strange": len(strange), "refused_way": batches.refused or ""}
    change(batch, State.ENDED, ended_at=timezone.now(), look_at=None, **told, **NEWS)
    if strange:
        words = f"{len(strange):,} results of {batch.provider_id} belong to none of its requests"
        outages.note(batch.build, "ignored results", words)


def stop_for(batch: Batch, others: list[LLMError]) -> None:
    """Stop the build once for all replies of a model that nobody has asked for; the others are kept."""
    if others:
        words = (
            f"{len(others):,} of the {batch.requests:,} replies of batch {batch.provider_id} are of no use: "
            f"{others[0].message}. They are paid, once; whoever resumes the build has them asked again"
        )
        outages.stop(batch.build, words, Build.State.WAITING)


def refute(batch: Batch, strange: set[str]) -> None:
    """What was taken for the batch is another's, as the results say: give it to that one and look on.

    Two batches of one size whose ids were lost together may have been taken for each other.
    """
    taken, now = batch.provider_id, timezone.now()
    lost = [State.SENDING, State.OPEN]
    asked = LLMCall.objects.filter(digest__in=list(strange)[:CHUNK], batch__state__in=lost)
    owners = Batch.objects.filter(pk__in=in_work(asked).values("batch"))
    with transaction.atomic():
        owner = owners.exclude(pk=batch.pk).select_related("build__tally").first()
        refuted = [*batch.refuted, taken]
        change(batch, State.SENDING, provider_id="", found=False, refuted=refuted, look_at=now)
        if owner is None or taken in owner.refuted or owner.provider_id in batch.refuted:
            return
        had = owner.provider_id
        given = change(owner, State.OPEN, provider_id=taken, found=False, look_at=now, **NEWS)
        if given and had:
            change(batch, State.OPEN, provider_id=had, found=True, look_at=now, **NEWS)
    if given:
        outages.note(owner.build, "found a batch", f"{taken}, which was taken for another one")


def take_in(batch: Batch, entries: Iterable[Entry], batches: LiveBatches, others: list[LLMError]) -> set[str]:
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
            store(call, told[call.digest], batches, others)
    finally:
        claims.free_waiting_for(LLMCall.objects.filter(pk__in=[call.pk for call in calls]))
        count(batch)
    return strange


def store(call: LLMCall, entry: Entry, batches: LiveBatches, others: list[LLMError]) -> None:
    """One result, by the same way as a live reply.

    Raises LLMError where the model behind the name has changed: whoever resumes the build takes the new one,
    so the other results stay where they are until then. One that was never asked for is taken by nobody.
    """
    try:
        reply = batches.checked(said(entry, call, batches), call.whole_request())
    except LLMError as error:
        asking.book(call, error)
        others += [error] if error.reply is not None else []
        return
    try:
        asking.refuse_other_model(call, reply)
    except LLMError as error:
        asking.book(call, error)
        raise
    asking.stored(call, reply)


def said(entry: Entry, call: LLMCall, batches: LiveBatches) -> Reply:
    """The reply in an entry. Raises LLMError where there is none."""
    if entry.reply is None:
        error = entry.error or LLMError("the batch gave no reply", retryable=True)
        batches.learn(error, call.model)
        raise error
    return entry.reply


def count(batch: Batch) -> None:
    """Note how far the batch is, and hold it on."""
    ok = LLMCall.Status.SUCCEEDED, LLMCall.Status.UNUSABLE
    gone = LLMCall.Status.FAILED, LLMCall.Status.UNKNOWN
    counted: dict[str, int] = batch.calls.aggregate(
        answered=Count("pk", filter=Q(status__in=ok)), returned=Count("pk", filter=Q(status__in=gone))
    )
    Batch.objects.filter(pk=batch.pk).update(**counted, look_at=timezone.now() + LEASE)


def give_back(batch: Batch, why: str) -> None:
    """Return every request unanswered: nothing was paid, and the cases ask again."""
    for call in in_it(batch).select_related("build__tally"):
        budget.fail(call, why)
    claims.free_waiting_for(LLMCall.objects.filter(batch=batch))
    count(batch)
    Batch.objects.filter(pk=batch.pk).update(look_at=None, ended_at=timezone.now())


def in_it(batch: Batch) -> QuerySet[LLMCall]:
    """The calls of the batch that have no result yet."""
    return in_work(LLMCall.objects.filter(batch=batch))


def in_work(calls: QuerySet[LLMCall]) -> QuerySet[LLMCall]:
    return calls.filter(status=LLMCall.Status.BATCHED)


def failed(batch: Batch, error: LLMError) -> None:
    """Try again later. What a person has to put right stops the build; a batch not found may turn up."""
    unknown = error.status == 404 and batch.state == State.OPEN
    if error.provider and not unknown:
        outages.stop(batch.build, error.message, Build.State.WAITING)
    if unknown and batch.sent_at is not None and timezone.now() - batch.sent_at > GONE:
        lose(batch, error.message)
    else:
        at = again(batch, error.message, outages.asked_pause(error))
        if error.retryable:
            outages.batch_failed(batch.build, error, at)


def lose(batch: Batch, why: str) -> None:
    """Nobody can say any more what was answered: its requests count at their bounds, and are asked again."""
    for call in in_it(batch).select_related("build__tally"):
        budget.give_up(call, f"{why}; {asking.COUNTED}")
    claims.free_waiting_for(LLMCall.objects.filter(batch=batch))
    change(batch, State.ENDED, ended_at=timezone.now(), look_at=None, error=clean(why))


def again(batch: Batch, error: str = "", asked: timedelta = timedelta()) -> datetime:
    """Look once more: later each time, and never before the provider asked for it. Returns when."""
    grown = min(FIRST_PAUSE * 1.5 ** min(batch.looks, 20), LONGEST_PAUSE)
    at = timezone.now() + max(grown, asked)
    Batch.objects.filter(pk=batch.pk).update(look_at=at, looks=F("looks") + 1, error=clean(error))
    batch.build.tally.change()
    return at


NEWS: Final[Mapping[str, Any]] = {"looks": 0, "error": ""}
"""Columns after something has happened: the pauses begin anew."""


def change(batch: Batch, state: Batch.State, **columns: Any) -> bool:
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


def end(batch: Batch, provider: Provider) -> None:
    """Go on with giving back what a dead worker began to."""
    give_back(batch, batch.error or "the batch was never sent")


TEND: Final[Mapping[Batch.State, Callable[[Batch, Provider], None]]] = {
    State.FILLING: fill,
    State.SENDING: find,
    State.OPEN: poll,
    State.WITHDRAWN: end,
    State.ENDED: end,
}
