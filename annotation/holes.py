"""Have the unjudged results of a run judged, by a small build or by experts, and publish what comes of it.

The experts' queue is a build that is paused from the beginning: its pairs wait in plain review, and a study
can draw them. Whoever resumes it has agents judge them as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from django.db import IntegrityError, transaction

from annotation import launching
from annotation.estimating import confirming
from annotation.estimating.figures import Estimate
from annotation.estimating.making import estimate
from annotation.estimating.tokens import Counter
from annotation.launching import Actor, LaunchRefused, Order
from annotation.models import Build, Case, Tally
from annotation.ordered import order_of
from annotation.releasing import PublishRefused, note_published, said_of
from retrieval.counting import counted
from retrieval.evaluation.holes import DEEPEST, DEPTH, NoHoles, carry, holes_of, mined, publish_filled
from retrieval.evaluation.running import Tick
from retrieval.filters import Rule
from retrieval.models import Benchmark, Holes, Run

LONGEST_NAME: Final = launching.LONGEST_NAME
CASES_A_BATCH: Final = 1000
FOR_EXPERTS: Final = "for experts: people judge its pairs; resumed, agents judge them too, answered by file"


@dataclass(frozen=True)
class Fill:
    """What is wanted: whose holes, down to which rank, and who answers; `like` None = the usual agents.

    `why`: for the history of the build.
    """

    run: Run
    name: str
    depth: int = DEPTH
    like: Build | None = None
    provider: str = Build.Provider.EXCHANGE
    model: str = "any"
    recorded: str = ""
    budget: Decimal | None = None
    unpriced: bool = False
    why: str = ""


@dataclass(frozen=True)
class Plan:
    """What comes of it: so many pairs, as an order."""

    fill: Fill
    order: Order
    pairs: int


def plan(fill: Fill) -> Plan:
    """What filling the holes comes to. Raises LaunchRefused and `NoHoles`."""
    if not 1 <= fill.depth <= DEEPEST:
        raise LaunchRefused(f"Look at the first 1 to {DEEPEST:,} results of each query.")
    pairs = holes_of(fill.run, fill.depth)
    if not pairs:
        raise NoHoles(f"Every one of the first {fill.depth} results of {fill.run.title} is judged.")
    return Plan(fill, order_for(fill, pairs), pairs)


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
        provider=fill.provider,
        model=fill.model,
        recorded=fill.recorded,
        budget=fill.budget,
        unpriced=fill.unpriced,
        why=fill.why,
        batches=False,
        drift_check=False,
        fresh=False,
    )


def price(found: Plan, counter: Counter | None = None) -> Estimate:
    """What it will take, stage by stage."""
    return estimate(found.order, counter)


def about(found: Plan) -> str:
    """What a confirmation is for."""
    return f"{found.pairs} holes of run {found.fill.run.pk}"


def refuse_bad(found: Plan) -> None:
    """What can be known to be wrong before any work. Raises LaunchRefused."""
    launching.refuse_bad_name(found.order)
    launching.refuse_bad_provider(found.order)


def launch(fill: Fill, user: Actor = None, word: str = "") -> Build:
    """A new build that judges the holes. `word` confirms the estimate that was seen.

    Raises LaunchRefused and `NoHoles`.
    """
    found = plan(fill)
    refuse_bad(found)
    figures = confirming.confirmed(found.order, word, about(found)) if word else price(found)
    try:
        with transaction.atomic():
            holes = mined(fill.run, fill.depth)
            build = launching.launched(replace(found.order, limit=None), user, holes.mining)
            build.estimate = figures.to_json()
            build.save(update_fields=["estimate"])
            told = f"{counted(holes.pairs, 'unjudged result')} of {fill.run.title} on {fill.run.benchmark}"
            seen = "" if word else ", confirmed by nobody"
            launching.record(build, user, "fills holes", f"{told}; {confirming.in_words(figures)}{seen}")
            return build
    except IntegrityError:
        launching.refuse_bad_name(found.order)  # somebody, or a second click, took the name meanwhile
        raise


def queue(fill: Fill, user: Actor = None) -> Build:
    """The holes as a queue for experts; no agent is asked. Raises LaunchRefused and `NoHoles`."""
    found = plan(replace(fill, provider=Build.Provider.EXCHANGE, model="any", recorded="", budget=None))
    launching.refuse_bad_name(found.order)
    try:
        with transaction.atomic():
            holes = mined(fill.run, fill.depth, people=True)
            build = launching.launched(replace(found.order, limit=None), user, holes.mining)
            Build.objects.filter(pk=build.pk).update(
                state=Build.State.PAUSED, reason=FOR_EXPERTS, opened=True
            )
            open_for_review(build)
            told = f"{counted(holes.pairs, 'unjudged result')} of {fill.run.title} on {fill.run.benchmark}"
            launching.record(build, user, "queued for experts", told)
    except IntegrityError:
        launching.refuse_bad_name(found.order)  # as in `launch`
        raise
    return Build.objects.select_related("mining").get(pk=build.pk)


def open_for_review(build: Build) -> None:
    """One case for each pair; nobody works on them while the build is paused."""
    columns = "pk", "pair_id", "query_id", "rank", "score"
    rows = build.proposed.order_by("query_id", "rank").values_list(*columns)[: build.limit]
    cases = [
        Case(
            build=build,
            candidate_id=candidate,
            pair_id=pair,
            query_id=query,
            rank=rank,
            score=score,
            annotator_id=build.annotator_id,
        )
        for candidate, pair, query, rank, score in rows
    ]
    Case.objects.bulk_create(cases, batch_size=CASES_A_BATCH)
    Tally.objects.get(pk=build.pk).change(screening=len(cases))


def publish(build: Build, by: Actor = None, tick: Tick = lambda queries: None) -> Benchmark:
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
            f"“{build}” has judged none of the pairs yet. Of people’s labels those count that a study "
            "published and those of which two agree in plain review."
        )
    who = f"people, in “{build}”" if holes.people else str(build.annotator)
    with transaction.atomic():
        made = publish_filled(holes, filled, who)
        note_published(build, by, made)
    carry(holes.run.benchmark, made, tick)
    return made


def filled_by(build: Build) -> Holes:
    """The holes that the build judges, if they can be published now. Raises `NoHoles`."""
    holes = Holes.objects.filter(mining=build.mining_id).select_related("run__benchmark", "mining").first()
    if holes is None:
        raise NoHoles(f"Build “{build}” was not launched to fill the holes of a run.")
    if not build.is_over and not holes.people:
        raise NoHoles(f"Build “{build}” is {build.get_state_display().lower()}: publish when it is done.")
    return holes
