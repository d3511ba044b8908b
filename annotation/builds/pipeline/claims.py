"""Taking work: a claim is a lease on a handful of rows, taken in one short transaction.

The only vendor SQL of this app is here.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final, TypeVar

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, prefetch_related_objects
from django.utils import timezone

from annotation.builds.limits import awaited_replies, circuit_breaker, rate_limit
from annotation.models import (
    Batch,
    Build,
    CallRequest,
    Case,
    ConnectionTest,
    ExecutionRequest,
    LLMCall,
    Proposal,
    Request,
    Trial,
)
from annotation.models.builds.calls import IN_WORK
from annotation.stages import QUEUE_OF, Queue, Stage
from retrieval.models import Job, Mining, MiningPart, statements

REQUESTS: Final[tuple[type[Request], ...]] = (CallRequest, ExecutionRequest, Trial)
RequestRow = TypeVar("RequestRow", bound=Request)
BUILDS_A_LOOK: Final = 20
LEASE = max(timedelta(minutes=10), rate_limit.LONGEST_CALL * 1.25)
"""Longer than any one call or run may take, so that only a dead worker's lease runs out."""


TAKE: Final = """
SELECT id FROM annotation_case
WHERE build_id = %s AND stage = %s AND lease IS NULL AND waiting_for_id IS NULL AND label IS NULL
AND (next_attempt_at IS NULL OR next_attempt_at <= %s)
ORDER BY id LIMIT %s
"""
SKIP: Final[Mapping[str, str]] = {"postgresql": "FOR NO KEY UPDATE SKIP LOCKED"}


def stages_of(queue: Queue) -> list[str]:
    """The stages whose work a queue does, the furthest first, so that begun cases end early."""
    return [stage.value for stage in reversed(Stage) if QUEUE_OF.get(stage) == queue]


def find_claimable_cases(queue: Queue, now: datetime, state: str = Build.State.RUNNING) -> QuerySet[Case]:
    """Cases of running builds, or of those in another state, that a worker of `queue` may take now."""
    due = Q(next_attempt_at__isnull=True) | Q(next_attempt_at__lte=now)
    return Case.objects.filter(
        due,
        stage__in=stages_of(queue),
        build__state=state,
        lease__isnull=True,
        waiting_for__isnull=True,
        label__isnull=True,
    )


def claim_cases(queue: Queue, handful: int) -> list[Case]:
    """Lease up to `handful` cases, those of the oldest build first, and read what working on them needs.

    An idle queue is looked at several times a second, so that look takes no lock and writes nothing.
    """
    builds = select_builds_for_work().filter(state=Build.State.RUNNING, opened=True).order_by("pk")
    if queue == "llm" and (full := rate_limit.full_models()):
        builds = builds.exclude(provider=Build.Provider.LIVE, model__in=full)
    found: list[Case] = []
    for build in builds:
        found += lease_cases(build, queue, handful - len(found))
        if len(found) == handful:
            break
    return found


def claim_probe(queue: Queue = "llm") -> Case | Proposal | None:
    """Lease one case by which a build's provider, or sandbox, is tried that was away; None where none is due.

    Where a job has no case, that is a function which is to be written.

    A build all of whose cases wait for something else goes on without a try.
    """
    for build in circuit_breaker.find_builds_to_probe(queue)[:BUILDS_A_LOOK]:
        if not circuit_breaker.claim_build_probe(build):
            continue
        found = lease_cases(select_builds_for_work().get(pk=build.pk), queue, 1)
        if found:
            return found[0]
        if queue == "llm" and (proposal := claim_proposal(Build.State.WAITING, build)):
            return proposal
        circuit_breaker.resume_after_outage(build)
    return None


def select_builds_for_work() -> QuerySet[Build]:
    """Builds with what every case of theirs needs."""
    return Build.objects.select_related("tally", "annotator")


def find_writable_proposals(now: datetime, state: str = Build.State.RUNNING) -> QuerySet[Proposal]:
    """Functions of running builds, or of those in another state, that a worker may write now."""
    due = Q(next_attempt_at__isnull=True) | Q(next_attempt_at__lte=now)
    return Proposal.objects.writing().filter(
        due, filling__build__state=state, lease__isnull=True, waiting_for__isnull=True
    )


def claim_proposal(state: str = Build.State.RUNNING, build: Build | None = None) -> Proposal | None:
    """Lease one function that is to be written in a build of this state, or in this `build`."""
    rows = find_writable_proposals(timezone.now(), state)
    if build is not None:
        rows = rows.filter(filling__build=build)
    if not rows.exists():
        return None
    if full := rate_limit.full_models():
        rows = rows.exclude(filling__build__provider=Build.Provider.LIVE, filling__build__model__in=full)
    lease = uuid.uuid4()
    with transaction.atomic():
        if connection.vendor == "postgresql":
            rows = rows.select_for_update(skip_locked=True, no_key=True, of=("self",))
        taken = list(rows.order_by("id").values_list("pk", flat=True)[:1])
        mine = Proposal.objects.filter(pk__in=taken, lease__isnull=True)
        mine.update(lease=lease, lease_until=timezone.now() + LEASE)
    related = "filling__build__tally", "filling__build__annotator", "query__body"
    return Proposal.objects.filter(pk__in=taken, lease=lease).select_related(*related).first()


def lease_cases(build: Build, queue: Queue, handful: int) -> list[Case]:
    """Lease up to `handful` cases of `build` that nobody else is taking."""
    lease, now = uuid.uuid4(), timezone.now()
    if connection.vendor == "sqlite" and not lock_claimable_cases(build, queue, 1, now):
        return []  # a transaction would keep writers out
    with transaction.atomic():
        taken = lock_claimable_cases(build, queue, handful, now)
        if not taken:
            return []
        put, among = {"lease": lease, "lease_until": now + LEASE}, f"id IN ({', '.join('%s' for _ in taken)})"
        statements.update_rows(Case, {"lease": None}, put=put, provided=among, values=taken)
    return load_claimed_cases(Case.objects.filter(pk__in=taken, lease=lease), build)


def load_claimed_cases(rows: QuerySet[Case], build: Build) -> list[Case]:
    """`rows` of `build` with what working on them needs; they share it, and what is looked up for it."""
    cases = list(rows.select_related("pair__query__body", "pair__snippet__body"))
    if any(case.program_id for case in cases):
        prefetch_related_objects(cases, "program__source", "execution__report")
    for case in cases:
        case.build = build
        if case.annotator_id == build.annotator_id:
            case.annotator = build.annotator
    return cases


def lock_claimable_cases(build: Build, queue: Queue, handful: int, now: datetime) -> list[int]:
    """Ids of up to `handful` cases that nobody else is taking, the oldest of the furthest stage first.

    Stage by stage, so that each look reads so many entries of an index and no more, whatever else is in the
    table. PostgreSQL skips rows that another claim holds; SQLite has one writer at a time, and our
    transactions are IMMEDIATE, so what was read can't change before the update.
    """
    taken: list[int] = []
    moment = connection.ops.adapt_datetimefield_value(now)
    with connection.cursor() as cursor:
        for stage in stages_of(queue):
            cursor.execute(
                TAKE + SKIP.get(connection.vendor, ""), [build.pk, stage, moment, handful - len(taken)]
            )
            taken += [pk for (pk,) in cursor.fetchall()]
            if len(taken) == handful:
                break
    return taken


def claim_execution() -> ExecutionRequest | None:
    """Lease one person's execution request."""
    return claim_request(ExecutionRequest, "program__pair__snippet__body", "program__source")


def claim_call() -> CallRequest | None:
    """Lease one person's call."""
    return claim_request(CallRequest, "pair__snippet__body")


def claim_trial() -> Trial | None:
    """Lease one of many runs that somebody asked for at once."""
    return claim_request(Trial, "program__source", "snippet__body", "mutant__source")


def claim_request(kind: type[RequestRow], *related: str) -> RequestRow | None:
    """Lease the request that has waited longest, read with what working on it needs."""
    now = timezone.now()
    rows = kind._default_manager.filter(state=Request.State.WAITING).order_by("id")
    if not rows.exists():
        return None
    with transaction.atomic():
        if connection.vendor == "postgresql":
            rows = rows.select_for_update(skip_locked=True)
        row = rows.first()
        if row is None:
            return None
        row.state, row.lease_until = Request.State.RUNNING, now + LEASE
        row.save(update_fields=["state", "lease_until"])
    return kind._default_manager.select_related(*related).get(pk=row.pk)


def expire_leases(now: datetime) -> int:
    """Free the leases of workers that died; returns how many."""
    cases = Case.objects.filter(lease__isnull=False, lease_until__lt=now).update(lease=None, lease_until=None)
    dead_writers = Proposal.objects.filter(lease__isnull=False, lease_until__lt=now)
    cases += dead_writers.update(lease=None, lease_until=None)
    for kind in REQUESTS:
        dead = kind._default_manager.filter(state=Request.State.RUNNING, lease_until__lt=now)
        cases += dead.update(state=Request.State.WAITING, lease_until=None)
    return cases


def free_all() -> int:
    """Free every lease and give up every call in the air; returns how many cases. For whoever works alone."""
    now = timezone.now()
    LLMCall.objects.filter(status=LLMCall.Status.RESERVED).update(expires_at=now)
    Case.objects.filter(lease__isnull=False).update(lease_until=now)
    Proposal.objects.filter(lease__isnull=False).update(lease_until=now)
    for kind in REQUESTS:
        kind._default_manager.filter(state=Request.State.RUNNING).update(lease_until=now)
    ConnectionTest.objects.filter(state=ConnectionTest.State.RUNNING).update(lease_until=now)
    Batch.objects.filter(state=Batch.State.OPEN).update(next_poll_at=now)
    Mining.objects.filter(state=Mining.State.RUNNING).update(lease_until=now)
    MiningPart.objects.filter(lease_until__isnull=False).update(lease_until=now)
    Job.objects.filter(state=Job.State.RUNNING).update(lease_until=now)
    return expire_leases(timezone.now())


def release_claims(cases: Iterable[Case | Proposal]) -> None:
    """Give back cases that were claimed and not worked on."""
    left = list(cases)
    if left:
        mend_connection()
    for case in left:
        case.put_back()


def mend_connection() -> None:
    """After a fault: take another connection to the database, as this one may be what broke."""
    if not connection.in_atomic_block:
        connection.close()


def free_answered() -> int:
    """Let cases go on whose request has its reply now, by file or because another build got one live.

    Whoever ends a batch frees its cases: those are too many to be looked through at each beat.
    """
    over = ~Q(waiting_for__status__in=IN_WORK)
    same = LLMCall.objects.filter(digest=OuterRef("waiting_for__digest"), status=LLMCall.Status.SUCCEEDED)
    free = over | Exists(same)
    proposals = Proposal.objects.filter(waiting_for__isnull=False).filter(free).update(waiting_for=None)
    parked = Case.objects.filter(waiting_for__isnull=False, build__batches=False)
    freed = proposals + parked.filter(free).update(waiting_for=None)
    awaited_replies.resume_answered()
    return freed


def free_waiting_for(calls: QuerySet[LLMCall]) -> int:
    """Let the cases go on that wait for any of `calls` that is over; returns how many."""
    over = calls.exclude(status__in=IN_WORK)
    return Case.objects.filter(waiting_for__in=over.values("pk")).update(waiting_for=None)
