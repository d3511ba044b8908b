"""The build whose money and replies a reranker uses: it has no cases, and nothing that it says is a label.

So its requests go the way of all others: stored before use, asked once, within a cap, by file or live.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotation import prompts
from annotation.agents.reranker import MOST_AT_ONCE, NAME
from annotation.builds.launch import launcher
from annotation.builds.launch.launcher import Actor
from annotation.builds.launch.prices import is_priced
from annotation.llm import host_of
from annotation.models import Build, Tally
from annotation.models.builds.build import NANO
from annotation.models.builds.calls import RERANKS
from retrieval.encoders.rerankers import LANGUAGE_MODEL
from retrieval.evaluation.leaderboard import find_newest_runs
from retrieval.evaluation.systems.names import join_second_stage, split_second_stage
from retrieval.models import Annotator, Benchmark, Mining, Run

LONGEST_NAME: Final = 120
WAITS: Final = "It is a reranker’s: “cosqa admin rerank” asks its requests and takes the replies up."


class RerankRefused(ValueError):
    """The model can't be asked; the message says what to do."""


@dataclass(frozen=True, slots=True)
class RerankOrder:
    """Which run's first `depth` results a model ranks again, who answers, and within how many dollars."""

    run: Run
    depth: int
    model: str
    provider: str = Build.Provider.EXCHANGE
    recorded: str = ""
    budget: Decimal | None = None
    unpriced: bool = False
    sampling: dict[str, Any] = field(default_factory=dict)

    @property
    def system(self) -> str:
        """What the system with this second stage is called."""
        return join_second_stage(self.run.system, self.depth, f"{LANGUAGE_MODEL}:{self.model}")

    @property
    def name(self) -> str:
        """What the build is called: one for each system and benchmark, so that an order continues itself."""
        return f"{self.system} on {self.run.benchmark}, run {self.run.pk}"


def find_first_stage(benchmark: Benchmark, system: str) -> Run:
    """The newest run of a system whose lists can be ranked again. Raises RerankRefused."""
    runs = find_newest_runs(benchmark, benchmark.pool)
    for run in runs:
        if system in (run.system, run.title):
            return run
    known = ", ".join(repr(run.title) for run in runs) or "none"
    raise RerankRefused(
        f"{benchmark} has no run of {system!r}: score it first with 'cosqa evaluate'. There are {known}."
    )


def refuse_bad_order(order: RerankOrder) -> None:
    """Raises RerankRefused for what can't be asked."""
    if not 2 <= order.depth <= MOST_AT_ONCE:
        raise RerankRefused(f"A model ranks 2 to {MOST_AT_ONCE} results of a query in one request.")
    if split_second_stage(order.run.system)[1]:
        raise RerankRefused(f"{order.run.system!r} has a second stage already: name its first stage.")
    if len(order.name) > LONGEST_NAME:
        raise RerankRefused(f"The name {order.name!r} has more than {LONGEST_NAME} characters.")
    if order.provider != Build.Provider.LIVE:
        return
    if launcher.lacks_key():
        raise RerankRefused("The live provider wants a key, and none is configured.")
    if why := launcher.why_uncounted(order.model):
        raise RerankRefused(why)
    if not order.unpriced and not is_priced(order.model):
        raise RerankRefused(
            f"Nobody has entered a price of {order.model}, so a cap would not hold: enter it with 'cosqa "
            "admin prices', or add --unpriced."
        )


@transaction.atomic
def open_ranking_build(order: RerankOrder, user: Actor = None) -> Build:
    """The build of this order, made once. Its cap is that of the last order. Raises RerankRefused."""
    refuse_bad_order(order)
    cap = None if order.budget is None else int(order.budget * NANO)
    found = Build.objects.select_related("tally", "annotator").filter(name=order.name).first()
    if found is not None:
        if found.provider != order.provider or found.annotator != annotator_of(order):
            raise RerankRefused(
                f"The build {found.name!r} asked in another way ({found.get_provider_display()}): an order "
                "continues as it began."
            )
        Tally.objects.filter(build=found).update(cap=cap)
        return found
    benchmark, now = order.run.benchmark, timezone.now()
    members = {"queries": benchmark.queries, "snippets": benchmark.snippets}
    mining = Mining.objects.create(**members, encoders=[], k=1, state=Mining.State.DONE, finished_at=now)
    build = Build.objects.create(
        **members,
        name=order.name,
        mining=mining,
        annotator=annotator_of(order),
        provider=order.provider,
        recorded=order.recorded,
        model=order.model,
        state=Build.State.PAUSED,
        reason=WAITS,
        opened=True,
        created_by=launcher.account_of_actor(user),
    )
    Tally.objects.create(build=build, cap=cap)
    launcher.record_build_event(build, user, "launched", f"a reranker; model {order.model}")
    return build


def annotator_of(order: RerankOrder) -> Annotator:
    """Who ranks, as exactly as any annotator."""
    config = {
        "model": order.model,
        "base_url": host_of(settings.LLM_BASE_URL) if order.provider == Build.Provider.LIVE else "",
        "sampling": order.sampling,
        "salt": "",
        "agents": prompts.hash_agent_prompts(prompts.RANKING),
        RERANKS: True,
    }
    return Annotator.objects.version(Annotator.Kind.AGENTS, NAME, config)


def close_ranking_build(build: Build) -> None:
    """All is answered: the build is done."""
    Build.objects.filter(pk=build.pk).update(state=Build.State.DONE, reason="", finished_at=timezone.now())
    build.tally.change()
