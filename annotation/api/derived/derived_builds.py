"""Extend builds, and run some of their cases again."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Path, Router, Status

from annotation.accounts.roles import Role
from annotation.api.builds.builds import build_detail
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.api.shared.derivations import launch_plan, quote_out
from annotation.api.shared.estimates import range_out
from annotation.derived.extension import chances, execution
from annotation.derived.extension.extension_plan import plan_extension, why_not
from annotation.derived.rerun.launch import Again, RerunPlan, plan_rerun
from annotation.models import Case, Extension
from annotation.schemas.builds.builds import BuildDetail
from annotation.schemas.derived.derived_builds import (
    AgainEstimate,
    AgainIn,
    AgainOrder,
    CancelIn,
    ExtendIn,
    ExtensionEstimate,
    ExtensionOut,
    ExtensionsOut,
    ExtensionWish,
)
from annotation.stages import Stage
from annotation.studies.exposure import mark_list_seen
from annotation.web.derived.rerun import picked_by_words
from annotation.web.money.embedding_costs import list_embedding_costs
from retrieval.schemas import Id

router = Router(tags=["builds"])


@router.get("/{int:pk}/extensions", response=ExtensionsOut, auth=signed_in(Role.ADMIN))
def get_extensions(request: HttpRequest, pk: Path[Id]) -> ExtensionsOut:
    """The chance of a match by rank, the cost of one more candidate, and the extensions. For admins."""
    build = visible.build(request, pk)
    found = chances.by_rank(build)
    rows = build.extensions.select_related("mining", "user")
    return ExtensionsOut.model_validate(
        {
            "refused": why_not(build),
            "chances": found,
            "next": chances.next_candidate(build, found),
            "extensions": [extension_out(row) for row in rows],
        }
    )


@router.post("/{int:pk}/extensions/estimate", response=ExtensionEstimate, auth=signed_in(Role.ADMIN))
def estimate_extension(request: HttpRequest, pk: Path[Id], wanted: ExtensionWish) -> ExtensionEstimate:
    """What an extension would take. Nothing is made. For admins."""
    plan = plan_extension(visible.build(request, pk), wanted)
    return ExtensionEstimate(
        **quote_out(plan), description=plan.words, new_pairs=range_out(plan.pairs), canary=plan.canary
    )


@router.post("/{int:pk}/extensions", response={201: ExtensionOut}, auth=signed_in(Role.ADMIN))
def extend_build(request: HttpRequest, pk: Path[Id], wanted: ExtendIn) -> Status[ExtensionOut]:
    """Let a build go on with further pairs; only those that it has not got are paid for. For admins."""
    plan = plan_extension(visible.build(request, pk), wanted)
    return Status(201, extension_out(launch_plan(request, plan, wanted, wanted.skip_canary)))


@router.post("/{int:pk}/extensions/cancel", response=ExtensionOut, auth=signed_in(Role.ADMIN))
def cancel_extension(request: HttpRequest, pk: Path[Id], wanted: CancelIn) -> ExtensionOut:
    """Take an extension back whose pairs are still mined. For admins."""
    build = visible.build(request, pk)
    execution.cancel_extension(build, visible.caller(request), wanted.reason)
    return extension_out(build.extensions.select_related("mining", "user").latest("number"))


@router.post("/{int:pk}/again/estimate", response=AgainEstimate, auth=signed_in(Role.ADMIN))
def estimate_again(request: HttpRequest, pk: Path[Id], wanted: AgainIn) -> AgainEstimate:
    """What running cases of a build again would take. Nothing is made. For admins."""
    plan = rerun_plan(request, pk, wanted)
    return AgainEstimate(**quote_out(plan), chosen=plan.chosen, cases=plan.able, fresh=plan.order.fresh)


@router.post("/{int:pk}/again", response={201: BuildDetail}, auth=signed_in(Role.ADMIN))
def run_again(request: HttpRequest, pk: Path[Id], wanted: AgainOrder) -> Status[BuildDetail]:
    """Run cases of a build again from a stage on, as another build with another annotator. For admins."""
    made = launch_plan(request, rerun_plan(request, pk, wanted), wanted, wanted.skip_canary)
    return Status(201, build_detail(visible.build(request, made.pk)))


def rerun_plan(request: HttpRequest, pk: int, wanted: AgainIn) -> RerunPlan:
    """The cases that are meant, as the page understands the same words, and what differs."""
    build = visible.build(request, pk)
    found = picked_by_words(build, visible.builds(request), wanted.where, wanted.cases, wanted.flips)
    mark_list_seen(request.user, pk, Case.objects.filter(build=build))  # it is told how many can begin where
    again = Again(wanted.name, Stage(wanted.start), **wanted.differing())
    return plan_rerun(build, found.cases, again, found.words)


def extension_out(row: Extension) -> ExtensionOut:
    return ExtensionOut.of(row, asked=list_embedding_costs(row.mining))
