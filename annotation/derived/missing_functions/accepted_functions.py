"""What accepted functions become: a snippet, a pair, a label 1; each says where it came from.

The snippets lie in a collection of their own beside the build's, which other builds and minings rest on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from django.db.models import Count, F, Max, QuerySet
from django.utils import timezone

from annotation.builds.results.written_functions import find_accepted_decisions
from annotation.models import Build, Filling, Proposal, ProposalDecision
from annotation.models.reviews.labels_in_force import track_people
from retrieval.collections.superset import end_name
from retrieval.filters import NO_RULE, find_passed_rules
from retrieval.models import Annotator, Basis, Collection, Label, Member, Mining, Pair, Text
from retrieval.models.labels import WRITTEN

ENDING: Final = ": written for missing queries"
LONGEST: Final = 200
LONGEST_ORIGIN: Final = 400


def publish_accepted_function(decision: ProposalDecision, text: Text) -> Label:
    """The accepted `text` as snippet, pair and label 1. A text that is a snippet already is only linked."""
    proposal = decision.proposal
    pair = Pair.objects.keep_all([(proposal.query_id, text.pk)])[0]
    if not Member.objects.filter(collection=proposal.filling.of.snippets_id, text=text).exists():
        add_member(decision, text)
    return store_assisted_label(decision, pair, 1, decision.user_id)


def take_back(decision: ProposalDecision, accepted: ProposalDecision) -> Label:
    """Take the label back, in a round of its own, and the snippet out of its collection."""
    assert accepted.text is not None, "what was accepted has its text"
    remove_member(decision.proposal, accepted.text)
    pair = Pair.objects.keep_all([(decision.proposal.query_id, accepted.text.pk)])[0]
    return store_assisted_label(decision, pair, None, accepted.user_id)


def remove_member(proposal: Proposal, text: Text) -> None:
    """Take the snippet out, unless it was accepted for another query too, or a mining has used it since."""
    of = proposal.filling.of
    found = Collection.objects.filter(name=written_functions_name(of), kind=Collection.Kind.SNIPPETS).first()
    if found is None or Mining.objects.filter(snippets=found).exists():
        return
    if accepted_decisions_of_build(of).filter(text=text).exists():
        return
    gone, _ = Member.objects.filter(collection=found, text=text).delete()
    Collection.objects.filter(pk=found.pk).update(size=F("size") - gone)


def add_member(decision: ProposalDecision, text: Text) -> None:
    """The snippet's place in the collection of what was written for the build; held by its size."""
    proposal = decision.proposal
    found = collection_of(proposal.filling.of)
    Collection.objects.filter(pk=found.pk).update(size=F("size") + 1)  # held: one place a snippet
    last = Member.objects.filter(collection=found).aggregate(last=Max("position"))["last"]
    _, made = Member.objects.get_or_create(
        collection=found,
        text=text,
        defaults={
            "position": 0 if last is None else last + 1,
            "source_id": source_id(proposal),
            "origin": origin_of(decision)[:LONGEST_ORIGIN],
            "rules": int(find_passed_rules(text.text) or NO_RULE),
        },
    )
    if not made:
        Collection.objects.filter(pk=found.pk).update(size=F("size") - 1)


def collection_of(build: Build) -> Collection:
    """The collection of the functions written for `build`; made with the first that is accepted."""
    return Collection.objects.get_or_create(
        name=written_functions_name(build),
        kind=Collection.Kind.SNIPPETS,
        version=1,
        defaults={"source": f"functions that agents wrote and experts accepted, build {build.pk}"},
    )[0]


def written_functions_name(build: Build) -> str:
    return end_name(build.name, ENDING)


def source_id(proposal: Proposal) -> str:
    return f"proposal-{proposal.pk}"


def store_assisted_label(decision: ProposalDecision, pair: Pair, value: int | None, who: int) -> Label:
    """The label of user `who`, in the next round: assisted, as the agents' verdict was on screen."""
    annotator = Annotator.objects.version(
        Annotator.Kind.PERSON,
        f"user {who}",
        {"user": who, "decides": WRITTEN},
    )
    said = Label.objects.filter(pair=pair, annotator=annotator).aggregate(last=Max("round"))["last"]
    with track_people([pair.pk]):
        return Label.objects.create(
            pair=pair,
            annotator=annotator,
            round=(said or 0) + 1,
            value=value,
            assisted=True,
            source=label_source_of_decision(decision)[:LONGEST],
            basis=Basis.PERSON,
        )


def label_source_of_decision(decision: ProposalDecision) -> str:
    """Where a label comes from: what was generated, and what the expert did."""
    proposal = decision.proposal
    did = decision.get_action_display()
    return (
        f"proposal {proposal.pk}: generated by call {proposal.call_id}, checked by case {proposal.case_id}, "
        f"{did} by user {decision.user_id}"
    )


def origin_of(decision: ProposalDecision) -> str:
    """The same in a reader's words, for the snippet."""
    proposal = decision.proposal
    who = proposal.call.answered_by or proposal.call.model if proposal.call else proposal.build.model
    did = decision.get_action_display()
    return (
        f"written by {who} for a query without a match in {proposal.filling.of.name}; checked by case "
        f"{proposal.case_id}; {did} by {decision.user.get_username()} on {timezone.now():%Y-%m-%d}"
    )


def accepted_decisions_of_build(build: Build) -> QuerySet[ProposalDecision]:
    """The standing acceptances of functions written for `build`, in the order of the functions."""
    related = (
        "user",
        "text__body",
        "label",
        "proposal__query__body",
        "proposal__call",
        "proposal__case",
        "proposal__filling__build__annotator",
        "check_run__execution",
    )
    return find_accepted_decisions([build]).select_related(*related)


def provenance_of_decision(decision: ProposalDecision) -> dict[str, object]:
    """All that is known of one accepted function, as an export carries it."""
    proposal = decision.proposal
    annotator, case, call = proposal.build.annotator, proposal.case, proposal.call
    run = decision.check_run.execution if decision.check_run else None
    return {
        "generated_by": {
            "annotator": annotator.name,
            "version": annotator.version,
            "model": proposal.build.model,
        },
        "call": call.digest if call else None,
        "answered_by": call.answered_by if call else None,
        "packages": proposal.packages,
        "case": proposal.case_id,
        "agents_label": decision.agent_label,
        "test": case.program_id if case else None,
        "decision": decision.action,
        "decided_by": decision.user.get_username(),
        "decided_at": decision.at.isoformat(),
        "reason": decision.reason,
        "written": proposal.snippet_id and proposal.snippet_id == decision.text_id,
        "test_of_edit": run.outcome if run else None,
    }


def export_accepted_functions(build: Build) -> Iterator[dict[str, object]]:
    """One line for each accepted function: query, code, label, provenance."""
    for decision in accepted_decisions_of_build(build):
        assert decision.text is not None, "what was accepted has its text"
        yield {
            "query": decision.proposal.query.text,
            "code": decision.text.text,
            "label": 1,
            "provenance": provenance_of_decision(decision),
        }


def count_proposals_by_state(fillings: QuerySet[Filling]) -> dict[int, dict[str, int]]:
    """By job: how many of its functions are in each state; those that wait for an expert under `waiting`."""
    rows = Proposal.objects.filter(filling__in=fillings).order_by()
    found = {
        pk: dict.fromkeys([*Proposal.State.values, "waiting"], 0)
        for pk in fillings.values_list("pk", flat=True)
    }
    for pk, state, count in rows.values_list("filling", "state").annotate(count=Count("id")):
        found[pk][state] = count
    for pk, count in rows.for_experts().values_list("filling").annotate(count=Count("id")):
        found[pk]["waiting"] = count
    return found
