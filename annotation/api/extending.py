"""Extend builds, and run cases of them again."""

from __future__ import annotations

from typing import cast

from django.http import HttpRequest
from ninja import Path, Router, Status

from annotation.access import Role
from annotation.api import visible
from annotation.api.auth import signed_in
from annotation.api.builds import asked_out, build_detail, dollars
from annotation.api.canary import mean_out, share_out
from annotation.api.estimates import figures_out, range_out
from annotation.estimating import confirming
from annotation.estimating.confirming import signed
from annotation.extending import chances, doing, wishing
from annotation.extending.chances import NextCandidate
from annotation.extending.wishing import Wish
from annotation.models import Build, Extension
from annotation.pages.rerunning import Picked, picked_by_words
from annotation.rerunning import ordering
from annotation.rerunning.ordering import Again
from annotation.schemas.builds import BuildDetail
from annotation.schemas.extending import (
    AgainEstimate,
    AgainIn,
    AgainOrder,
    CancelIn,
    ChanceOut,
    ExtendIn,
    ExtensionEstimate,
    ExtensionOut,
    ExtensionsOut,
    ExtensionState,
    NextOut,
    WishIn,
)
from annotation.stages import Stage
from annotation.tools import counter
from retrieval.schemas import Id

router = Router(tags=["builds"])


@router.get("/{int:pk}/extensions", response=ExtensionsOut, auth=signed_in(Role.ADMIN))
def get_extensions(request: HttpRequest, pk: Path[Id]) -> ExtensionsOut:
    """The chance of a match by rank, the cost of one more candidate, and the extensions. For admins."""
    build = visible.build(request, pk)
    found = chances.by_rank(build)
    further = chances.next_candidate(build, found)
    return ExtensionsOut(
        refused=wishing.why_not(build),
        chances=[ChanceOut(rank=one.rank, matches=share_out(one.matches)) for one in found],
        next=None if further is None else next_out(further),
        extensions=[extension_out(row) for row in build.extensions.select_related("mining", "user")],
    )


@router.post("/{int:pk}/extensions/estimate", response=ExtensionEstimate, auth=signed_in(Role.ADMIN))
def estimate_extension(request: HttpRequest, pk: Path[Id], wanted: WishIn) -> ExtensionEstimate:
    """What an extension would take. Nothing is made. For admins."""
    build = visible.build(request, pk)
    plan = wishing.plan(build, wish_of(wanted))
    found = wishing.price(build, plan, counter(build.provider, build.model))
    return ExtensionEstimate(
        **figures_out(found).dict(),
        words=plan.words,
        new_pairs=range_out(plan.pairs),
        canary=wishing.canary_of(build, plan),
        confirm=signed(wishing.order_for(build, plan), found, wishing.about(build, plan)),
    )


@router.post("/{int:pk}/extensions", response={201: ExtensionOut}, auth=signed_in(Role.ADMIN))
def extend_build(request: HttpRequest, pk: Path[Id], wanted: ExtendIn) -> Status[ExtensionOut]:
    """Let a build go on with further pairs; only those that it has not got are paid for. For admins."""
    build, user = visible.build(request, pk), visible.caller(request)
    wish = wish_of(wanted)
    confirming.refuse_unseen(build.provider, wanted.estimate, unconfirmed=wanted.unconfirmed)
    made = doing.extend(build, wish, wanted.why, user, wanted.estimate, wanted.skip_canary)
    return Status(201, extension_out(made))


@router.post("/{int:pk}/extensions/cancel", response=ExtensionOut, auth=signed_in(Role.ADMIN))
def cancel_extension(request: HttpRequest, pk: Path[Id], wanted: CancelIn) -> ExtensionOut:
    """Take an extension back whose pairs are still mined. For admins."""
    build = visible.build(request, pk)
    doing.cancel(build, visible.caller(request), wanted.note)
    return extension_out(build.extensions.select_related("mining", "user").latest("number"))


@router.post("/{int:pk}/again/estimate", response=AgainEstimate, auth=signed_in(Role.ADMIN))
def estimate_again(request: HttpRequest, pk: Path[Id], wanted: AgainIn) -> AgainEstimate:
    """What running cases of a build again would take. Nothing is made. For admins."""
    build = visible.build(request, pk)
    plan = ordering.plan(build, picked_by(request, build, wanted).cases, again_of(wanted))
    ordering.refuse_bad(plan)
    found = ordering.price(plan, counter(plan.order.provider, plan.order.model))
    return AgainEstimate(
        **figures_out(found).dict(),
        chosen=plan.chosen,
        cases=plan.able,
        fresh=plan.order.fresh,
        confirm=signed(plan.order, found, ordering.about(plan)),
    )


@router.post("/{int:pk}/again", response={201: BuildDetail}, auth=signed_in(Role.ADMIN))
def run_again(request: HttpRequest, pk: Path[Id], wanted: AgainOrder) -> Status[BuildDetail]:
    """Run cases of a build again from a stage on, as another build with another annotator. For admins."""
    build = visible.build(request, pk)
    found, user = picked_by(request, build, wanted), visible.caller(request)
    wish = again_of(wanted)
    confirming.refuse_unseen(wish.provider or build.provider, wanted.estimate, unconfirmed=wanted.unconfirmed)
    made = ordering.launch(build, found.cases, wish, wanted.why, user, wanted.estimate, found.words)
    return Status(201, build_detail(visible.build(request, made.pk)))


def picked_by(request: HttpRequest, build: Build, wanted: AgainIn) -> Picked:
    """The cases that are meant, as the page understands the same words."""
    return picked_by_words(build, visible.builds(request), wanted.where, wanted.cases, wanted.flips)


def again_of(wanted: AgainIn) -> Again:
    return Again(wanted.name, Stage(wanted.start), **wanted.differing())


def wish_of(wanted: WishIn) -> Wish:
    return Wish(wanted.k, wanted.queries, wanted.seed, wanted.newer)


def next_out(found: NextCandidate) -> NextOut:
    return NextOut(
        rank=found.rank,
        queries=found.queries,
        a_pair=dollars(round(found.a_pair)),
        total=dollars(round(found.total)),
        chance=share_out(found.chance),
        a_match=None if found.a_match is None else mean_out(found.a_match),
    )


def extension_out(row: Extension) -> ExtensionOut:
    return ExtensionOut(
        number=row.number,
        words=row.words,
        state=cast(ExtensionState, row.state),
        mining=row.mining_id,
        asked=asked_out(row.mining),
        k=row.mining.k,
        seed=row.mining.seed,
        pairs=row.pairs,
        user=row.user.username if row.user else None,
        why=row.why,
        at=row.at,
        ended_at=row.ended_at,
    )
