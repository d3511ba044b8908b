"""The rounds of a build, and the merge that makes one label of them."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Path, Router, Status

from annotation.accounts.roles import Role
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.builds.results.rounds import rounds_of
from annotation.derived import round_merge
from annotation.derived.round_merge import WORDS, Rule, preview_merge
from annotation.models import Merge
from annotation.schemas.builds.rounds import MergeIn, MergeOut, MergeOutlookOut, RoundsOut, RoundVotesOut
from retrieval.schemas import Id

router = Router(tags=["builds"])
MOST_MERGES = 50


@router.get("/{int:pk}/rounds", response=RoundsOut)
def get_rounds(request: HttpRequest, pk: Path[Id]) -> RoundsOut:
    """The build's rounds: what each said and took, alpha between them, what each rule would make of them."""
    build = visible.build(request, pk)
    found = rounds_of(build)
    merges = Merge.objects.filter(build=build).select_related("annotator", "asked_by")
    return RoundsOut.of(
        found,
        build=build.pk,
        said=[
            RoundVotesOut(matches=said.matches, no_matches=said.no_matches, pairs=pairs)
            for said, pairs in found.said.items()
        ],
        rules=[MergeOutlookOut.of(preview_merge(rule, found.said), words=WORDS[rule][1]) for rule in Rule],
        merges=list(merges[:MOST_MERGES]),
    )


@router.post("/{int:pk}/merges", response={201: MergeOut}, auth=signed_in(Role.ADMIN))
def merge_rounds(request: HttpRequest, pk: Path[Id], wanted: MergeIn) -> Status[Merge]:
    """Have the rounds of a build that is over merged by a rule: labels of another annotator. For admins."""
    row = round_merge.request_round_merge(
        visible.build(request, pk), Rule(wanted.rule), visible.caller(request)
    )
    return Status(201, row)
