"""The expert's queue of written functions: one function with its check, the decision, the runs of an edit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.contrib.auth.models import User
from django.db.models import QuerySet

from annotation.derived.missing_functions import function_decisions
from annotation.derived.missing_functions import function_edits as editing
from annotation.derived.missing_functions.accepted_functions import (
    accepted_decisions_of_build,
    count_proposals_by_state,
)
from annotation.derived.missing_functions.function_decisions import DecidedMeanwhile, ProposalChoice
from annotation.models import Build, Case, Draft, ExecutionRequest, Filling, Proposal, ProposalDecision
from annotation.review import drafts
from annotation.web.cases.code import LIST_BOUNDS, Code, code_of
from annotation.web.cases.evidence import RELATED as EVIDENCE
from annotation.web.cases.evidence import candidate_code, evidence_of, execution_view
from annotation.web.review.drafts import choose_field_text
from annotation.web.review.keys import key_views
from annotation.web.review.runs import describe_request_state, request_sign
from annotation.web.shared.words import UNJUDGED, Sign, case_sign
from retrieval.models import Text

RELATED: Final = (
    "query__body",
    "snippet__body",
    "call",
    "filling__of__tally",
    "filling__build__tally",
    "filling__build__annotator",
    *(f"case__{name}" for name in EVIDENCE),
)
MOST_LISTED: Final = 200
State = Proposal.State
SIGNS: Final[Mapping[str, Sign]] = {
    State.WRITING: Sign("…", "being written"),
    State.WRITTEN: Sign("?", "waits for an expert", "info"),
    State.FAILED: Sign("!", "could not be written", "warn"),
    State.REPLACED: Sign("↺", "denied, written again"),
    State.ACCEPTED: Sign("✓", "accepted", "good"),
    State.EDITED: Sign("✎", "accepted with changes", "good"),
    State.REJECTED: Sign("✗", "rejected", "bad"),
}
CHECKING: Final = Sign("…", "being tested")
DONE: Final[Mapping[str, Sign]] = {
    "accept": SIGNS[State.ACCEPTED],
    "edit": SIGNS[State.EDITED],
    "reject": SIGNS[State.REJECTED],
    "undo": Sign("↺", "undone"),
}


NOTHING: Final = ProposalChoice("")


@dataclass(frozen=True, slots=True)
class UnsavedProposal:
    """What was sent and could not be stored, so that it is shown again."""

    choice: ProposalChoice = NOTHING
    problem: str = ""
    conflict: DecidedMeanwhile | None = None


def sign_of(proposal: Proposal) -> Sign:
    """Where a function is; one that is being tested is not waiting yet."""
    if proposal.state == State.WRITTEN and not proposal.is_checked:
        return CHECKING
    return SIGNS[proposal.state]


def agents_sign(case: Case | None) -> Sign:
    return case_sign(case.stage, case.label) if case else UNJUDGED


def proposal_page(
    user: User, proposal: Proposal, editing_it: bool = False, said: UnsavedProposal | None = None
) -> dict[str, Any]:
    """The page of a function that was read with RELATED. `editing`: its code stands in a field."""
    said = said or UnsavedProposal()
    case, sent = proposal.case, said.choice
    kept = drafts.load_drafts(user, case.pair_id) if case else {}
    draft = kept.get(Draft.Field.CODE)
    written = proposal.snippet.text if proposal.snippet else ""
    run = next(iter(editing.list_edit_executions(proposal)), None)
    return {
        "proposal": proposal,
        "filling": proposal.filling,
        "sign": sign_of(proposal),
        "agents": agents_sign(case),
        "evidence": evidence_of(case) if case else None,
        "code": candidate_code(written) if proposal.snippet else None,
        "packages": proposal.packages,
        "decisions": decisions_of(proposal),
        "can_decide": proposal.state == State.WRITTEN and proposal.is_checked,
        "needs_reason": case is not None and case.label != 1,
        "editing": editing_it,
        "has_draft": draft is not None,
        "source": choose_field_text(sent.code, draft, written, again=bool(sent.code)),
        "reason": choose_field_text(sent.reason, kept.get(Draft.Field.REASON), "", again=bool(sent.reason)),
        "run": run_view(run) if run else None,
        "waiting": Proposal.objects.for_experts().filter(filling=proposal.filling_id).count(),
        "undo": function_decisions.latest_of(user, proposal.filling),
        "keys": key_views(user),
        "problem": said.problem,
        "clash": clash_of(said.conflict) if said.conflict else None,
    }


def decisions_of(proposal: Proposal) -> list[dict[str, Any]]:
    """All that was decided, the newest first."""
    related = "user", "text__body", "check_run__execution"
    rows = ProposalDecision.objects.filter(proposal=proposal).select_related(*related)
    return [build_proposal_decision_view(row) for row in rows.order_by("-revision")]


def build_proposal_decision_view(row: ProposalDecision) -> dict[str, Any]:
    """One decision as people read it."""
    return {
        "row": row,
        "sign": DONE[row.action],
        "code": row.text.text if row.action == ProposalDecision.Action.EDIT and row.text else "",
        "run": request_sign(row.check_run) if row.check_run else None,
    }


def clash_of(conflict: DecidedMeanwhile) -> dict[str, Any]:
    """Two decisions about one function: the stored one, and what was sent."""
    return {
        "message": str(conflict),
        "stored": build_proposal_decision_view(conflict.stored) if conflict.stored else None,
        "sent": DONE[conflict.mine.action],
        "mine": conflict.mine,
    }


def run_view(run: ExecutionRequest) -> dict[str, Any]:
    """One run of the agents' test beside an edited function."""
    shown = execution_view(run.execution, program="r", candidate="e") if run.execution else None
    return describe_request_state(run) | {"execution": shown}


def nothing_waits(user: User, filling: Filling) -> dict[str, Any]:
    """The end of a queue; an undo still leads back."""
    return {
        "filling": filling,
        "counts": count_proposals_by_state(Filling.objects.filter(pk=filling.pk))[filling.pk],
        "undo": function_decisions.latest_of(user, filling),
        "keys": key_views(user),
    }


def accepted_for(build: Build, query: Text) -> list[tuple[ProposalDecision, Sign, Code]]:
    """The accepted functions that were written for a query of the build, as readers see them."""
    rows = accepted_decisions_of_build(build).filter(proposal__query=query)
    return [
        (row, DONE[row.action], code_of(row.text.text, "Written function", f"w{row.pk}", bounds=LIST_BOUNDS))
        for row in rows
        if row.text is not None
    ]


def job_lines(fillings: QuerySet[Filling]) -> list[tuple[Filling, Mapping[str, int]]]:
    """The jobs with how many of their functions are where. Three queries."""
    told = count_proposals_by_state(fillings)
    return [(row, told[row.pk]) for row in fillings.select_related("build__tally", "of").order_by("-pk")]


def build_filling_lines(filling: Filling) -> list[tuple[Proposal, Sign, Sign]]:
    """The first functions of a job, each with where it is and what the agents say."""
    rows = Proposal.objects.filter(filling=filling).select_related("query", "case")
    rows = rows.order_by("query", "number")[:MOST_LISTED]
    return [(row, sign_of(row), agents_sign(row.case)) for row in rows]
