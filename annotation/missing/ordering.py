"""Order functions for the queries of a build that have no match: what it may cost, and the job's launch."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import numpy as np
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation import canary, launching, prompts
from annotation.launching import Actor, LaunchRefused
from annotation.missing import counting
from annotation.models import Build, Filling, Proposal, Tally
from annotation.models.builds import NANO
from annotation.steering import ControlRefused, reopen
from retrieval.models import Annotator, Mining
from sandbox.program import Limits

TRIES: Final = 2
"""A function that its test denied is written anew once; then the expert gets it, marked so."""
READY: Final = (Build.State.DONE, Build.State.PAUSED)
BATCH: Final = 2000
SEED: Final = 1
"""Draws the queries of a job with a limit."""


@dataclass(frozen=True)
class FillOrder:
    """What an admin asks for. `unjudged`: also queries of which some candidates could not be judged.

    `tries`: how many functions are written for a query at most while the agents deny them. `limit`: so many
    queries at most, drawn by `SEED`. `at_once`: why a large live job does without a small one before it. The
    others are as in `launching.Order`; the path of a function is that of the build's agents, without a
    screener.
    """

    of: Build
    name: str
    provider: str
    model: str
    recorded: str = ""
    budget: Decimal | None = None
    unpriced: bool = False
    unjudged: bool = False
    tries: int = TRIES
    limit: int | None = None
    at_once: str = ""

    @property
    def whole(self) -> launching.Order:
        """In the terms of any launch."""
        said = self.of.annotator.config
        return launching.Order(
            name=self.name,
            queries=self.of.queries,
            snippets=self.of.snippets,
            encoders=(),
            k=1,
            provider=self.provider,
            model=self.model,
            recorded=self.recorded,
            budget=self.budget,
            unpriced=self.unpriced,
            sampling=said.get("sampling", {}),
            fix_rounds=said.get("fix_rounds", 2),
            rewrites=said.get("rewrites", 1),
            second_test=said.get("second_test", False),
        )


def queries_of(order: FillOrder) -> list[tuple[int, bool]]:
    """The queries (ids) that a function is written for, each with whether it was judged in part only."""
    found = [(pk, False) for pk in counting.without_match(order.of).values_list("pk", flat=True)]
    if order.unjudged:
        found += [(pk, True) for pk in counting.unjudged(order.of).values_list("pk", flat=True)]
    if order.limit is None or order.limit >= len(found):
        return found
    places = np.random.default_rng(SEED).choice(len(found), order.limit, replace=False)
    return [found[place] for place in sorted(places)]


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


def launch(order: FillOrder, user: Actor = None) -> Build:
    """A new job; workers begin to write at once. Raises LaunchRefused."""
    refuse_bad(order)
    try:
        with transaction.atomic():
            return launched(order, user)
    except IntegrityError:
        launching.refuse_bad_name(order.whole)  # somebody, or a second click, took the name meanwhile
        raise


def launched(order: FillOrder, user: Actor) -> Build:
    """The rows of a job; two of one build never take the same query. Raises LaunchRefused."""
    order.of.tally.change()  # held until the rows are there: another launch counts them then
    wanted = queries_of(order)
    if not wanted:
        raise LaunchRefused("There is no query to write for: each has a match, or a function already.")
    build = build_of(order, user)
    Tally.objects.create(build=build, cap=None if order.budget is None else int(order.budget * NANO))
    filling = Filling.objects.create(build=build, of=order.of, unjudged=order.unjudged)
    Proposal.objects.bulk_create(
        [Proposal(filling=filling, query_id=pk, unjudged=partly) for pk, partly in wanted], batch_size=BATCH
    )
    words = f"functions for {len(wanted):,} queries of {order.of.name}; model {order.model}"
    launching.record(build, user, "launched", words)
    if order.at_once.strip():
        launching.record(build, user, "skipped the canary", order.at_once.strip())
    launching.record(
        order.of, user, "functions ordered", f"{len(wanted):,} queries without a match: {build.name}"
    )
    return build


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
        "limits": Limits().digest(),
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
