"""A case on its way through the stages, and each step it made."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from annotation.abandonment import cause_of
from annotation.models.builds.build import Build
from annotation.models.builds.calls import LLMCall
from annotation.models.builds.figures import Abandonment, Duration, bucket_of, increment_figure_counters
from annotation.models.builds.label_in_force import (
    count_label_in_force,
    find_label_in_force,
    has_people_labels,
    load_people_statements,
)
from annotation.models.executions.programs import Execution, TestProgram
from annotation.stages import Event, Stage, next_stage
from retrieval.models import Annotator, Basis, Candidate, Pair, Text, statements
from retrieval.texts.hostile import mark_hostile_characters

OPEN = tuple(stage for stage in Stage if stage not in {Stage.SETTLED, Stage.ABANDONED})
CHOICES = [(stage.value, stage.value.replace("_", " ")) for stage in Stage]
COUNTED: Final[Mapping[Event, str]] = MappingProxyType(
    {
        Event.MATCH: "cleared",
        Event.NO_MATCH: "cleared",
        Event.UNCLEAR: "unclear",
        Event.TO_READER: "unclear",
        Event.SPOT_CHECK: "unclear",
        Event.READ: "read",
        Event.DISPUTED: "disputed",
        Event.WRITTEN: "written",
        Event.MISSING_MODULE: "fixings",
    }
)
"""The column of a build's totals that counts an event."""
CLEAR: Final = (Event.MATCH, Event.NO_MATCH)
BASES: Final = [(name, told) for name, told in Basis.choices if name not in (Basis.MERGED, Basis.PERSON)]
"""How a case's label can come about."""
RUNS: Final = "EXISTS (SELECT 1 FROM annotation_build WHERE annotation_build.id = build_id AND state = %s)"
"""A condition on a row of cases: its build is in that state."""
CONTRADICTED: Final = """label IS NOT NULL AND EXISTS (
  SELECT 1 FROM annotation_review said
  WHERE said.pair_id = annotation_case.pair_id AND said.label = 1 - annotation_case.label
    AND NOT said.withdrawn
    AND NOT EXISTS (SELECT 1 FROM annotation_review later WHERE later.supersedes_id = said.id))"""
"""A condition on a row of cases: an expert's label of the pair that stands is the other one."""


class LostRace(Exception):
    """Another worker moved the case first, or the lease ran out: nothing was written."""


class Case(models.Model):
    """One candidate on its way through one annotator. `label` is set exactly when it is settled."""

    build = models.ForeignKey(Build, on_delete=models.CASCADE, related_name="cases", db_index=False)
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="cases")
    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="cases")
    query = models.ForeignKey(Text, on_delete=models.PROTECT, related_name="+", db_index=False)
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="cases")
    round = models.PositiveIntegerField(default=1)
    rank = models.PositiveIntegerField()
    score = models.FloatField(default=0, db_default=0, help_text="its candidate's: lists are sorted by it")
    stage = models.CharField(max_length=12, choices=CHOICES, default=Stage.SCREENING.value)
    label = models.SmallIntegerField(null=True, help_text="the agents' own")
    label_in_force = models.SmallIntegerField(
        null=True, help_text="what counts for readers: the merge rule, over its label and what people say"
    )
    basis = models.CharField(
        max_length=8, choices=BASES, blank=True, db_default="", help_text="how its label came about"
    )
    contradicted = models.BooleanField(
        default=False,
        db_default=False,
        help_text="an expert's label of the pair that stands is the other one",
    )
    reason = models.TextField(blank=True, help_text="why it was abandoned")
    cause = models.CharField(max_length=130, blank=True, db_default="", help_text="the reason's kind")
    left_stage = models.CharField(max_length=12, blank=True, help_text="the stage that it was abandoned from")
    program = models.ForeignKey(TestProgram, on_delete=models.PROTECT, null=True, related_name="cases")
    execution = models.ForeignKey(Execution, on_delete=models.PROTECT, null=True, related_name="cases")
    reference_run = models.ForeignKey(
        Execution,
        on_delete=models.PROTECT,
        null=True,
        related_name="+",
        db_index=False,
        help_text="of its program with the writer's reference in the snippet's place",
    )
    neighbour_run = models.ForeignKey(
        Execution,
        on_delete=models.PROTECT,
        null=True,
        related_name="+",
        db_index=False,
        help_text="of its program with a neighbour of the task in the snippet's place",
    )
    dependencies = models.JSONField(default=list, help_text="requirements installed for its program")
    missing_module = models.CharField(max_length=200, blank=True)
    rewrites = models.PositiveSmallIntegerField(default=0)
    fix_rounds = models.PositiveSmallIntegerField(default=0)
    tested_again = models.BooleanField(
        default=False, help_text="its first program came to no assertion, and a second one was asked for"
    )
    step_count = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0, db_default=0, help_text="worked on it so far, without waiting")
    lease = models.UUIDField(null=True, help_text="fences the worker that holds the case")
    lease_until = models.DateTimeField(null=True)
    next_attempt_at = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0, help_text="failed tries in this stage")
    waiting_for = models.ForeignKey(
        LLMCall, on_delete=models.PROTECT, null=True, related_name="waiting_cases"
    )
    updated_at = models.DateTimeField(auto_now=True)

    began: float | None = None
    """When work on the present stage began, by this process's clock; None where nobody said."""
    reused = 0
    """Replies that it has used again in the present stage; its move counts them, once whoever dies before."""

    class Meta:
        ordering = ["build", "query", "rank"]
        constraints = [
            models.UniqueConstraint(fields=["build", "candidate", "annotator", "round"], name="case_once"),
            models.CheckConstraint(
                condition=Q(stage=Stage.SETTLED, label__isnull=False)
                | (~Q(stage=Stage.SETTLED) & Q(label__isnull=True)),
                name="case_label_when_settled",
            ),
        ]
        indexes = [
            models.Index(
                # What a claim asks for, word for word: SQLite compares the conditions as they are written.
                fields=["build", "stage", "id"],
                condition=Q(lease__isnull=True, waiting_for__isnull=True, label__isnull=True),
                name="case_claimable",
            ),
            models.Index(fields=["lease_until"], condition=Q(lease__isnull=False), name="case_leased"),
            models.Index(fields=["build", "stage", "id"], name="case_by_build_and_stage"),
            models.Index(fields=["build", "query", "rank"], name="case_by_query"),
            models.Index(
                fields=["build", "cause", "id"],
                condition=Q(stage=Stage.ABANDONED.value),
                name="case_by_cause",
            ),
            models.Index(fields=["build", "id"], condition=Q(execution__isnull=False), name="case_executed"),
            models.Index(fields=["build", "id"], condition=Q(label=1), name="case_matches"),
            models.Index(fields=["build", "id"], condition=Q(label_in_force=1), name="case_matches_in_force"),
            models.Index(fields=["build", "rank", "id"], name="case_by_rank"),
            models.Index(fields=["build", "score", "id"], name="case_by_score"),
            models.Index(fields=["build", "updated_at", "id"], name="case_by_time"),
            # Together each case once. In one for all, clear cases, which are fast, lay behind all others.
            models.Index(
                fields=["build", "seconds", "id"],
                condition=Q(label__isnull=False, program__isnull=False),
                name="case_tested_by_duration",
            ),
            models.Index(
                fields=["build", "seconds", "id"],
                condition=Q(label__isnull=False, program__isnull=True),
                name="case_clear_by_duration",
            ),
            models.Index(
                fields=["build", "seconds", "id"],
                condition=Q(label__isnull=True),
                name="case_open_by_duration",
            ),
            models.Index(fields=["build", "id"], condition=Q(basis="disputed"), name="case_disputed"),
            # Few: each order of those that experts contradict.
            models.Index(fields=["build", "id"], condition=Q(contradicted=True), name="case_contradicted"),
            models.Index(
                fields=["build", "rank", "id"],
                condition=Q(contradicted=True),
                name="case_contradicted_by_rank",
            ),
            models.Index(
                fields=["build", "score", "id"],
                condition=Q(contradicted=True),
                name="case_contradicted_by_score",
            ),
            models.Index(
                fields=["build", "updated_at", "id"],
                condition=Q(contradicted=True),
                name="case_contradicted_by_time",
            ),
            models.Index(
                fields=["build", "seconds", "id"],
                condition=Q(contradicted=True),
                name="case_contradicted_by_secs",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pair} ({self.stage})"

    def move(
        self,
        event: Event,
        *,
        note: str = "",
        call: LLMCall | None = None,
        program: TestProgram | None = None,
        execution: Execution | None = None,
        tally: dict[str, int] | None = None,
        **changes: Any,
    ) -> Step:
        """Move along `event` in one transaction: the case, one Step row, then the build's totals.

        The totals come last, as everywhere: all workers of a build wait for that row.

        `changes` are further columns of the case. Raises LostRace (and writes nothing) if the case has
        left its stage or its lease is not this worker's any more; IllegalMove if the table forbids it.
        """
        old = Stage(self.stage)
        new = next_stage(old, event, left=Stage(self.left_stage) if self.left_stage else None)
        seconds = None if self.began is None or not old.is_working else time.monotonic() - self.began
        counts = count_step_event(event, old, seconds, {**(tally or {}), "reused": self.reused})
        if Stage.ABANDONED in (old, new):
            changes["cause"] = (
                cause_of(mark_hostile_characters(changes.get("reason", ""))) if new is Stage.ABANDONED else ""
            )
        was = {"cause": self.cause, "left_stage": self.left_stage}
        with transaction.atomic():
            if new is Stage.SETTLED:
                changes["label_in_force"] = changes.get("label")
            self._advance(old, new, changes | {"seconds": self.seconds + (seconds or 0.0)})
            if new is Stage.SETTLED:
                counts |= self._hear_people()
            step = self._keep_step(
                old, event, new, note, seconds, call=call, program=program, execution=execution
            )
            self.build.tally.change(**count_stage_move(old, new, changes.get("label"), counts))
            if new is Stage.SETTLED and seconds is not None:
                self._timed(event)
            self._count_abandoned(old, new, was)
        return step

    def _hear_people(self) -> dict[str, int]:
        """Note what people say of a case that has just settled; returns how the build's totals change.

        Statements of their own, so that they see what was written until the case was held.
        """
        if not has_people_labels(self.pair_id):
            return count_label_in_force(None, self.label)
        statements.update_rows(Case, {"id": self.pk}, put={"contradicted": True}, provided=CONTRADICTED)
        people = load_people_statements([self.pair_id])[self.pair_id]
        needed = Build.objects.values_list("reviews_needed", flat=True).get(pk=self.build_id)
        before, after = (find_label_in_force(label, people, needed).label for label in (None, self.label))
        if after != self.label:
            statements.update_rows(Case, {"id": self.pk}, put={"label_in_force": after})
            self.label_in_force = after
        return count_label_in_force(before, after)

    def _keep_step(
        self, old: Stage, event: Event, new: Stage, note: str, seconds: float | None, **evidence: Any
    ) -> Step:
        """The Step row of a move that has just been made."""
        step = Step(
            case=self,
            number=self.step_count,
            before=old,
            event=event,
            after=new,
            note=mark_hostile_characters(note),
            seconds=seconds,
            **evidence,
        )
        statements.insert_row(step)
        return step

    def _count_abandoned(self, old: Stage, new: Stage, was: dict[str, str]) -> None:
        """Count the case among those that were abandoned alike, or no longer among those that it `was` of."""
        if new is Stage.ABANDONED:
            increment_figure_counters(
                Abandonment,
                {"build_id": self.build_id, "cause": self.cause, "left_stage": self.left_stage},
                cases=1,
            )
        if old is Stage.ABANDONED:
            increment_figure_counters(Abandonment, {"build_id": self.build_id, **was}, cases=-1)

    def _timed(self, event: Event) -> None:
        """Count the pair among those that took as long."""
        path = Duration.Path.CLEAR if event in CLEAR else Duration.Path.UNCLEAR
        row = {"build_id": self.build_id, "path": path, "bucket": bucket_of(self.seconds)}
        increment_figure_counters(Duration, row, cases=1)

    def _advance(self, old: Stage, new: Stage, changes: dict[str, Any]) -> None:
        changes = {"next_attempt_at": None, "attempts": 0, "updated_at": timezone.now()} | clean_text_columns(
            changes
        )
        row = {"id": self.pk, "stage": old.value, "lease": self.lease}
        put = {"stage": new.value, "lease": None, "lease_until": None, **changes}
        if statements.update_rows(Case, row, put=put, grow={"step_count": 1}) != 1:
            raise LostRace(f"case {self.pk} left {old} while it was worked on")
        for name, value in changes.items():
            setattr(self, name, value)
        self.stage, self.lease, self.lease_until, self.step_count = new.value, None, None, self.step_count + 1
        self.began, self.reused = None, 0

    def renew(self, until: datetime) -> bool:
        """Hold the lease until `until`; False where it ran out, or where the build has been stopped."""
        row, put = {"id": self.pk, "lease": self.lease}, {"lease_until": until}
        return (
            statements.update_rows(Case, row, put=put, provided=RUNS, values=[Build.State.RUNNING.value]) == 1
        )

    def put_back(
        self, *, until: datetime | None = None, failed: bool = False, waiting: LLMCall | None = None
    ) -> None:
        """Give the lease back without a move: try again at `until`, or when `waiting` has its reply."""
        put = {
            "lease": None,
            "lease_until": None,
            "next_attempt_at": until,
            "waiting_for": waiting and waiting.pk,
        }
        row = {"id": self.pk, "lease": self.lease}
        statements.update_rows(Case, row, put=put, grow={"attempts": int(failed)})
        self.reused = 0


def clean_text_columns(columns: dict[str, Any]) -> dict[str, Any]:
    """`columns`, whose texts may come from a program or from a provider."""
    return {
        name: mark_hostile_characters(value) if isinstance(value, str) else value
        for name, value in columns.items()
    }


def count_step_event(
    event: Event, old: Stage, seconds: float | None, others: dict[str, int]
) -> dict[str, int]:
    """`others`, and what an event and its time add to a build's totals."""
    counts = dict(others)
    if event in COUNTED:
        counts[COUNTED[event]] = counts.get(COUNTED[event], 0) + 1
    if seconds is not None:
        counts[f"{old}_ms"] = round(1000 * seconds)
    return counts


def count_stage_move(old: Stage, new: Stage, label: int | None, others: dict[str, int]) -> dict[str, int]:
    """How one move changes a build's totals."""
    changes = dict(others)
    changes[old.value] = changes.get(old.value, 0) - 1
    changes[new.value] = changes.get(new.value, 0) + 1
    changes["matches"] = changes.get("matches", 0) + int(new is Stage.SETTLED and label == 1)
    return changes


class Step(models.Model):
    """One recorded move from stage to stage, with its evidence."""

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="steps", db_index=False)
    number = models.PositiveIntegerField()
    before = models.CharField(max_length=12, choices=CHOICES)
    event = models.CharField(max_length=20, choices=[(e.value, e.value) for e in Event])
    after = models.CharField(max_length=12, choices=CHOICES)
    note = models.TextField(blank=True, help_text="what was decided, in words")
    call = models.ForeignKey(LLMCall, on_delete=models.PROTECT, null=True, related_name="steps")
    program = models.ForeignKey(
        TestProgram, on_delete=models.PROTECT, null=True, related_name="+", db_index=False
    )
    execution = models.ForeignKey(Execution, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    seconds = models.FloatField(null=True, help_text="worked on it, without waiting; none where not known")

    class Meta:
        ordering = ["case", "number"]
        constraints = [models.UniqueConstraint(fields=["case", "number"], name="step_once")]

    def __str__(self) -> str:
        return f"{self.before} → {self.after} ({self.event})"
