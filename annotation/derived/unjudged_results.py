"""Have the unjudged results of a run judged, by a small build or by experts, and publish what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from django.db import transaction

from annotation.builds.launch import launcher
from annotation.builds.launch.from_build import order_of
from annotation.builds.launch.launcher import Actor
from annotation.builds.launch.order import LaunchRefused, Order, asking_nobody
from annotation.builds.results.publication import PublishRefused, note_published, said_of
from annotation.derived.derivation import Derivation, Launch
from annotation.derived.experts_queue import queue_for_experts
from annotation.models import Build
from retrieval.evaluation.holes import (
    DEEPEST,
    DEPTH,
    NoHoles,
    holes_of,
    mine_run_holes,
    publish_filled,
)
from retrieval.evaluation.runs.carried_runs import rescore_runs
from retrieval.evaluation.runs.system_run import Tick
from retrieval.filters import Rule
from retrieval.models import Benchmark, Holes, Run
from retrieval.texts.plurals import count_noun


@dataclass(frozen=True)
class Fill:
    """What is wanted: whose holes, down to which rank, and who answers; `like` None = the usual agents."""

    run: Run
    name: str
    depth: int = DEPTH
    like: Build | None = None
    provider: str = Build.Provider.EXCHANGE
    model: str = "any"
    recorded: str = ""
    budget: Decimal | None = None
    unpriced: bool = False


@dataclass(frozen=True)
class HoleFillingPlan(Derivation[Build]):
    """Have the unjudged results of a run judged: how many pairs that makes."""

    run: Run
    depth: int
    pairs: int

    @property
    def about(self) -> str:
        return f"{self.pairs} holes of run {self.run.pk}"

    @property
    def cases(self) -> int:
        return self.pairs * self.order.rounds

    def create(self, launch: Launch) -> Build:
        """A new build that judges the holes."""
        holes = mine_run_holes(self.run, self.depth)
        order = replace(self.order, limit=None, reason=launch.reason, skip_canary=launch.skip_canary)
        build = launcher.create_build_rows(order, launch.user, holes.mining)
        launch.keep_estimate(build)
        told = f"{describe_holes(holes)}; {launch.price_line}"
        launcher.record_build_event(build, launch.user, "fills holes", told)
        return build


def plan_hole_filling(fill: Fill) -> HoleFillingPlan:
    """What filling the holes comes to. Raises LaunchRefused and `NoHoles`."""
    if not 1 <= fill.depth <= DEEPEST:
        raise LaunchRefused(f"Look at the first 1 to {DEEPEST:,} results of each query.")
    pairs = holes_of(fill.run, fill.depth)
    if not pairs:
        raise NoHoles(f"Every one of the first {fill.depth} results of {fill.run.title} is judged.")
    return HoleFillingPlan(order_for(fill, pairs), fill.run, fill.depth, pairs)


def order_for(fill: Fill, pairs: int) -> Order:
    """The order of the pairs: judged as in the build that is named, but for who answers."""
    benchmark = fill.run.benchmark
    usual = (
        order_of(fill.like)
        if fill.like
        else Order(fill.name, benchmark.queries, benchmark.snippets, encoders=())
    )
    return replace(
        usual,
        name=fill.name,
        queries=benchmark.queries,
        snippets=benchmark.snippets,
        encoders=(f"results of {fill.run.title}",),
        k=fill.depth,
        limit=pairs,
        rule=Rule(0),
        **{name: getattr(fill, name) for name in ("provider", "model", "recorded", "budget", "unpriced")},
        batches=False,
        drift_check=False,
        fresh=False,
    )


def describe_holes(holes: Holes) -> str:
    """How many, of which system, on which benchmark: for the history."""
    return f"{count_noun(holes.pairs, 'unjudged result')} of {holes.run.title} on {holes.run.benchmark}"


def queue_holes_for_experts(fill: Fill, user: Actor = None, why: str = "") -> Build:
    """The holes as a queue for experts; no agent is asked. Raises LaunchRefused and `NoHoles`."""
    plan = plan_hole_filling(fill)
    order = replace(asking_nobody(plan.order), limit=None, reason=why)

    def rows() -> tuple[Build, str]:
        holes = mine_run_holes(plan.run, plan.depth, people=True)
        return launcher.create_build_rows(order, user, holes.mining), describe_holes(holes)

    return queue_for_experts(order, user, rows)


def publish_filled_benchmark(build: Build, by: Actor = None, tick: Tick = lambda queries: None) -> Benchmark:
    """The next version of the benchmark, with what the merge rule says of the build's pairs; its runs scored.

    A queue for experts can be published whenever one of its pairs has a label that counts. Doing it twice
    makes one version. `tick` is called with the number of queries scored since. Raises `NoHoles`.
    """
    holes = filled_by(build)
    try:
        filled = list(said_of(build, unfinished=holes.people))
    except PublishRefused as why:
        raise NoHoles(str(why)) from why
    if not filled:
        raise NoHoles(
            f"“{build}” has judged none of the pairs yet. People’s labels count once a study "
            "has published them, or once two agree in plain review."
        )
    who = f"people, in “{build}”" if holes.people else str(build.annotator)
    with transaction.atomic():
        made = publish_filled(holes, filled, who)
        note_published(build, by, made)
    rescore_runs(holes.run.benchmark, made, tick)
    return made


def filled_by(build: Build) -> Holes:
    """The holes that the build judges, if they can be published now. Raises `NoHoles`."""
    holes = Holes.objects.filter(mining=build.mining_id).select_related("run__benchmark", "mining").first()
    if holes is None:
        raise NoHoles(f"Build “{build}” was not launched to fill the holes of a run.")
    if not build.is_over and not holes.people:
        raise NoHoles(f"Build “{build}” is {build.get_state_display().lower()}: publish when it is done.")
    return holes
