"""Unjudged results of a run: have them judged by agents or experts, and publish what comes of it."""

from __future__ import annotations

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router, Status

from annotation.accounts.roles import Role, builds_visible_to
from annotation.api.benchmarks.benchmarks import visible_benchmark
from annotation.api.builds.builds import build_detail
from annotation.api.project.jobs import job_out
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.api.shared.derivations import launch_plan, quote_out
from annotation.api.shared.names import NoSuchName, find_build
from annotation.builds.launch.launcher import LONGEST_NAME
from annotation.derived.unjudged_results import Fill, plan_hole_filling, queue_holes_for_experts
from annotation.models import Build
from annotation.schemas.benchmarks.unjudged_results import (
    UnjudgedBuildOut,
    UnjudgedEstimate,
    UnjudgedIn,
    UnjudgedOrder,
    UnjudgedPublishIn,
)
from annotation.schemas.builds.builds import BuildDetail
from annotation.schemas.project.jobs import JobOut
from annotation.web.derived.unjudged_results import find_builds_over_holes, order_hole_publication
from retrieval.models import Benchmark, Run
from retrieval.schemas import LARGEST_ID, Id, Page, Paging

router = Router(tags=["benchmarks"], auth=signed_in(Role.ADMIN))


@router.get("/{int:pk}/unjudged", response=Page[UnjudgedBuildOut])
def list_unjudged_builds(request: HttpRequest, pk: Path[Id], wanted: Query[Paging]) -> Page[Build]:
    """Builds and experts' queues over unjudged results of its runs, the newest first. For admins."""
    rows = find_builds_over_holes(visible_benchmark(request, pk), builds_visible_to(request.user))
    return wanted.page(rows.filter(pk__lt=wanted.after or LARGEST_ID).order_by("-pk"))


@router.post("/{int:pk}/unjudged/estimate", response=UnjudgedEstimate)
def estimate_unjudged(request: HttpRequest, pk: Path[Id], wanted: UnjudgedIn) -> UnjudgedEstimate:
    """What having a run's unjudged results judged would take. Nothing is made. For admins."""
    plan = plan_hole_filling(fill_of(request, pk, wanted))
    return UnjudgedEstimate(**quote_out(plan), unjudged=plan.pairs)


@router.post("/{int:pk}/unjudged", response={201: BuildDetail})
def judge_unjudged(request: HttpRequest, pk: Path[Id], wanted: UnjudgedOrder) -> Status[BuildDetail]:
    """Have the unjudged results of a run judged by agents, as a build of its own. For admins."""
    plan = plan_hole_filling(fill_of(request, pk, wanted))
    made = launch_plan(request, plan, wanted, wanted.skip_canary)
    return Status(201, build_detail(visible.build(request, made.pk)))


@router.post("/{int:pk}/unjudged/experts", response={201: BuildDetail})
def queue_unjudged(request: HttpRequest, pk: Path[Id], wanted: UnjudgedIn) -> Status[BuildDetail]:
    """Have experts judge the unjudged results of a run, in plain review; no agent is asked. For admins."""
    fill = fill_of(request, pk, wanted)
    made = queue_holes_for_experts(fill, visible.caller(request), wanted.reason)
    return Status(201, build_detail(visible.build(request, made.pk)))


@router.post("/{int:pk}/unjudged/publish", response={201: JobOut})
def publish_unjudged(request: HttpRequest, pk: Path[Id], wanted: UnjudgedPublishIn) -> Status[JobOut]:
    """Publish the benchmark's next version with what a build said of unjudged results. For admins.

    All runs are scored by it. The job's `result` names the new version.
    """
    benchmark = visible_benchmark(request, pk)
    named = find_build(request.user, wanted.build)
    build = get_object_or_404(find_builds_over_holes(benchmark, builds_visible_to(request.user)), pk=named.pk)
    return Status(201, job_out(order_hole_publication(build, visible.caller(request))))


def fill_of(request: HttpRequest, pk: int, wanted: UnjudgedIn) -> Fill:
    """The wish in the domain's terms. Raises Http404 and NoSuchName."""
    benchmark = visible_benchmark(request, pk)
    answering = wanted.dict(include={"depth", "provider", "model", "budget", "unpriced"})
    return Fill(
        run=find_run(benchmark, wanted.run),
        name=wanted.name or f"{benchmark} filled"[:LONGEST_NAME],
        like=None if wanted.like is None else find_build(request.user, wanted.like),
        **answering,
    )


def find_run(benchmark: Benchmark, wanted: int | str) -> Run:
    """The run of this id, or the newest of a system. Raises NoSuchName."""
    column = "pk" if isinstance(wanted, int) else "system"
    found: Run | None = benchmark.runs.filter(**{column: wanted}).order_by("-pk").first()
    if found is None:
        lists = f"GET /api/benchmarks/{benchmark.pk}/runs lists them"
        raise NoSuchName(f"{benchmark} has no run {wanted!r}; {lists}.")
    return found
