"""Order functions for the queries of a build that have no match: what is refused, its price, the launch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Self

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation import prompts
from annotation.builds.control.pause_resume import ControlRefused, reopen_build
from annotation.builds.launch import launcher
from annotation.builds.launch.estimates.figures import Estimate
from annotation.builds.launch.estimates.tokens import Counter
from annotation.builds.launch.launcher import Actor
from annotation.builds.launch.order import LaunchRefused
from annotation.builds.limits import canary
from annotation.derived.derivation import Derivation, Launch
from annotation.derived.missing_functions.estimate import estimate_writing_cost
from annotation.derived.missing_functions.orders import FillOrder, unmatched_queries_of_order
from annotation.models import Build, Filling, Proposal, Tally
from annotation.models.builds.build import NANO
from retrieval.models import Annotator, Mining

READY: Final = (Build.State.DONE, Build.State.PAUSED)
BATCH: Final = 2000


@dataclass(frozen=True)
class FillPlan(Derivation[Build]):
    """Functions for `queries`: ids, each with whether its candidates were judged in part only."""

    wish: FillOrder
    queries: tuple[tuple[int, bool], ...]

    @property
    def about(self) -> str:
        kinds = "without a match or not known" if self.wish.unjudged else "without a match"
        count, of = len(self.queries), self.wish.of
        return f"up to {self.wish.tries} functions for each of {count} queries of build {of.pk} {kinds}"

    @property
    def cases(self) -> int:
        return len(self.queries) * self.wish.tries

    @property
    def canary(self) -> int:
        """Always 0: a large live job comes after a small one, which is its canary (`refuse_unseen`)."""
        return 0

    def refuse_bad(self) -> None:
        super().refuse_bad()
        self.refuse_unseen()

    def refuse_unseen(self) -> None:
        """A large live job comes after a small one, which is its canary. Raises LaunchRefused."""
        order = self.wish
        if not self.is_live or order.at_once.strip() or not canary.is_large(self.cases):
            return
        same = Filling.objects.filter(of=order.of, build__model=order.model, build__provider=order.provider)
        if not same.filter(build__state=Build.State.DONE).exists():
            raise LaunchRefused(
                f"That is {len(self.queries):,} queries with up to {order.tries} functions each, and "
                f"{order.model} has written none for this build yet. Have {settings.CANARY_CASES:,} queries "
                "written for first (the limit), see what they cost and what experts say, then order the "
                "others; or say why all at once."
            )

    def hold(self) -> Self:
        """Two jobs of one build never take the same query: the second one counts the first one's."""
        self.wish.of.tally.change()  # held until the rows are there
        held = replace(self, queries=tuple(unmatched_queries_of_order(self.wish)))
        if not held.queries:
            raise LaunchRefused("There is no query to write for: each has a match or a function.")
        return held

    def estimate(self, counter: Counter | None = None) -> Estimate:
        """What it will take, agent by agent."""
        return estimate_writing_cost(self.wish, [pk for pk, _ in self.queries])

    def create(self, launch: Launch) -> Build:
        """A new job; workers begin to write at once."""
        order = self.wish
        build = create_fill_build(order, launch.user)
        launch.keep_estimate(build)
        Tally.objects.create(build=build, cap=None if order.budget is None else int(order.budget * NANO))
        filling = Filling.objects.create(build=build, of=order.of, unjudged=order.unjudged)
        rows = [Proposal(filling=filling, query_id=pk, unjudged=partly) for pk, partly in self.queries]
        Proposal.objects.bulk_create(rows, batch_size=BATCH)
        self.record_launch(build, launch)
        return build

    def record_launch(self, build: Build, launch: Launch) -> None:
        """Who ordered it, why, and for how much: in the history of the job, and in short in its build's."""
        order, queries = self.wish, f"{len(self.queries):,} queries"
        why = f": {launch.reason}" if launch.reason else ""
        words = f"functions for {queries} of {order.of.name}; model {order.model}{why}"
        launcher.record_build_event(build, launch.user, "launched", words)
        launch.record_price(build)
        if order.at_once.strip():
            launcher.record_build_event(build, launch.user, "skipped the canary", order.at_once.strip())
        told = f"{queries} without a match: {build.name}"
        launcher.record_build_event(order.of, launch.user, "functions ordered", told)


def plan_filling(order: FillOrder) -> FillPlan:
    """What writing functions comes to. Raises LaunchRefused."""
    if order.of.state not in READY:
        word = order.of.get_state_display().lower()
        raise LaunchRefused(f"The build is {word}; functions are written once it is done or paused.")
    if hasattr(order.of, "filling"):
        raise LaunchRefused("This job writes functions itself; choose the build that it writes for.")
    if not 1 <= order.tries <= 5:
        raise LaunchRefused("Choose 1 to 5 functions for each query.")
    if order.limit is not None and order.limit < 1:
        raise LaunchRefused("Write for at least one query, or leave the limit empty.")
    return FillPlan(order.whole, order, tuple(unmatched_queries_of_order(order)))


def create_fill_build(order: FillOrder, user: Actor) -> Build:
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
        annotator=annotator_of_fill_order(order),
        provider=order.provider,
        recorded=order.recorded,
        model=order.model,
        opened=True,
        created_by=launcher.account_of_actor(user),
    )


def annotator_of_fill_order(order: FillOrder) -> Annotator:
    """Who writes and checks, as exactly as any annotator; nothing that it says is a label."""
    whole = order.whole
    config = {
        **launcher.asked_of(whole),
        "agents": prompts.hash_agent_prompts(prompts.MISSING),
        "screener": "none",
        "writes_snippets": True,
        "snippet_tries": order.tries,
        "fix_rounds": whole.fix_rounds,
        "rewrites": whole.rewrites,
        "second_test": whole.second_test,
        **launcher.tried_in(),
    }
    return Annotator.objects.version(Annotator.Kind.AGENTS, "function writer and its test", config)


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
        launcher.record_build_event(
            build, user, "wrote again", f"{count:,} functions that could not be written"
        )
    return count


@transaction.atomic
def put_back(build: Build, failed: QuerySet[Proposal]) -> int:
    """Have `failed` written again in a build that works on them: both happen, or neither does."""
    build.tally.change()  # held from here on, so that nobody ends the build meanwhile
    count = failed.update(state=Proposal.State.WRITING, failure="", attempts=0, next_attempt_at=None)
    if count:
        reopen_build(build)
    return count
