"""Read, launch and control builds."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, cast

from django.http import HttpRequest
from ninja import Path, Query, Router, Status

from annotation import caps, launching, progress, steering
from annotation.access import Role
from annotation.api import visible
from annotation.api.auth import signed_in
from annotation.api.estimates import estimate_out, kept_out
from annotation.estimating import confirming
from annotation.estimating.making import estimate
from annotation.models import Batch, Build, BuildEvent, Tally
from annotation.models.builds import NANO
from annotation.pages.embedding import embedded
from annotation.paper_profile import as_in_the_paper
from annotation.schemas.builds import (
    AnnotatorOut,
    AskedOut,
    BatchOut,
    BuildDetail,
    BuildOut,
    BuildPage,
    CapIn,
    CapOut,
    CollectionRef,
    Control,
    Controlled,
    EventOut,
    FailedCall,
    GivenOut,
    GivenPairs,
    LaunchOrder,
    MiningOut,
    Order,
    Progress,
    Reason,
    Resumed,
)
from annotation.schemas.estimates import EstimateOut
from annotation.schemas.fields import BuildState
from annotation.stages import Stage
from annotation.tools import counter
from retrieval.filters import NO_RULE, Rule
from retrieval.filters.queries import QueryRule, query_rule
from retrieval.fusion import Fusion
from retrieval.given_pairs import of_benchmark
from retrieval.models import Annotator, Benchmark, Collection, Mining, PairList
from retrieval.schemas import LARGEST_ID, Id, Page, page_of

router = Router(tags=["builds"])
MOST_EVENTS = 50


@router.get("", response=Page[BuildOut])
def list_builds(request: HttpRequest, wanted: Query[BuildPage]) -> Page[BuildOut]:
    """Builds, the newest first."""
    rows = visible.builds(request).filter(pk__lt=wanted.after or LARGEST_ID).order_by("-pk")
    if wanted.state:
        rows = rows.filter(state=wanted.state)
    return page_of(rows[: wanted.limit + 1], wanted.limit, lambda row: row.pk, build_out)


@router.post("", response={201: BuildDetail}, auth=signed_in(Role.ADMIN))
def launch_build(request: HttpRequest, order: LaunchOrder) -> Status[BuildDetail]:
    """Launch a build; its mining begins as soon as a worker is free. For admins.

    A live build is launched on its estimate, see `/api/builds/estimate`, or by saying `unconfirmed`.
    """
    confirming.refuse_unseen(order.provider, order.estimate, unconfirmed=order.unconfirmed)
    build = confirming.launch(domain_order(order), visible.caller(request), order.estimate)
    return Status(201, build_detail(visible.build(request, build.pk)))


@router.post("/estimate", response=EstimateOut, auth=signed_in(Role.ADMIN))
def estimate_build(request: HttpRequest, order: Order) -> EstimateOut:
    """What a build would take: calls, tokens and dollars by stage. Nothing is launched. For admins."""
    wanted = domain_order(order)
    launching.refuse_bad(wanted)
    return estimate_out(wanted, estimate(wanted, counter(wanted.provider, wanted.model)))


@router.post("/resume", response=Resumed, auth=signed_in(Role.ADMIN))
def resume_stopped(request: HttpRequest) -> Resumed:
    """Resume all builds that stopped at the cap which all live builds share. For admins."""
    return Resumed(builds=[build.pk for build in caps.resume_stopped(visible.caller(request))])


@router.get("/{int:pk}", response=BuildDetail)
def get_build(request: HttpRequest, pk: Path[Id]) -> BuildDetail:
    """One build with its mining, its annotator, its progress and its history."""
    return build_detail(visible.job(request, pk))


@router.post("/{int:pk}/control", response=Controlled, auth=signed_in(Role.ADMIN))
def control_build(request: HttpRequest, pk: Path[Id], order: Control) -> Controlled:
    """Pause, resume or cancel a build, go on after its canary, or retry what it abandoned. For admins."""
    build = visible.job(request, pk)
    action = steering.Action(order.action)
    touched = steering.control(build, action, visible.caller(request), order.note, order.cause)
    build.refresh_from_db(fields=["state"])
    return Controlled(state=cast(BuildState, build.state), cases=touched)


@router.post("/{int:pk}/cap", response=CapOut, auth=signed_in(Role.ADMIN))
def change_cap(request: HttpRequest, pk: Path[Id], wanted: CapIn) -> CapOut:
    """Give a build that is not over another cap, also while it runs. For admins."""
    build = visible.job(request, pk)
    caps.change_cap(build, wanted.budget, visible.caller(request), wanted.reason)
    tally = Tally.objects.get(pk=build.pk)
    return CapOut(
        budget=None if tally.cap is None else dollars(tally.cap),
        reserved=dollars(tally.reserved),
        spent=dollars(tally.spent),
    )


def domain_order(order: Order) -> launching.Order:
    """The order in the domain's terms. Raises LaunchRefused where a collection is missing."""
    wanted = as_ordered(order)
    return as_in_the_paper(wanted) if order.profile == "paper" else wanted


def as_ordered(order: Order) -> launching.Order:
    """The order before its profile counts. Raises LaunchRefused where a collection is missing."""
    given = None if order.pairs is None else given_of(order.pairs)
    return launching.Order(
        name=order.name,
        queries=given.queries if given else collection(order.queries),
        snippets=given.snippets if given else collection(order.snippets),
        given=given,
        encoders=() if given else tuple(order.encoders or ()),
        k=order.k,
        provider=order.provider,
        model=order.model,
        budget=order.budget,
        unpriced=order.unpriced,
        skip_canary=order.skip_canary,
        drift_check=order.drift_check,
        batches=order.batches,
        limit=order.limit,
        rule=NO_RULE if order.rule == "any" else Rule[order.rule.upper()],
        query_rule=query_rule(order.query_rules),
        text_option=order.text_option,
        fusion=Fusion(order.fusion),
        approximate=order.approximate,
        fix_rounds=order.fix_rounds,
        rewrites=order.rewrites,
        reader=order.reader,
        neighbour=order.neighbour,
        withhold_report=order.withhold_report,
        second_test=order.second_test,
        screen_by_query=order.screen_by_query,
        seed=order.seed,
        fresh=order.fresh,
        annotator=launching.Judge(order.annotator),
        rounds=order.rounds,
        sampling=order.sampling,
        why=order.why,
    )


def given_of(wanted: GivenPairs) -> PairList:
    """The list that is named, or that of a benchmark's pairs. Raises LaunchRefused where there is none."""
    if wanted.benchmark is not None:
        benchmark = Benchmark.objects.filter(pk=wanted.benchmark).first()
        if benchmark is None:
            raise launching.LaunchRefused(f"There is no benchmark {wanted.benchmark}.")
        return of_benchmark(benchmark)
    rows = PairList.objects.select_related("queries", "snippets", "benchmark")
    found = rows.filter(pk=wanted.list or 0).first()
    if found is None:
        raise launching.LaunchRefused(f"There is no list of pairs {wanted.list}; POST /api/pairs makes one.")
    return found


def collection(pk: int | None) -> Collection:
    found = Collection.objects.filter(pk=pk or 0).first()
    if found is None:
        raise launching.LaunchRefused(f"There is no collection {pk}; GET /api/collections lists them.")
    return found


def build_out(build: Build) -> BuildOut:
    tally = build.tally
    return BuildOut(
        id=build.pk,
        name=build.name,
        state=cast(BuildState, build.state),
        reason=build.reason,
        waiting_since=build.waiting_since,
        probe_at=build.probe_at,
        waits_for=cast(Literal["provider", "sandbox"], build.waits_for),
        provider=build.provider,
        model=build.model,
        queries=collection_ref(build.queries),
        snippets=collection_ref(build.snippets),
        batches=build.batches,
        limit=build.limit,
        rounds=build.rounds,
        pairs=tally.total,
        settled=tally.settled,
        abandoned=tally.abandoned,
        matches=tally.matches,
        created_by=build.created_by.username if build.created_by else None,
        created_at=build.created_at,
        finished_at=build.finished_at,
    )


def collection_ref(of: Collection) -> CollectionRef:
    return CollectionRef(id=of.pk, name=of.name, version=of.version)


def build_detail(build: Build) -> BuildDetail:
    now = progress.snapshot(build)
    return BuildDetail(
        **build_out(build).dict(),
        mining=mining_out(now.mining) if now.mining else None,
        given=given_out(now.build.given) if now.build.given else None,
        annotator=annotator_out(build.annotator),
        progress=progress_out(now),
        estimate=kept_out(build),
        events=[event_out(event) for event in build.events.select_related("user")[:MOST_EVENTS]],
    )


def mining_out(mining: Mining) -> MiningOut:
    return MiningOut(
        id=mining.pk,
        encoders=mining.encoders,
        k=mining.k,
        limit=mining.limit,
        rules=[str(rule.name).lower() for rule in Rule if mining.rule & rule],
        query_rules=[str(rule.name).lower() for rule in QueryRule if mining.query_rule & rule],
        text_option=mining.text_option,
        fusion=mining.fusion,
        approximate=mining.approximate,
        recall=mining.recall["recall"] if mining.recall else None,
        asked=asked_out(mining),
        state=mining.state,
        phase=mining.phase,
        done=mining.done,
        total=mining.total,
        message=mining.message,
        created_at=mining.created_at,
        finished_at=mining.finished_at,
    )


def given_out(given: PairList) -> GivenOut:
    return GivenOut(
        id=given.pk,
        name=given.name,
        pairs=given.size,
        benchmark=given.benchmark_id,
        digest=given.digest,
        created_at=given.created_at,
    )


def asked_out(mining: Mining) -> list[AskedOut]:
    return [
        AskedOut(
            encoder=one.encoder,
            model=one.model,
            requests=one.requests,
            tokens=one.tokens,
            untold=one.untold,
            cost=None if one.known is None else dollars(one.known),
        )
        for one in embedded(mining)
    ]


def annotator_out(annotator: Annotator) -> AnnotatorOut:
    return AnnotatorOut(
        id=annotator.pk,
        kind=annotator.kind,
        name=annotator.name,
        version=annotator.version,
        config=annotator.config,
    )


def event_out(event: BuildEvent) -> EventOut:
    user = event.user.username if event.user else None
    return EventOut(event=event.event, note=event.note, user=user, at=event.at)


def progress_out(now: progress.Snapshot) -> Progress:
    tally = now.tally
    return Progress(
        version=tally.version,
        stages={stage: getattr(tally, stage) for stage in Stage},
        programs=tally.programs,
        ran=tally.ran,
        executable_rate=tally.rates.executable,
        second_tests=tally.second_tests,
        second_touched=tally.second_touched,
        calls=tally.calls,
        reused=tally.reused,
        input_tokens=tally.input_tokens,
        output_tokens=tally.output_tokens,
        budget=None if tally.cap is None else dollars(tally.cap),
        reserved=dollars(tally.reserved),
        spent=dollars(tally.spent),
        finished_a_minute=now.pace.a_minute,
        seconds_left=now.pace.seconds_left,
        waiting_replies=now.waiting_replies,
        open_batches=[
            batch_out(batch) for batch in Batch.objects.filter(build=now.build).unfinished().order_by("pk")
        ],
        abandoned_because=[Reason(reason=reason, cases=cases) for reason, cases in now.reasons],
        failed_calls=[FailedCall(agent=call.agent, error=call.error) for call in now.errors],
    )


def batch_out(batch: Batch) -> BatchOut:
    return BatchOut(
        stage=batch.stage,
        state=cast(Literal["filling", "sending", "open"], batch.state),
        provider_id=batch.provider_id,
        requests=batch.requests,
        answered=batch.answered,
        returned=batch.returned,
        created_at=batch.created_at,
        sent_at=batch.sent_at,
        look_at=batch.look_at,
        error=batch.error,
    )


def dollars(nano: int) -> Decimal:
    """Exact, without an exponent and without trailing zeros."""
    return Decimal(f"{Decimal(nano) / NANO:f}")
