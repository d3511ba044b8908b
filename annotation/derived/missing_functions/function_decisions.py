"""An expert accepts, edits or rejects a written function. Decisions are appended; the last one stands.

Only an accepted function becomes a snippet, a pair and a label 1; an undo takes the label back,
and the snippet out again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotation.agents.snippet_writer import one_function
from annotation.derived.missing_functions import accepted_functions, function_edits
from annotation.draft_rules import StoredMeanwhile, Window
from annotation.models import Draft, ExecutionRequest, Filling, Proposal, ProposalDecision
from annotation.review import NothingToUndo, drafts
from annotation.review.labels import MOST_REASON
from retrieval.models import Text
from retrieval.models.texts import canonicalize_text
from retrieval.texts.hostile import mark_hostile_characters

Action = ProposalDecision.Action
STATES: Final = {
    Action.ACCEPT: Proposal.State.ACCEPTED,
    Action.EDIT: Proposal.State.EDITED,
    Action.REJECT: Proposal.State.REJECTED,
    Action.UNDO: Proposal.State.WRITTEN,
}
RECENT: Final = 30
"""How many of a person's latest decisions are looked at to find what an undo takes back."""


@dataclass(frozen=True)
class ProposalChoice:
    """What somebody decides: `code` is the whole function where it was edited, empty elsewhere."""

    action: str
    reason: str = ""
    code: str = ""


class BadDecision(ValueError):
    """What was sent can't be a decision; the message says what to change. Nothing was stored."""


class DecidedMeanwhile(StoredMeanwhile[ProposalDecision, ProposalChoice]):
    """Somebody else has decided since the page was served; nothing was stored."""

    words = (
        "Somebody decided about this function after you opened this page. Both decisions are shown: "
        "keep the stored one, or undo it and decide again."
    )


def decide_proposal(
    user: User, proposal: Proposal, choice: ProposalChoice, seen_revision: int, window: Window | None = None
) -> ProposalDecision:
    """Store one decision and what follows from it; sending the same again returns what is stored.

    `seen_revision` is the number of decisions that were on screen, `window` whose drafts go along.
    Raises BadDecision, DecidedMeanwhile, and editing.TooManyWaiting; then nothing is stored.
    """
    checked = refused_or_clean(proposal, choice)
    with transaction.atomic():
        proposal.hold()  # until the end: the decisions of two experts come one after the other
        last = last_of(proposal)
        if last is not None and is_repeated(last, user, checked, seen_revision):
            return last
        if proposal.revision != seen_revision or proposal.state != Proposal.State.WRITTEN:
            raise DecidedMeanwhile(last, checked)
        made = append_proposal_decision(user, proposal, checked)
        assert proposal.case is not None, "what is decided about has been checked"
        fields = Draft.Field.REASON, Draft.Field.CODE
        drafts.clear_drafts(user, proposal.case.pair_id, *fields, window=window)
        proposal.build.tally.change()
    return made


def refused_or_clean(proposal: Proposal, choice: ProposalChoice) -> ProposalChoice:
    """The choice as it can be stored. Raises BadDecision."""
    if choice.action not in (Action.ACCEPT, Action.EDIT, Action.REJECT):
        raise BadDecision("Choose what to do: accept, accept with changes, or reject.")
    if not proposal.is_checked or proposal.case is None:
        raise BadDecision("This function has not been checked yet; decide when its test has run.")
    reason = mark_hostile_characters(choice.reason).replace("\r\n", "\n").strip()
    if len(reason) > MOST_REASON:
        raise BadDecision(f"A reason has at most {MOST_REASON:,} characters; this one has {len(reason):,}.")
    if choice.action == Action.ACCEPT and proposal.case.label != 1 and not reason:
        said = "denied it" if proposal.case.label == 0 else "could not judge it"
        raise BadDecision(f"The agents {said}. Give a reason for accepting it; nothing is stored yet.")
    if choice.action != Action.EDIT:
        return ProposalChoice(choice.action, reason)
    code = checked_code(choice.code)
    assert proposal.snippet is not None, "what was checked has its text"
    if code == proposal.snippet.text:
        raise BadDecision("The function is unchanged: accept it as it is, or change it.")
    return ProposalChoice(choice.action, reason, code)


def checked_code(code: str) -> str:
    """An edited function as it would be stored. Raises BadDecision, which names the line of an error."""
    kept = canonicalize_text(code)
    if not kept:
        raise BadDecision("The function is empty.")
    try:
        return one_function(kept)
    except ValueError as why:
        raise BadDecision(f"The function {why}.") from why


def is_repeated(last: ProposalDecision, user: User, choice: ProposalChoice, seen_revision: int) -> bool:
    """A double click, or a request sent again after its answer got lost."""
    if last.revision != seen_revision + 1 or last.user_id != user.pk:
        return False
    text = last.text.text if last.text and last.action == Action.EDIT else ""
    return ProposalChoice(last.action, last.reason, text) == choice


def append_proposal_decision(user: User, proposal: Proposal, choice: ProposalChoice) -> ProposalDecision:
    """The next decision, with snippet and label where it accepts; the caller holds the proposal."""
    text, run = None, None
    if choice.action == Action.EDIT:
        text = Text.objects.keep(choice.code)
        run = function_edits.run_beside(user, proposal, text)
    elif choice.action == Action.ACCEPT:
        text = proposal.snippet
    made = next_decision(user, proposal, choice, text, run)
    if text is not None:
        made.label = accepted_functions.publish_accepted_function(made, text)
        made.save(update_fields=["label"])
    return made


def next_decision(
    user: User,
    proposal: Proposal,
    choice: ProposalChoice,
    text: Text | None = None,
    run: ExecutionRequest | None = None,
) -> ProposalDecision:
    """The row, and the state that follows from it."""
    assert proposal.case is not None, "what is decided about has been checked"
    made = ProposalDecision.objects.create(
        proposal=proposal,
        revision=proposal.revision + 1,
        user=user,
        action=choice.action,
        reason=choice.reason,
        agent_label=proposal.case.label,
        text=text,
        check_run=run,
    )
    proposal.state, proposal.revision = STATES[Action(choice.action)], made.revision
    proposal.save(update_fields=["state", "revision"])
    return made


def undo_proposal_decision(
    user: User, proposal: Proposal, seen_revision: int, reason: str = ""
) -> ProposalDecision:
    """Take the standing decision back: the function waits again, and what it had become is gone.

    Raises NothingToUndo and DecidedMeanwhile.
    """
    choice = ProposalChoice(Action.UNDO, mark_hostile_characters(reason).strip()[:MOST_REASON])
    with transaction.atomic():
        proposal.hold()
        last = last_of(proposal)
        if last is None or last.action == Action.UNDO:
            raise NothingToUndo("There is no decision on this function to undo.")
        if proposal.revision != seen_revision:
            raise DecidedMeanwhile(last, choice)
        made = next_decision(user, proposal, choice)
        if last.text is not None:
            made.label = accepted_functions.take_back(made, last)
            made.save(update_fields=["label"])
        keep_as_drafts(user, proposal, last)
        proposal.build.tally.change()
    return made


def keep_as_drafts(user: User, proposal: Proposal, last: ProposalDecision) -> None:
    """What was typed for a decision that is taken back goes into the fields again."""
    assert proposal.case is not None, "what was decided about has been checked"
    if last.reason:
        drafts.keep_if_none(user, proposal.case.pair_id, Draft.Field.REASON, last.reason)
    if last.action == Action.EDIT and last.text is not None:
        drafts.keep_if_none(user, proposal.case.pair_id, Draft.Field.CODE, last.text.text)


def last_of(proposal: Proposal) -> ProposalDecision | None:
    rows = ProposalDecision.objects.filter(proposal=proposal).select_related("text__body", "user", "label")
    return rows.order_by("-revision").first()


def latest_of(user: User, filling: Filling) -> Proposal | None:
    """The function of the person's latest decision that stands: what the undo key takes back."""
    mine = ProposalDecision.objects.filter(user=user, proposal__filling=filling).exclude(action=Action.UNDO)
    for decision in mine.select_related("proposal__query").order_by("-id")[:RECENT]:
        if decision.proposal.revision == decision.revision:
            return decision.proposal
    return None


def next_of(filling: Filling, after: int = 0) -> Proposal | None:
    """The next function of a job that waits for an expert, beginning anew behind the last."""
    waiting: QuerySet[Proposal] = Proposal.objects.for_experts().filter(filling=filling).order_by("pk")
    return waiting.filter(pk__gt=after).first() or waiting.exclude(pk=after).first()


def find_previous_proposal(filling: Filling, pk: int) -> Proposal | None:
    """The one before it that waits, beginning anew before the first."""
    waiting: QuerySet[Proposal] = Proposal.objects.for_experts().filter(filling=filling).order_by("-pk")
    return waiting.filter(pk__lt=pk).first() or waiting.exclude(pk=pk).first()
