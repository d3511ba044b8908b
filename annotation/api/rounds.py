"""The rounds of a build, and the merge that makes one label of them."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Path, Router, Status

from annotation import merging
from annotation.access import Role
from annotation.agreement import Figure
from annotation.api import visible
from annotation.api.auth import signed_in
from annotation.api.builds import dollars
from annotation.merging import WORDS, Outlook, Rule, outlook
from annotation.models import Merge
from annotation.rounds import Agreement, Round, rounds_of
from annotation.schemas.rounds import (
    AgreementOut,
    FigureOut,
    MergeIn,
    MergeOut,
    OutlookOut,
    RoundOut,
    RoundsOut,
    SaidOut,
)
from retrieval.schemas import Id

router = Router(tags=["builds"])
MOST_MERGES = 50


@router.get("/{int:pk}/rounds", response=RoundsOut)
def get_rounds(request: HttpRequest, pk: Path[Id]) -> RoundsOut:
    """The build's rounds: what each said and took, alpha between them, what each rule would make of them."""
    build = visible.build(request, pk)
    found = rounds_of(build)
    merges = Merge.objects.filter(build=build).select_related("annotator", "asked_by")
    return RoundsOut(
        build=build.pk,
        pairs=found.pairs,
        parted=found.parted,
        rounds=[round_out(one) for one in found.rounds],
        said=[
            SaidOut(matches=said.matches, no_matches=said.no_matches, pairs=pairs)
            for said, pairs in found.said.items()
        ],
        agreement=agreement_out(found.agreement) if found.agreement else None,
        rules=[outlook_out(outlook(rule, found.said)) for rule in Rule],
        merges=[merge_out(row) for row in merges[:MOST_MERGES]],
    )


@router.post("/{int:pk}/merges", response={201: MergeOut}, auth=signed_in(Role.ADMIN))
def merge_rounds(request: HttpRequest, pk: Path[Id], wanted: MergeIn) -> Status[MergeOut]:
    """Have the rounds of a build that is over merged by a rule: labels of another annotator. For admins."""
    row = merging.merge(visible.build(request, pk), Rule(wanted.rule), visible.caller(request))
    return Status(201, merge_out(row))


def round_out(found: Round) -> RoundOut:
    return RoundOut(
        number=found.number,
        cases=found.cases,
        settled=found.settled,
        matches=found.matches,
        abandoned=found.abandoned,
        screened=found.screened,
        unclear=found.unclear,
        calls=found.calls,
        dollars=dollars(found.cost),
    )


def agreement_out(found: Agreement) -> AgreementOut:
    return AgreementOut(
        pairs=found.pairs,
        queries=found.queries,
        alpha=figure_out(found.alpha),
        alike=figure_out(found.alike),
    )


def figure_out(found: Figure) -> FigureOut:
    return FigureOut(value=found.value, low=found.low, high=found.high, undefined=found.undefined)


def outlook_out(found: Outlook) -> OutlookOut:
    return OutlookOut(
        rule=found.rule.value,
        words=WORDS[found.rule][1],
        matches=found.matches,
        no_matches=found.no_matches,
        unjudged=found.unjudged,
    )


def merge_out(row: Merge) -> MergeOut:
    return MergeOut(
        id=row.pk,
        rule=row.rule,
        annotator=row.annotator.version,
        asked_by=row.asked_by.get_username() if row.asked_by else None,
        asked_at=row.asked_at,
        finished_at=row.finished_at,
        pairs=row.pairs,
        given=row.given,
        withdrawn=row.withdrawn,
    )
