"""The loop: claims, advances, and the chores of a beat (mine, open and finish builds, expire, reap)."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection
from functools import partial

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.builds.control import connection_test
from annotation.builds.drift import watched_pairs
from annotation.builds.drift.questions import ask_one
from annotation.builds.drift.verdict import look_after_all
from annotation.builds.limits import awaited_replies, budget, canary, circuit_breaker, full_disk
from annotation.builds.pipeline import batches, claims
from annotation.builds.pipeline.advance import Tools, advance_case
from annotation.builds.pipeline.claims import REQUESTS
from annotation.builds.pipeline.execution import fulfil_one
from annotation.builds.results import history
from annotation.derived import round_merge
from annotation.derived.extension import execution
from annotation.derived.missing_functions import writer_job
from annotation.derived.rerun import case_takeover
from annotation.jobs import clock_skew, heartbeat, local_queue, notifications, subprocesses, webhook_delivery
from annotation.jobs.changes import Changes
from annotation.models import Batch, Build, Case, Proposal, Tally, Webhook
from annotation.models.reviews.labels_in_force import refresh_new_cases
from annotation.stages import Queue, Stage
from annotation.studies.enrolment.queue import expire_reservations
from annotation.webhooks.outbox import announce_build
from retrieval.exporting.jobs.removal import remove_old
from retrieval.models import Candidate, Job, Mining

log = logging.getLogger(__name__)
QUEUES = ("llm", "sandbox", "interactive", "files", "mining", "training", "control", "notices")
HANDFUL = {"llm": 4, "sandbox": 2}
CASES_A_BATCH = 2000
PROPOSED = ("pk", "pair_id", "query_id", "rank", "score")
CASE_COLUMNS = ("candidate_id", *PROPOSED[1:])
USUAL_IDLE = 0.3
IDLE = {"interactive": 0.05, "control": 1.0, "notices": 2.0}
LONGEST_IDLE = 1.0
"""Seconds between two looks at a queue in which nothing waits; a person waits for the interactive one."""
TICK_SECONDS = 0.2
"""Between two looks of a command that waits until nothing is left to do."""
SELDOM = 0.25
"""Seconds between two looks of one process for what is seldom there."""
SECONDS_BETWEEN_CLEANINGS = 600.0
"""Files of exports are kept for days, so that a look at their folder every ten minutes is enough."""

_looked: dict[str, float] = {}


def drain_queue(queue: str, tools: Tools, *, seldom: bool = True) -> int:
    """Do one handful of what waits in `queue`; returns how much was done, 0 = nothing waits.

    `seldom`: look first for what is seldom there, such as a provider to be tried again or a batch.
    Where the disk is full nothing is begun, except that people are told.
    """
    try:
        if not full_disk.has_room() and queue != "notices":
            full_disk.hold_builds()
            return 0
        if not clock_skew.is_right():
            return 0
        return do_work_of(queue, tools, seldom)
    except Exception as fault:
        if full_disk.note_full_disk(fault):
            claims.mend_connection()
            return 0
        raise


def do_work_of(queue: str, tools: Tools, seldom: bool) -> int:
    """Do one handful, whatever the disk and the clock say."""
    heartbeat.record_heartbeat(queue)
    if queue == "interactive":
        return int(fulfil_one(tools.for_people, tools.limits))
    if queue == "files":
        return subprocesses.perform_one_job(*subprocesses.KINDS_OF_FILES)
    if queue == "mining":
        return subprocesses.mine_one() or subprocesses.perform_one_job(*subprocesses.KINDS_OF_MINING)
    if queue == "training":
        return subprocesses.perform_one_job(*subprocesses.KINDS_OF_TRAINING)
    if queue == "control":
        return perform_worker_chores(tools)
    if queue == "notices":
        notifications.record_new_episodes()
        return notifications.deliver_one() + webhook_delivery.send_due_delivery()
    if queue == "sandbox":
        return int(seldom and try_what_is_away("sandbox", tools)) or drain_cases("sandbox", tools)
    return int(seldom and do_seldom(tools)) or drain_cases("llm", tools) or writer_job.write_one(tools)


def do_seldom(tools: Tools) -> bool:
    """Do one of the things that models are asked for beside cases; says whether any was due."""
    return (
        connection_test.try_one()
        or try_what_is_away("llm", tools)
        or batches.tend_one(tools.llm_of)
        or ask_one(tools)
    )


def try_what_is_away(queue: Queue, tools: Tools) -> bool:
    """Try a provider or sandbox that failed before, by way of one case; says whether any was due."""
    case = claims.claim_probe(queue)
    if case is None:
        return False
    before = circuit_breaker.SOURCES[queue].run(case.build)
    advance_case(case, tools) if isinstance(case, Case) else writer_job.write_proposed_function(case, tools)
    circuit_breaker.conclude_build_probe(case.build, before, queue)
    return True


def drain_cases(queue: Queue, tools: Tools) -> int:
    """Advance what this process has leased, or else one handful more; returns how many were advanced here.

    What an unforeseen failure leaves undone goes back at once.
    """
    desk, done = local_queue.desk_here(queue), 0
    new, case = None, desk.take()
    if case is None:
        handful = partial(claims.claim_cases, queue, desk.handful(HANDFUL[queue]))
        new = desk.fill(handful, give_back_connection)
        case = new or desk.take()
    try:
        while case is not None:
            advance_leased_case(case, queue, tools, fresh=case is new)
            done, case = done + 1, desk.take()
    except BaseException:
        claims.release_claims(desk.clear())
        raise
    return done


def advance_leased_case(case: Case, queue: Queue, tools: Tools, *, fresh: bool) -> None:
    """Advance a leased case; one that is not `fresh` has lain since its claim, and is looked at again."""
    heartbeat.record_heartbeat(queue)
    # Those before it may have taken long, and may have shown that the provider is away.
    if fresh or case.renew(timezone.now() + claims.LEASE):
        advance_case(case, tools)
    else:
        case.put_back()


def run_worker(
    queue: str,
    tools: Tools,
    stop: threading.Event,
    idle: float = USUAL_IDLE,
    changes: Changes | None = None,
) -> None:
    """Drain `queue` until `stop` is set; one failure is logged, never the end of the loop.

    A queue that stays empty is looked at less and less often, down to once in LONGEST_IDLE seconds; with
    `changes`, and where no work is open, when something was written.
    """
    with local_queue.desk_of_queue(queue).seat():
        repeat_drain_rounds(queue, tools, stop, idle, changes)
    connection.close()


def repeat_drain_rounds(
    queue: str, tools: Tools, stop: threading.Event, idle: float, changes: Changes | None
) -> None:
    """The rounds of `run_worker`."""
    wait = idle
    while not stop.is_set():
        seen = changes.number if changes else 0
        seldom = looks_for_seldom(queue, SELDOM)
        try:
            done = drain_queue(queue, tools, seldom=seldom)
        except Exception:
            log.exception("worker of the %s queue", queue)
            connection.close()
            done = 0
        if done:
            wait = idle
            continue
        give_back_connection()
        stop.wait(wait)
        if changes:
            changes.wait_for_next(queue, seen)
        wait = max(idle, min(wait * 1.5, LONGEST_IDLE)) if queue not in IDLE else idle


def looks_for_seldom(what: str, seconds: float) -> bool:
    """Whether it is this thread's turn: fifty that each look before each handful would do little else."""
    now = time.monotonic()
    if what in _looked and now - _looked[what] < seconds:
        return False
    _looked[what] = now
    return True


def give_back_connection() -> None:
    """To PostgreSQL's pool; a file's connection is kept, as opening it costs more than looking for work."""
    if connection.vendor != "sqlite":
        connection.close()


def start_worker_threads(
    counts: dict[str, int], tools: Tools, stop: threading.Event
) -> list[threading.Thread]:
    """Started worker threads, so many a queue, and one that watches for changes of the database."""
    changes = Changes(stop, lambda: has_queued_work() or webhook_delivery.has_due_soon())
    made = [threading.Thread(target=changes.watch, name="changes", daemon=True)] + [
        threading.Thread(
            target=run_worker,
            args=(queue, tools, stop, IDLE.get(queue, USUAL_IDLE), changes),
            name=f"{queue}-{number}",
            daemon=True,
        )
        for queue, count in counts.items()
        for number in range(count)
    ]
    for thread in made:
        thread.start()
    return made


def until_idle(counts: dict[str, int], tools: Tools, tick: Callable[[], None] = lambda: None) -> None:
    """Work in the foreground until nothing is left that a worker could do; `tick` is called meanwhile."""
    stop = threading.Event()
    started = start_worker_threads(counts, tools, stop)
    try:
        while has_queued_work():
            tick()
            time.sleep(TICK_SECONDS)
    finally:
        stop.set()
        for thread in started:
            thread.join(timeout=60)
    # Two threads that put the last cases back at the same moment each see the other's as open.
    for build in Build.objects.filter(state=Build.State.RUNNING, provider=Build.Provider.EXCHANGE):
        awaited_replies.hold_for_replies(build)
    notifications.flush_notifications()
    webhook_delivery.send_all_due()


def has_queued_work() -> bool:
    """Whether any queue has work now, in the air, or due later; requests that wait for a file don't count.

    Neither do builds that wait for a sandbox: on a machine that has none that would never end.
    """
    goes_on = Q(waits_for__in=(Build.WaitsFor.PROVIDER, Build.WaitsFor.DISK), next_probe_at__isnull=False)
    running = Build.objects.filter(Q(state=Build.State.RUNNING) | goes_on)
    working = Case.objects.filter(build=OuterRef("pk"), stage__in=[s for s in Stage if s.is_working])
    to_write = Proposal.objects.writing().filter(filling__build=OuterRef("pk"))
    # In one statement: between two of them a build may be opened, or its last case settled.
    unfinished = running.filter(
        Q(opened=False)
        | ~(Exists(working) | Exists(to_write))
        | Exists(working.filter(waiting_for__isnull=True))
        | Exists(to_write.filter(waiting_for__isnull=True))
    )
    return (
        unfinished.exists()
        or Batch.objects.awaited().exists()
        or connection_test.has_waiting_connection_test()
        or round_merge.list_waiting_merges().exists()
        or Job.objects.open().exists()
        or any(kind._default_manager.filter(state__in=["waiting", "running"]).exists() for kind in REQUESTS)
    )


def perform_worker_chores(tools: Tools) -> int:
    """One beat; returns 0, so that the loop waits before the next."""
    full_disk.resume_builds()
    if full_disk.have_others_stored():
        claims.expire_leases(timezone.now())
        budget.give_up_lost()
        connection_test.give_up_lost()
    expire_reservations()
    claims.free_answered()
    running = Build.objects.filter(state=Build.State.RUNNING).select_related("mining", "tally")
    for build in running.prefetch_related(canary.prefetch_canary()):
        look_after(build)
    look_after_all()
    for build in Build.objects.filter(state__in=[Build.State.RUNNING, Build.State.WAITING], opened=True):
        history.record_build_totals(build, timezone.now())
    round_merge.advance_waiting_merges()
    tools.sandbox.reap()
    if looks_for_seldom("exports", SECONDS_BETWEEN_CLEANINGS):
        remove_old(settings.COSQA_HOME, settings.EXPORT_DAYS, timezone.now())
    return 0


def look_after(build: Build) -> None:
    """Open the cases of a mined build, fail one whose mining failed, end one with nothing left.

    A canary stops its build when it is done; what it left out is opened once a person has said so.
    """
    if not build.opened:
        open_when_mined(build)
    elif canary.rest_is_due(build):
        open_rest(build)
    elif not execution.look_after(build, add_cases):
        if build.tally.open:
            awaited_replies.hold_for_replies(build)
        else:
            end_opened_build(build)


def end_opened_build(build: Build) -> None:
    """Stop a build at its canary, or finish one with no open case."""
    if canary.find_undecided_canary(build):
        canary.stop_at_canary(build)
    elif not watched_pairs.keeps_open(build):
        finish_build(build)


def open_when_mined(build: Build) -> None:
    """Open the cases of a build whose candidates are there, as given pairs always are."""
    mining = build.mining
    if mining is None or mining.state == Mining.State.DONE:
        open_cases(build)
    elif mining.state == Mining.State.FAILED:
        close_build(build, Build.State.FAILED, f"mining failed: {mining.message}")
    else:
        build.tally.change()


def finish_build(build: Build) -> None:
    """Done, unless a person has just sent abandoned cases back: the totals are held while we look again.

    One that writes functions may have no open case between two of them.
    """
    with transaction.atomic():
        build.tally.change()
        writes = Proposal.objects.writing().filter(filling__build=build)
        more = writes.exists() or execution.find_unfinished_extension(build)
        if not more and not Tally.objects.get(pk=build.pk).open:
            close_build(build, Build.State.DONE)


def close_build(build: Build, state: str, reason: str = "") -> None:
    now = timezone.now()
    running = Build.objects.filter(pk=build.pk, state=Build.State.RUNNING)
    done = state == Build.State.DONE
    with transaction.atomic():
        if running.update(state=state, reason=reason, finished_at=now):
            announce_build(build, Webhook.Event.BUILD_DONE if done else Webhook.Event.BUILD_NEEDS_PERSON)
            history.record_build_totals(build, now, always=True)
            build.tally.change()


def open_cases(build: Build) -> int:
    """The cases that a build begins with, once, however many workers try; returns how many are there now.

    That is one for each candidate and round, or those of its canary.
    """
    with transaction.atomic():
        if not Build.objects.filter(pk=build.pk, opened=False).update(opened=True):
            return build.tally.total
        all_of_it = candidates_of_build(build)
        drawn = canary.draw_canary_candidates(build, all_of_it)
        return add_cases(build, Candidate.objects.filter(pk__in=drawn) if drawn else all_of_it)


def open_rest(build: Build) -> int:
    """What the canary left out, once, however many workers try; returns how many are there now."""
    with transaction.atomic():
        if not canary.take_rest(build):
            return build.tally.total
        return add_cases(build, candidates_of_build(build), left_out=canary.find_canary_candidates(build))


def candidates_of_build(build: Build) -> QuerySet[Candidate]:
    """The candidates that a build is to judge: the first of its mining or given pairs, up to its limit.

    One that runs cases of another again has those of the cases that were chosen.
    """
    rerun = case_takeover.rerun_of_build(build)
    if rerun is not None:
        return case_takeover.candidates_of_rerun(rerun)
    return build.proposed.order_by("query_id", "rank")[: build.limit]


def add_cases(build: Build, rows: QuerySet[Candidate], left_out: Collection[int] = ()) -> int:
    """One case a round for each of `rows`, the first round of all of them first.

    One that is run again has behind it what it takes over.
    """
    rerun = case_takeover.rerun_of_build(build)
    if rerun is not None:
        made = case_takeover.add_cases(rerun, rows, left_out)
        refresh_new_cases(build.pk)
        return made
    found = [row for row in rows.values_list(*PROPOSED) if row[0] not in left_out]
    for number in range(1, build.rounds + 1):
        same = {"build": build, "annotator_id": build.annotator_id, "round": number}
        cases = [Case(**same, **dict(zip(CASE_COLUMNS, row, strict=True))) for row in found]
        Case.objects.bulk_create(cases, batch_size=CASES_A_BATCH)
    Tally.objects.get(pk=build.pk).change(screening=len(found) * build.rounds)
    refresh_new_cases(build.pk)  # people may have labelled pairs before this build had them
    return len(found) * build.rounds
