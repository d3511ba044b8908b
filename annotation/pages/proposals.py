"""The expert's queue of written functions: one function with its check, the decision, the runs of an edit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final

from django.contrib.auth.models import User
from django.db.models import QuerySet

from annotation.missing import deciding, editing, written
from annotation.missing.deciding import Choice, DecidedMeanwhile
from annotation.models import Build, Case, Draft, ExecutionRequest, Filling, Proposal, ProposalDecision
from annotation.pages.code import LIST_BOUNDS, Code, code_of
from annotation.pages.drafting import Typed, typed
from annotation.pages.evidence import RELATED as EVIDENCE
from annotation.pages.evidence import Evidence, ExecutionView, candidate_code, evidence_of, execution_view
from annotation.pages.review_keys import KeyView, key_views
from annotation.pages.review_runs import request_sign, requests_ahead
from annotation.pages.words import UNJUDGED, Sign, case_sign
from annotation.review import drafts
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
SIGNS: Final[Mapping[str, Sign]] = MappingProxyType(
    {
        State.WRITING: Sign("…", "being written"),
        State.WRITTEN: Sign("?", "waits for an expert", "info"),
        State.FAILED: Sign("!", "could not be written", "warn"),
        State.REPLACED: Sign("↺", "denied, written anew"),
        State.ACCEPTED: Sign("✓", "accepted", "good"),
        State.EDITED: Sign("✎", "accepted with changes", "good"),
        State.REJECTED: Sign("✗", "rejected", "bad"),
    }
)
CHECKING: Final = Sign("…", "being tested")
DONE: Final[Mapping[str, Sign]] = MappingProxyType(
    {
        "accept": SIGNS[State.ACCEPTED],
        "edit": SIGNS[State.EDITED],
        "reject": SIGNS[State.REJECTED],
        "undo": Sign("↺", "taken back"),
    }
)


@dataclass(frozen=True, slots=True)
class Decided:
    """One decision as people read it."""

    revision: int
    who: str
    sign: Sign
    reason: str
    at: datetime
    code: str = ""
    run: Sign | None = None


NOTHING: Final = Choice("")


@dataclass(frozen=True, slots=True)
class Said:
    """What was sent and could not be stored, so that it is shown again."""

    choice: Choice = NOTHING
    problem: str = ""
    conflict: DecidedMeanwhile | None = None


@dataclass(frozen=True, slots=True)
class Clash:
    """Two decisions about one function: the stored one, and what was sent."""

    message: str
    stored: Decided | None
    sent: Sign
    sent_reason: str
    sent_code: str


@dataclass(frozen=True, slots=True)
class RunView:
    """One run of the agents' test beside an edited function."""

    pk: int
    sign: Sign
    who: str
    at: datetime
    state: str
    open: bool
    ahead: int
    message: str
    execution: ExecutionView | None


@dataclass(frozen=True, slots=True)
class ProposalPage:
    """Everything that the page of one function shows. `editing`: its code stands in a field."""

    proposal: Proposal
    filling: Filling
    sign: Sign
    agents: Sign
    evidence: Evidence | None
    code: Code | None
    packages: tuple[str, ...]
    decisions: tuple[Decided, ...]
    can_decide: bool
    needs_reason: bool
    editing: bool
    has_draft: bool
    source: Typed
    reason: Typed
    run: RunView | None
    waiting: int
    undo: Proposal | None
    keys: dict[str, KeyView]
    problem: str = ""
    clash: Clash | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """An accepted function as readers see it beside its query."""

    sign: Sign
    who: str
    at: datetime
    model: str
    code: Code


@dataclass(frozen=True, slots=True)
class JobLine:
    """One job in the list of queues."""

    filling: Filling
    state_word: str
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class NothingWaits:
    """The end of a queue; an undo still leads back."""

    filling: Filling
    counts: Mapping[str, int]
    undo: Proposal | None
    keys: dict[str, KeyView]


@dataclass(frozen=True, slots=True)
class Line:
    """One function in the list of a job; `asked` is the query's id, `pair` what the agents judged."""

    pk: int
    asked: int
    pair: int | None
    query: str
    number: int
    unjudged: bool
    sign: Sign
    agents: Sign
    why: str


def sign_of(proposal: Proposal) -> Sign:
    """Where a function is; one that is being tested is not waiting yet."""
    if proposal.state == State.WRITTEN and not proposal.is_checked:
        return CHECKING
    return SIGNS[proposal.state]


def agents_sign(case: Case | None) -> Sign:
    return case_sign(case.stage, case.label) if case else UNJUDGED


def proposal_page(
    user: User, proposal: Proposal, editing_it: bool = False, said: Said | None = None
) -> ProposalPage:
    """The page of a function that was read with RELATED."""
    said = said or Said()
    case, sent = proposal.case, said.choice
    kept = drafts.load(user, case.pair_id) if case else {}
    draft = kept.get(Draft.Field.CODE)
    runs = list(editing.runs_of(proposal))
    last = decisions_of(proposal)
    waiting = Proposal.objects.for_experts().filter(filling=proposal.filling_id).count()
    return ProposalPage(
        proposal=proposal,
        filling=proposal.filling,
        sign=sign_of(proposal),
        agents=agents_sign(case),
        evidence=evidence_of(case) if case else None,
        code=candidate_code(proposal.snippet.text) if proposal.snippet else None,
        packages=tuple(str(name) for name in proposal.packages),
        decisions=last,
        can_decide=proposal.state == State.WRITTEN and proposal.is_checked,
        needs_reason=case is not None and case.label != 1,
        editing=editing_it,
        has_draft=draft is not None,
        source=typed(
            sent.code, draft, proposal.snippet.text if proposal.snippet else "", again=bool(sent.code)
        ),
        reason=typed(sent.reason, kept.get(Draft.Field.REASON), "", again=bool(sent.reason)),
        run=run_view(runs[0]) if runs else None,
        waiting=waiting,
        undo=deciding.latest_of(user, proposal.filling),
        keys=key_views(user),
        problem=said.problem,
        clash=clash_of(said),
    )


def decisions_of(proposal: Proposal) -> tuple[Decided, ...]:
    """All that was decided, the newest first."""
    related = "user", "text__body", "check_run__execution"
    rows = ProposalDecision.objects.filter(proposal=proposal).select_related(*related)
    return tuple(decided(row) for row in rows.order_by("-revision"))


def decided(row: ProposalDecision) -> Decided:
    edited = row.action == ProposalDecision.Action.EDIT and row.text is not None
    return Decided(
        revision=row.revision,
        who=row.user.get_username(),
        sign=DONE[row.action],
        reason=row.reason,
        at=row.at,
        code=row.text.text if edited and row.text else "",
        run=request_sign(row.check_run) if row.check_run else None,
    )


def clash_of(said: Said) -> Clash | None:
    conflict = said.conflict
    if conflict is None:
        return None
    stored = decided(conflict.stored) if conflict.stored else None
    mine = conflict.mine
    return Clash(str(conflict), stored, DONE[mine.action], mine.reason, mine.code)


def run_view(run: ExecutionRequest) -> RunView:
    waits = run.state == ExecutionRequest.State.WAITING
    return RunView(
        pk=run.pk,
        sign=request_sign(run),
        who=run.user.get_username(),
        at=run.created_at,
        state=run.state,
        open=run.is_open,
        ahead=requests_ahead(run) if waits else 0,
        message=run.message,
        execution=execution_view(run.execution, program="r", candidate="e") if run.execution else None,
    )


def nothing_waits(user: User, filling: Filling) -> NothingWaits:
    told = written.counts(Filling.objects.filter(pk=filling.pk))[filling.pk]
    return NothingWaits(filling, told, deciding.latest_of(user, filling), key_views(user))


def accepted_for(build: Build, query: Text) -> tuple[Accepted, ...]:
    """The accepted functions that were written for a query of the build."""
    rows = written.accepted(build).filter(proposal__query=query)
    return tuple(
        Accepted(
            sign=DONE[row.action],
            who=row.user.get_username(),
            at=row.at,
            model=row.proposal.build.model,
            code=code_of(row.text.text, "Written function", f"w{row.pk}", bounds=LIST_BOUNDS),
        )
        for row in rows
        if row.text is not None
    )


def job_lines(fillings: QuerySet[Filling]) -> tuple[JobLine, ...]:
    """The jobs with how many of their functions are where. Three queries."""
    told = written.counts(fillings)
    rows = fillings.select_related("build__tally", "of").order_by("-pk")
    return tuple(JobLine(row, row.build.get_state_display(), told[row.pk]) for row in rows)


def lines(filling: Filling) -> tuple[Line, ...]:
    """The first functions of a job."""
    rows = (
        Proposal.objects.filter(filling=filling).select_related("query", "case").order_by("query", "number")
    )
    return tuple(
        Line(
            pk=row.pk,
            asked=row.query_id,
            pair=row.case.pair_id if row.case else None,
            query=row.query.head,
            number=row.number,
            unjudged=row.unjudged,
            sign=sign_of(row),
            agents=agents_sign(row.case),
            why=row.failure or (row.case.reason if row.case else ""),
        )
        for row in rows[:MOST_LISTED]
    )
