"""The queries of a build, and each one's candidates."""

from __future__ import annotations

from collections import defaultdict
from operator import itemgetter
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from ninja import Path, Query, Router

from annotation.api.shared import visible
from annotation.models import Build, Case
from annotation.review.hidden_labels import counted_label, find_hidden_pairs, hide_labels_in_force
from annotation.schemas.builds.cases import CandidateOut, QueryOut, QueryPage
from annotation.stages import Stage
from annotation.studies.exposure import mark_counts_seen, mark_seen
from retrieval.models import Candidate, QueryText, Text
from retrieval.schemas import Id, Page, Paging

router = Router(tags=["queries"])


@router.get("/{int:pk}/queries", response=Page[QueryOut])
def list_queries(request: HttpRequest, pk: Path[Id], wanted: Query[QueryPage]) -> Page[dict[str, Any]]:
    """The queries that have cases in the build, each with counts over its candidates in the first round."""
    build = visible.build(request, pk)
    rows = Case.objects.filter(build=build, round=1, query__gt=wanted.after or 0)
    if wanted.q:
        rows = rows.filter(query__in=QueryText.objects.containing(wanted.q).values("text"))
    counts = COUNTS | count_labels(counted_label(request.user, build))
    counted = rows.values("query").annotate(**counts).order_by("query")
    page: Page[Any] = wanted.page(counted, itemgetter("query"))
    texts = Text.objects.in_bulk([row["query"] for row in page.items])
    judged = [row for row in page.items if row["settled"]]
    told = [row["query"] for row in judged if row["matches"] in {0, row["settled"]}]
    mark_counts_seen(request.user, Case.objects.filter(build=build, round=1), told)
    return Page(items=[{**row, "query": texts[row["query"]]} for row in page.items], next=page.next)


@router.get("/{int:pk}/queries/{int:query}/candidates", response=Page[CandidateOut])
def list_candidates(
    request: HttpRequest, pk: Path[Id], query: Path[Id], wanted: Query[Paging]
) -> Page[CandidateOut]:
    """A query's candidates by rank, with scores and with what became of each.

    Those that an extension has added have the rank that they have in its own mining.
    """
    build = visible.build(request, pk)
    rows = behind(proposed(build, query), wanted.after or 0)
    page = wanted.page(rows.select_related("pair__snippet").order_by("rank", "pk"))
    mark_seen(request.user, [candidate.pair_id for candidate in page.items])
    cases: dict[int, list[Case]] = defaultdict(list)
    hidden = find_hidden_pairs(request.user, build, [candidate.pair_id for candidate in page.items])
    found = list(Case.objects.filter(build=build, candidate__in=page.items).order_by("round"))
    hide_labels_in_force(found, hidden)
    for case in found:
        cases[case.candidate_id].append(case)
    return Page(items=[candidate_out(row, cases[row.pk]) for row in page.items], next=page.next)


def proposed(build: Build, query: int) -> QuerySet[Candidate]:
    """The candidates of a build's mining or given pairs, and those of its extensions that it has taken up.

    One that runs cases of another again has those alone: the mining was for the other.
    """
    taken = Q(Exists(Case.objects.filter(build=build, candidate=OuterRef("pk"))))
    own = Q(pair_list=build.pair_list_id) if build.mining_id is None else Q(mining=build.mining_id)
    wanted = taken if hasattr(build, "rerun") else taken | own
    return Candidate.objects.filter(wanted, query=query)


def behind(rows: QuerySet[Candidate], after: int) -> QuerySet[Candidate]:
    """The rows that come after candidate `after` by (rank, id); all of them where there is no such one."""
    last = Candidate.objects.filter(pk=after).values_list("rank", flat=True).first() if after else None
    return rows if last is None else rows.filter(Q(rank__gt=last) | Q(rank=last, pk__gt=after))


COUNTS = {
    "candidates": Count("pk"),
    "settled": Count("pk", filter=Q(stage=Stage.SETTLED)),
    "matches": Count("pk", filter=Q(label=1)),
    "abandoned": Count("pk", filter=Q(stage=Stage.ABANDONED)),
}


def count_labels(column: str) -> dict[str, Count]:
    """How many candidates have each label, by the column."""
    names = {"matches_in_force": 1, "no_matches_in_force": 0}
    return {name: Count("pk", filter=Q(**{column: value})) for name, value in names.items()}


def candidate_out(candidate: Candidate, rounds: list[Case]) -> CandidateOut:
    score = None if candidate.mining_id is None else candidate.score
    return CandidateOut.of(candidate, score=score, case=rounds[0] if rounds else None, rounds=rounds)
