"""Functions that were written for queries without a match and accepted: part of what a build publishes.

A benchmark's snippets are one collection, and nobody changes the build's, on which minings rest. So a
benchmark with such functions has a collection of its own: the build's snippets as far as they were searched,
then what was written (decision 77).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from django.db.models import F, QuerySet

from annotation.models import Build, Proposal, ProposalDecision
from retrieval.collections.aliases import copy_aliases
from retrieval.collections.importer import MEMBER_COLUMNS
from retrieval.filters import Rule, Unreadable, rules_of
from retrieval.models import Collection, Member, Pair, statements
from retrieval.texts.plurals import count_noun

ACCEPTED: Final = (Proposal.State.ACCEPTED, Proposal.State.EDITED)
ENDING: Final = ", with written functions"
ROWS_AT_ONCE: Final = 2000
LONGEST_NAME: Final = 120
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
    new = list({one.text_id: one for one in told.select_related(*related)}.values())
    if not new:
        return snippets, until
    name = f"{snippets.name[: LONGEST_NAME - len(ENDING)]}{ENDING}"
    before = Collection.objects.filter(name=name, kind=snippets.kind).order_by("-version").first()
    copied = list(members.order_by("position").values_list("text_id", flat=True))
    texts = [*copied, *(one.text_id for one in new)]
    if before and list(before.members.order_by("position").values_list("text_id", flat=True)) == texts:
        return before, None
    made = Collection.objects.create(
        name=name,
        kind=snippets.kind,
        version=before.version + 1 if before else 1,
        source=f"{snippets}; functions that agents wrote and experts accepted"[:400],
        size=len(texts),
    )
    copy_members(snippets, members, made, copied)
    write_members(new, made, len(copied))
    return made, None


def copy_members(
    snippets: Collection, members: QuerySet[Member], made: Collection, texts: Sequence[int]
) -> None:
    """The members, whose texts are `texts`, with their further ids, at the places that they have."""
    columns = ("text_id", "position", "source_id", "origin", "licence", "rules", "partition")
    rows = members.order_by("position").values_list(*columns).iterator(ROWS_AT_ONCE)
    while some := list(islice(rows, ROWS_AT_ONCE)):
        statements.insert_all(Member, MEMBER_COLUMNS, [(made.pk, *row) for row in some])
    copy_aliases(snippets, made, texts)


def write_members(decisions: Sequence[ProposalDecision], made: Collection, start: int) -> None:
    """The accepted functions as members from position `start` on."""
    Member.objects.bulk_create(
        [
            Member(
                collection=made,
                text=decision.text,
                position=start + place,
                source_id=f"written-{decision.proposal_id}",
                origin=describe_written_origin(decision)[:LONGEST_ORIGIN],
                rules=int(rule_of_function_code(decision.text.text)),
            )
            for place, decision in enumerate(decisions)
            if decision.text is not None
        ],
        batch_size=500,
    )


def describe_written_origin(decision: ProposalDecision) -> str:
    """What a published snippet says of where it came from; names nobody."""
    proposal = decision.proposal
    who = proposal.call.answered_by or proposal.call.model if proposal.call else proposal.build.model
    did = decision.get_action_display()
    return f"written by {who} for a query without a match; tested by agents; {did} by an expert"


def rule_of_function_code(code: str) -> Rule:
    try:
        return rules_of(code)
    except Unreadable:
        return Rule(0)
