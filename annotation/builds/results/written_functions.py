"""Functions that were written for queries without a match and accepted: part of what a build publishes.

A benchmark's snippets are one collection, and nobody changes the build's, on which minings rest. So a
benchmark with such functions has a collection of its own: the build's snippets as far as they were searched,
then what was written (decision 77).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Final

from django.db.models import F, QuerySet

from annotation.models import Build, Proposal, ProposalDecision
from retrieval.collections.superset import MemberRow, end_name, keep_superset
from retrieval.filters import NO_RULE, find_passed_rules
from retrieval.models import Collection, Pair
from retrieval.texts.plurals import count_noun

ACCEPTED: Final = (Proposal.State.ACCEPTED, Proposal.State.EDITED)
ENDING: Final = ", with written functions"
ROWS_AT_ONCE: Final = 2000
LONGEST_ORIGIN: Final = 400


def find_accepted_decisions(builds: Iterable[Build]) -> QuerySet[ProposalDecision]:
    """The standing acceptances of functions written for these builds, in the order of the functions."""
    standing = ProposalDecision.objects.filter(
        proposal__filling__of__in=list(builds),
        proposal__state__in=ACCEPTED,
        revision=F("proposal__revision"),
    )
    return standing.order_by("proposal_id")


def list_written_pairs(builds: Iterable[Build]) -> list[int]:
    """The pairs (ids) of the accepted functions with their queries, each once, in order."""
    said = find_accepted_decisions(builds).values_list("proposal__query", "text")
    wanted = set(said.filter(text__isnull=False))
    if not wanted:
        return []
    rows = Pair.objects.filter(
        query__in={query for query, _ in wanted}, snippet__in={text for _, text in wanted}
    )
    found = rows.values_list("pk", "query", "snippet")
    return sorted(pk for pk, query, snippet in found if (query, snippet) in wanted)


def describe_written_count(count: int) -> str:
    """What people must know of a benchmark with so many such functions; empty for none."""
    if not count:
        return ""
    functions = count_noun(count, "function was", "functions were")
    return f"{functions} written by agents for queries without a match and accepted by experts."


def add_written_functions(
    snippets: Collection, until: int | None, builds: Iterable[Build]
) -> tuple[Collection, int | None]:
    """The snippets before position `until`, followed by the accepted functions that are not among them.

    The collection itself where there is no such function; the one made before, where it has just these.
    """
    members = snippets.members.all() if until is None else snippets.members.filter(position__lt=until)
    told = find_accepted_decisions(builds).filter(text__isnull=False).exclude(text__in=members.values("text"))
    related = "text__body", "proposal__call", "proposal__filling__build"
    new = {one.text_id: one for one in told.select_related(*related) if one.text_id is not None}
    if not new:
        return snippets, until
    columns = "text_id", "source_id", "origin", "licence", "rules", "partition"
    copied = members.order_by("position").values_list(*columns).iterator(ROWS_AT_ONCE)
    made = keep_superset(
        snippets,
        end_name(snippets.name, ENDING),
        f"{snippets}; functions that agents wrote and experts accepted",
        [*members.order_by("position").values_list("text_id", flat=True), *new],
        chain(copied, map(build_member_row, new.values())),
    )
    return made, None


def build_member_row(decision: ProposalDecision) -> MemberRow:
    """The accepted function as a member."""
    assert decision.text is not None, "only such decisions are asked for"
    rules = find_passed_rules(decision.text.text) or NO_RULE
    origin = describe_written_origin(decision)[:LONGEST_ORIGIN]
    return decision.text.pk, f"written-{decision.proposal_id}", origin, "", int(rules), ""


def describe_written_origin(decision: ProposalDecision) -> str:
    """What a published snippet says of where it came from; names nobody."""
    proposal = decision.proposal
    who = proposal.call.answered_by or proposal.call.model if proposal.call else proposal.build.model
    did = decision.get_action_display()
    return f"written by {who} for a query without a match; tested by agents; {did} by an expert"
