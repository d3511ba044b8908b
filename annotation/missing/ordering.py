"""Order functions for the queries of a build that have no match: what is refused, its price, the launch."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation import canary, launching, prompts
from annotation.estimating import confirming
from annotation.estimating.figures import Estimate
from annotation.launching import Actor, LaunchRefused
from annotation.missing.estimating import estimate
from annotation.missing.orders import FillOrder, queries_of
from annotation.models import Build, Filling, Proposal, Tally
from annotation.models.builds import NANO
from annotation.steering import ControlRefused, reopen
from retrieval.models import Annotator, Mining

READY: Final = (Build.State.DONE, Build.State.PAUSED)
BATCH: Final = 2000


def refuse_bad(order: FillOrder) -> None:
    """Everything that can be known to be wrong before any work. Raises LaunchRefused."""
    if order.of.state not in READY:
        word = order.of.get_state_display().lower()
        raise LaunchRefused(f"The build is {word}; functions are written once it is done or paused.")
    if hasattr(order.of, "filling"):
        raise LaunchRefused("This job writes functions itself; choose the build that it writes for.")
    if not 1 <= order.tries <= 5:
        raise LaunchRefused("Choose 1 to 5 functions a query at most.")
    if order.limit is not None and order.limit < 1:
        raise LaunchRefused("Write for at least one query, or leave the limit empty.")
    launching.refuse_bad_name(order.whole)
    launching.refuse_bad_provider(order.whole)
    refuse_unseen(order)


def refuse_unseen(order: FillOrder) -> None:
    """A large live job comes after a small one, which is its canary. Raises LaunchRefused."""
    if order.provider != Build.Provider.LIVE or order.at_once.strip():
        return
    queries = len(queries_of(order))
    if not canary.is_large(queries * order.tries):
        return
    same = Filling.objects.filter(of=order.of, build__model=order.model, build__provider=order.provider)
    if not same.filter(build__state=Build.State.DONE).exists():
        raise LaunchRefused(
            f"That is {queries:,} queries with up to {order.tries} functions each, and {order.model} has "
            f"written none for this build yet. Have {settings.CANARY_CASES:,} queries written for first (the "
            "limit), see what they cost and what experts say, then order the others; or say why all at once."
        )


def price(order: FillOrder) -> Estimate:
    """What it will take, agent by agent."""
    return estimate(order, [pk for pk, _ in queries_of(order)])


def about(order: FillOrder, queries: int) -> str:
    """What a confirmation is for."""
    kinds = "without a match or not known" if order.unjudged else "without a match"
    return f"up to {order.tries} functions for each of {queries} queries of build {order.of.pk} {kinds}"


def word_of(order: FillOrder, found: Estimate) -> str:
    """The word that `launch` takes of somebody who has seen the estimate."""
    return confirming.signed(order.whole, found, about(order, found.queries))


def launch(order: FillOrder, user: Actor = None, word: str = "") -> Build:
    """A new job; workers begin to write at once. `word` confirms the estimate that was seen.

    Raises LaunchRefused.
    """
    refuse_bad(order)
    unseen = None if word else price(order)  # before the rows are held: it takes a while
    try:
        with transaction.atomic():
            return launched(order, user, word, unseen)
    except IntegrityError:
        launching.refuse_bad_name(order.whole)  # somebody, or a second click, took the name meanwhile
        raise


def launched(order: FillOrder, user: Actor, word: str, unseen: Estimate | None) -> Build:
    """The rows of a job; two of one build never take the same query. Raises LaunchRefused."""
    order.of.tally.change()  # held until the rows are there: another launch counts them then
    wanted = queries_of(order)
    if not wanted:
        raise LaunchRefused("There is no query to write for: each has a match, or a function already.")
    figures = unseen or confirming.confirmed(order.whole, word, about(order, len(wanted)))
    build = build_of(order, user)
    build.estimate = figures.to_json()
    build.save(update_fields=["estimate"])
    Tally.objects.create(build=build, cap=None if order.budget is None else int(order.budget * NANO))
    filling = Filling.objects.create(build=build, of=order.of, unjudged=order.unjudged)
    Proposal.objects.bulk_create(
        [Proposal(filling=filling, query_id=pk, unjudged=partly) for pk, partly in wanted], batch_size=BATCH
    )
    record_launch(order, build, user, len(wanted), figures, confirmed=bool(word))
    return build


def record_launch(
    order: FillOrder, build: Build, user: Actor, queries: int, figures: Estimate, *, confirmed: bool
) -> None:
    """Who ordered it, why, and on which estimate: in the history of the job, and in short in its build's."""
    why = f": {order.why.strip()}" if order.why.strip() else ""
    words = f"functions for {queries:,} queries of {order.of.name}; model {order.model}{why}"
    launching.record(build, user, "launched", words)
    event = "estimate confirmed" if confirmed else "estimated, confirmed by nobody"
    launching.record(build, user, event, confirming.in_words(figures))
    if order.at_once.strip():
        launching.record(build, user, "skipped the canary", order.at_once.strip())
    told = f"{queries:,} queries without a match: {build.name}"
    launching.record(order.of, user, "functions ordered", told)


def build_of(order: FillOrder, user: Actor) -> Build:
    """The job's build. Its mining found nothing and never runs: the candidates are what is written."""
    now = timezone.now()
    mining = Mining.objects.create(
        queries=order.of.queries,
        snippets=order.of.snippets,
        encoders=[],
        k=1,
        state=Mining.State.DONE,
        finished_at=now,
    )
    return Build.objects.create(
        name=order.name.strip(),
        queries=order.of.queries,
        snippets=order.of.snippets,
        mining=mining,
        annotator=annotator_of(order),
        provider=order.provider,
        recorded=order.recorded,
        model=order.model,
        opened=True,
        created_by=launching.person(user),
    )


def annotator_of(order: FillOrder) -> Annotator:
    """Who writes and checks, as exactly as any annotator; nothing that it says is a label."""
    whole = order.whole
    config = {
        **launching.asked_of(whole),
        "agents": prompts.hashes(prompts.MISSING),
        "screener": "none",
        "writes_snippets": True,
        "snippet_tries": order.tries,
        "fix_rounds": whole.fix_rounds,
        "rewrites": whole.rewrites,
        "second_test": whole.second_test,
        **launching.tried_in(),
    }
    return Annotator.objects.version(Annotator.Kind.AGENTS, "snippet writer and its test", config)


def write_again(build: Build, user: Actor = None) -> int:
    """Have every function written that could not be; returns how many. Raises ControlRefused."""
    build.refresh_from_db(fields=["state"])
    if build.state == Build.State.CANCELLED:
        raise ControlRefused("The job was cancelled; order the functions again under another name.")
    # A later one that failed has an earlier one before an expert: its query is not left without.
    failed = Proposal.objects.filter(filling__build=build, state=Proposal.State.FAILED, number=1)
    count, last = 0, 0
    while some := list(failed.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True)[:BATCH]):
        count, last = count + put_back(build, failed.filter(pk__in=some)), some[-1]
    if count:
        launching.record(build, user, "wrote again", f"{count:,} functions that could not be written")
    return count


@transaction.atomic
def put_back(build: Build, failed: QuerySet[Proposal]) -> int:
    """Have `failed` written again in a build that works on them: both happen, or neither does."""
    build.tally.change()  # held from here on, so that nobody ends the build meanwhile
    count = failed.update(state=Proposal.State.WRITING, failure="", attempts=0, next_attempt_at=None)
    if count:
        reopen(build)
    return count
