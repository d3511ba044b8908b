"""Functions that agents write for queries without a match, and what experts decide about each of them."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from annotation.models.builds.build import Build
from annotation.models.builds.calls import LLMCall
from annotation.models.builds.cases import OPEN, Case
from annotation.models.executions.programs import ExecutionRequest
from annotation.stages import Stage
from retrieval.models import Annotator, Label, Text


class Filling(models.Model):
    """Makes `build` a job that writes functions for the queries of another build, `of`, that have no match.

    Its cases judge what was written, so nothing of it is part of any benchmark; its budget, its calls, its
    history, and who launched it when, are those of its build.
    """

    build = models.OneToOneField(Build, on_delete=models.CASCADE, related_name="filling")
    of = models.ForeignKey(Build, on_delete=models.PROTECT, related_name="fillings")
    unjudged = models.BooleanField(
        default=False, help_text="also queries of which some candidates could not be judged"
    )

    def __str__(self) -> str:
        return f"{self.build}: functions for {self.of}"


class ProposalQuerySet(models.QuerySet["Proposal"]):
    def writing(self) -> ProposalQuerySet:
        return self.filter(state=Proposal.State.WRITING)

    def for_experts(self) -> ProposalQuerySet:
        """Those that were checked, whatever came of it, and that nobody has decided about."""
        return self.filter(
            state=Proposal.State.WRITTEN, case__stage__in=[Stage.SETTLED.value, Stage.ABANDONED.value]
        )

    def checked(self, case: Case) -> None:
        """Have the query of a denied function written for once more, while tries are left.

        `case.label` is what it is about to be settled with.
        """
        tries = case.annotator.config.get("snippet_tries", 1)
        denied = self.filter(case=case, state=Proposal.State.WRITTEN, number__lt=tries)
        for proposal in denied if case.label == 0 else ():
            again = self.model(filling_id=proposal.filling_id, query_id=proposal.query_id)
            again.number, again.unjudged = proposal.number + 1, proposal.unjudged
            self.filter(pk=proposal.pk).update(state=Proposal.State.REPLACED)
            again.save()

    def standing(self) -> ProposalQuerySet:
        """Those that may still become snippets, or have: their queries need no other."""
        ended = Proposal.State.FAILED, Proposal.State.REPLACED, Proposal.State.REJECTED
        unfinished = Q(state=Proposal.State.WRITING) | Q(case__stage__in=OPEN)
        given_up = unfinished & Q(filling__build__state=Build.State.CANCELLED)
        return self.exclude(state__in=ended).exclude(given_up)


class Proposal(models.Model):
    """One function written for one query. `revision` counts the decisions; `state` is what the last one says.

    `snippet` is the text as the writer gave it; what an expert made of it stands in the decision.
    """

    class State(models.TextChoices):
        WRITING = "writing"
        WRITTEN = "written", "written: checked, then waits for an expert"
        FAILED = "failed", "could not be written"
        REPLACED = "replaced", "denied, and written anew"
        ACCEPTED = "accepted"
        EDITED = "edited", "accepted with changes"
        REJECTED = "rejected"

    filling = models.ForeignKey(Filling, on_delete=models.CASCADE, related_name="proposals")
    query = models.ForeignKey(Text, on_delete=models.PROTECT, related_name="+")
    number = models.PositiveSmallIntegerField(default=1, help_text="1 for a query's first function")
    unjudged = models.BooleanField(default=False, help_text="some candidates of its query were not judged")
    state = models.CharField(max_length=8, choices=State, default=State.WRITING)
    revision = models.PositiveIntegerField(default=0)
    snippet = models.ForeignKey(Text, on_delete=models.PROTECT, null=True, related_name="+")
    packages = models.JSONField(default=list, help_text="distributions that its writer named")
    explanation = models.TextField(blank=True)
    call = models.ForeignKey(LLMCall, on_delete=models.PROTECT, null=True, related_name="proposals")
    case = models.OneToOneField(Case, on_delete=models.PROTECT, null=True, related_name="proposal")
    failure = models.TextField(blank=True, help_text="why it could not be written")
    lease = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    next_attempt_at = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0, help_text="failed tries to write it")
    waiting_for = models.ForeignKey(
        LLMCall, on_delete=models.PROTECT, null=True, related_name="waiting_proposals"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ProposalQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["filling", "query", "number"], name="proposal_once"),
            models.CheckConstraint(
                condition=Q(state__in=["writing", "failed"]) | Q(snippet__isnull=False, case__isnull=False),
                name="proposal_text_when_written",
            ),
        ]
        indexes = [models.Index(fields=["filling", "state", "id"], name="proposal_by_state")]

    round = 1
    """It is asked for as a case is: see `annotation.builds.pipeline.llm_calls`."""

    def __str__(self) -> str:
        return f"function {self.number} for {self.query} ({self.state})"

    @property
    def build(self) -> Build:
        """Who pays."""
        return self.filling.build

    @property
    def build_id(self) -> int:
        return self.filling.build_id

    @property
    def annotator(self) -> Annotator:
        return self.build.annotator

    @property
    def is_checked(self) -> bool:
        return self.case is not None and self.case.stage in {Stage.SETTLED, Stage.ABANDONED}

    def hold(self) -> None:
        """Read state and revision anew, and keep others from changing them until the transaction ends."""
        held = Proposal.objects.select_for_update(of=("self",)).get(pk=self.pk)
        self.state, self.revision = held.state, held.revision

    def put_back(
        self, *, until: datetime | None = None, failed: bool = False, waiting: LLMCall | None = None
    ) -> None:
        """Give the lease back unwritten: try again at `until`, or when `waiting` has its reply."""
        Proposal.objects.filter(pk=self.pk, lease=self.lease).update(
            lease=None,
            lease_until=None,
            next_attempt_at=until,
            waiting_for=waiting,
            attempts=F("attempts") + int(failed),
        )


class ProposalDecision(models.Model):
    """What one expert decided about one proposal; appended, never changed.

    `text` is what was accepted, and what an undo took back has none. `check_run` is the run of the proposal's
    test beside an edited function.
    """

    class Action(models.TextChoices):
        ACCEPT = "accept", "accepted"
        EDIT = "edit", "accepted with changes"
        REJECT = "reject", "rejected"
        UNDO = "undo", "taken back"

    proposal = models.ForeignKey(Proposal, on_delete=models.PROTECT, related_name="decisions")
    revision = models.PositiveIntegerField(help_text="1, 2, … for each proposal")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    action = models.CharField(max_length=6, choices=Action)
    reason = models.TextField(blank=True)
    agent_label = models.SmallIntegerField(null=True, help_text="what the agents had said then")
    text = models.ForeignKey(Text, on_delete=models.PROTECT, null=True, related_name="+")
    check_run = models.ForeignKey(ExecutionRequest, on_delete=models.PROTECT, null=True, related_name="+")
    label = models.ForeignKey(Label, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["proposal", "revision"]
        constraints = [models.UniqueConstraint(fields=["proposal", "revision"], name="decision_once")]

    def __str__(self) -> str:
        return f"{self.get_action_display()} by {self.user}"
