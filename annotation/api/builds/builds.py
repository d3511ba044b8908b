"""Read, launch and control builds."""

from __future__ import annotations

from typing import Any, cast

from django.http import HttpRequest
from ninja import Path, Query, Router, Status

from annotation.accounts.roles import Role
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.api.shared.derivations import launch_plan, quote_out
from annotation.api.shared.estimates import kept_out
from annotation.api.shared.names import NoSuchName, find_collection
from annotation.builds.control import pause_resume, review_rule, spending_caps
from annotation.builds.launch.estimates import confirmation
from annotation.builds.launch.order import USUAL_ENCODERS, Judge, LaunchRefused
from annotation.builds.launch.order import Order as BuildOrder
from annotation.builds.launch.paper_profile import ENCODERS, as_in_the_paper
from annotation.builds.results import progress
from annotation.derived.derivation import Decision, OrderPlan, Who, orders_of
from annotation.derived.experts_queue import queue_pairs_for_experts
from annotation.models import Batch, Build, Tally
from annotation.review.hidden_labels import hide_totals_in_force
from annotation.schemas.builds.builds import (
    BuildDetail,
    BuildOut,
    BuildPage,
    CapIn,
    CapOut,
    Control,
    Controlled,
    GivenPairs,
    LaunchOrder,
    MiningOut,
    Order,
    Progress,
    Resumed,
    ReviewRuleIn,
    ReviewRuleOut,
    SeveralOrder,
)
from annotation.schemas.shared.estimates import EstimateOut
from annotation.schemas.shared.fields import BuildState
from annotation.stages import Stage
from annotation.web.money.embedding_costs import list_embedding_costs
from retrieval.filters import NO_RULE, Rule
from retrieval.filters.queries import QueryRule, query_rule
from retrieval.fusion import Fusion
from retrieval.given_pairs import of_benchmark
from retrieval.mining.search_scope import scope_of_mining
from retrieval.models import Benchmark, Collection, Mining, PairList
from retrieval.models.versions import find_version
from retrieval.schemas import LARGEST_ID, Id, Page

router = Router(tags=["builds"])
MOST_EVENTS = 50


@router.get("", response=Page[BuildOut])
def list_builds(request: HttpRequest, wanted: Query[BuildPage]) -> Page[Build]:
    """Builds, the newest first."""
    rows = visible.builds(request).filter(pk__lt=wanted.after or LARGEST_ID).order_by("-pk")
    if wanted.state:
        rows = rows.filter(state=wanted.state)
    page = wanted.page(rows)
    hide_totals_in_force(request.user, page.items)
    return page


@router.post("", response={201: BuildDetail}, auth=signed_in(Role.ADMIN))
def launch_build(request: HttpRequest, order: LaunchOrder) -> Status[BuildDetail]:
    """Launch a build; its mining begins as soon as a worker is free. For admins.

    A live build is launched on its estimate, see `/api/builds/estimate`, or by saying `unconfirmed`.
    """
    build = launch_plan(request, OrderPlan(domain_order(order)), order)
    return Status(201, build_detail(visible.build(request, build.pk)))


@router.post("/several", response={201: list[BuildDetail]}, auth=signed_in(Role.ADMIN))
def launch_several(request: HttpRequest, order: SeveralOrder) -> Status[list[BuildDetail]]:
    """Have given pairs judged by several annotators: a build each, a queue for experts. For admins.

    Live builds are launched here by saying `unconfirmed`; to see what each costs, launch them one by one.
    """
    confirmation.refuse_unseen(order.provider, "", unconfirmed=order.unconfirmed)
    who, user, wanted = Who.named(list(order.annotators)), visible.caller(request), domain_order(order)
    builds = [OrderPlan(own).launch(Decision(user)) for own in orders_of(wanted, who)]
    if who.experts:
        builds.append(queue_pairs_for_experts(wanted, who, user))
    return Status(201, [build_detail(visible.build(request, build.pk)) for build in builds])


@router.post("/estimate", response=EstimateOut, auth=signed_in(Role.ADMIN))
def estimate_build(request: HttpRequest, order: Order) -> EstimateOut:
    """What a build would take: calls, tokens and dollars by stage. Nothing is launched. For admins."""
    return EstimateOut(**quote_out(OrderPlan(domain_order(order))))


@router.post("/resume", response=Resumed, auth=signed_in(Role.ADMIN))
def resume_stopped(request: HttpRequest) -> Resumed:
    """Resume all builds that stopped at the cap which all live builds share. For admins."""
    return Resumed(builds=[build.pk for build in spending_caps.resume_stopped(visible.caller(request))])


@router.get("/{int:pk}", response=BuildDetail)
def get_build(request: HttpRequest, pk: Path[Id]) -> BuildDetail:
    """One build with its mining, its annotator, its progress and its history."""
    build = visible.job(request, pk)
    hide_totals_in_force(request.user, [build])
    return build_detail(build)


@router.post("/{int:pk}/control", response=Controlled, auth=signed_in(Role.ADMIN))
def control_build(request: HttpRequest, pk: Path[Id], order: Control) -> Controlled:
    """Pause, resume or cancel a build, go on after its canary, or retry what it abandoned. For admins."""
    build = visible.job(request, pk)
    action = pause_resume.Action(order.action)
    touched = pause_resume.control_build(build, action, visible.caller(request), order.reason, order.cause)
    build.refresh_from_db(fields=["state"])
    return Controlled(state=cast(BuildState, build.state), cases=touched)


@router.post("/{int:pk}/cap", response=CapOut, auth=signed_in(Role.ADMIN))
def change_cap(request: HttpRequest, pk: Path[Id], wanted: CapIn) -> Tally:
    """Give a build that is not over another cap, also while it runs. For admins."""
    build = visible.job(request, pk)
    spending_caps.change_cap(build, wanted.budget, visible.caller(request), wanted.reason)
    return Tally.objects.get(pk=build.pk)


@router.post("/{int:pk}/review-rule", response=ReviewRuleOut, auth=signed_in(Role.ADMIN))
def change_review_rule(request: HttpRequest, pk: Path[Id], wanted: ReviewRuleIn) -> ReviewRuleOut:
    """Have experts' labels count at once, or when two agree, and hide them or not. For admins.

    All labels in force follow.
    """
    build = visible.build(request, pk)
    user, reason = visible.caller(request), wanted.reason
    changed = review_rule.change_review_rule(build, wanted.reviews_needed, user, reason)
    if wanted.hides_reviews is not None:
        review_rule.switch_hidden_reviews(build, wanted.hides_reviews, user, reason)
    return ReviewRuleOut(
        reviews_needed=wanted.reviews_needed, hides_reviews=build.hides_reviews, changed=changed
    )


def domain_order(order: Order) -> BuildOrder:
    """The order in the domain's terms. Raises LaunchRefused where a collection is missing."""
    wanted = as_ordered(order)
    return as_in_the_paper(wanted) if order.profile == "paper" else wanted


def as_ordered(order: Order) -> BuildOrder:
    """The order before its profile counts. Raises LaunchRefused where a collection is missing."""
    given = None if order.pairs is None else given_of(order.pairs)
    read: dict[str, Any] = {
        "queries": given.queries if given else collection(order.queries, "queries"),
        "snippets": given.snippets if given else collection(order.functions, "snippets"),
        "given": given,
        "encoders": () if given else choose_encoders(order),
        "rule": NO_RULE if order.rule == "any" else Rule[order.rule.upper()],
        "query_rule": query_rule(order.query_rules),
        "fusion": Fusion(order.fusion),
        "annotator": Judge(order.annotator),
    }
    same = Order.model_fields.keys() - read.keys() - {"functions", "pairs", "query_rules", "profile"}
    return BuildOrder(**order.dict(include=same), **read)


def given_of(wanted: GivenPairs) -> PairList:
    """The list that is named, or that of a benchmark's pairs. Raises LaunchRefused where there is none."""
    if wanted.benchmark is not None:
        benchmark = find_version(Benchmark.objects.all(), wanted.benchmark)
        if benchmark is None:
            raise LaunchRefused(
                f"There is no benchmark {wanted.benchmark!r}; GET /api/benchmarks lists them."
            )
        return of_benchmark(benchmark)
    rows = PairList.objects.select_related("queries", "snippets", "benchmark")
    found = rows.filter(pk=wanted.list or 0).first()
    if found is None:
        raise LaunchRefused(f"There is no list of pairs {wanted.list}; POST /api/pairs makes one.")
    return found


def choose_encoders(order: Order) -> tuple[str, ...]:
    """Those that are named; else what the form proposes, or with its profile the paper's."""
    return tuple(order.encoders or (ENCODERS if order.profile == "paper" else USUAL_ENCODERS))


def collection(wanted: int | str | None, kind: str) -> Collection:
    """Raises LaunchRefused."""
    try:
        return find_collection(wanted or 0, kind)
    except NoSuchName as why:
        raise LaunchRefused(str(why)) from why


def build_detail(build: Build) -> BuildDetail:
    now = progress.take_progress_snapshot(build)
    return BuildDetail.of(
        build,
        mining=mining_out(now.mining) if now.mining else None,
        progress=Progress.of(
            now.tally,
            stages={stage: getattr(now.tally, stage) for stage in Stage},
            finished_a_minute=now.pace.a_minute,
            seconds_left=now.pace.seconds_left,
            waiting_replies=now.waiting_replies,
            open_batches=list(Batch.objects.filter(build=now.build).unfinished().order_by("pk")),
            abandoned_because=[{"reason": reason, "cases": cases} for reason, cases in now.reasons],
            failed_calls=list(now.errors),
        ),
        estimate=kept_out(build),
        events=list(build.events.select_related("user")[:MOST_EVENTS]),
    )


def mining_out(mining: Mining) -> MiningOut:
    scope = scope_of_mining(mining)
    return MiningOut.of(
        mining,
        searched=scope.searched,
        left_out=scope.left_out,
        rules=[str(rule.name).lower() for rule in Rule if mining.rule & rule],
        query_rules=[str(rule.name).lower() for rule in QueryRule if mining.query_rule & rule],
        recall=mining.recall["recall"] if mining.recall else None,
        asked=list_embedding_costs(mining),
    )
