"""Test programs, their executions, and what people asked for: runs of a program, calls of a candidate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.common import load_common_text
from retrieval.models import Annotator, Blob, Pair
from sandbox.expression_call import Answer, CallOutcome
from sandbox.program import Program
from sandbox.reports.report import Outcome, Report

REPORTS_AT_ONCE: Final = 200


class ProgramText(Blob):
    """The source of a test program."""


class ReportText(Blob):
    """A report as JSON (`sandbox.reports.report.Report`)."""

    common = load_common_text("reports")


class TestProgram(models.Model):
    """A program that asserts what a query asks for, written by an agent or by a person."""

    __test__ = False  # a model, not a test class: keeps pytest from collecting it

    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="programs")
    source = models.ForeignKey(ProgramText, on_delete=models.PROTECT, related_name="+", db_index=False)
    reading = models.TextField(blank=True, help_text="the likeliest sense of the query that it tests")
    readings = models.JSONField(
        default=list,
        db_default=models.Value([], models.JSONField()),
        help_text="sense and likelihood of each",
    )
    test_cases = models.JSONField(
        default=list,
        db_default=models.Value([], models.JSONField()),
        help_text="name, reading, kind and checks of each function that runs alone; none = plain Python",
    )
    reference = models.ForeignKey(
        ProgramText,
        on_delete=models.PROTECT,
        null=True,
        related_name="+",
        db_index=False,
        help_text="code that does the task by the likeliest reading: the program has to hold with it",
    )
    helpers = models.JSONField(default=list, help_text="names that the writer had to invent")
    redefines = models.BooleanField(default=False, help_text="it redefines the candidate")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, null=True, related_name="+")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    assignment = models.ForeignKey(
        "annotation.Assignment",
        on_delete=models.PROTECT,
        null=True,
        related_name="programs",
        db_index=False,
        help_text="of the study that it was written in: plain pages leave it out",
    )
    parent = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="edits")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(
                fields=["assignment"], condition=Q(assignment__isnull=False), name="program_of_assignment"
            )
        ]

    def __str__(self) -> str:
        return f"test program {self.pk}"

    def beside(self, candidate: str, dependencies: Sequence[str] = (), name: str = "") -> Program:
        """What the sandbox runs: this program beside `candidate`, each of its cases by itself.

        `name` is the one under which it expects a candidate that it was not written for.
        """
        cases = tuple(case["name"] for case in self.test_cases)
        return Program(candidate, self.source.text, tuple(dependencies), name=name, cases=cases)


class Execution(models.Model):
    """One run of one program beside one candidate in the sandbox."""

    program_hash = models.CharField(max_length=64)
    candidate_hash = models.CharField(max_length=64)
    dependencies_hash = models.CharField(max_length=64)
    dependencies = models.JSONField(default=list)
    image = models.CharField(max_length=200)
    limits = models.CharField(max_length=64, help_text="hash of the limits")
    repeat = models.PositiveIntegerField(default=1)
    backend = models.CharField(max_length=40)
    outcome = models.CharField(max_length=20, choices=[(o.value, o.value) for o in Outcome])
    ran = models.BooleanField(default=False)
    asserted = models.BooleanField(default=False)
    touched = models.BooleanField(default=False)
    touching_lines = models.PositiveIntegerField(
        null=True, help_text="lines of the program with an assertion that touched the candidate"
    )
    seconds = models.FloatField()
    queued_seconds = models.FloatField(default=0)
    report = models.ForeignKey(ReportText, on_delete=models.PROTECT, related_name="+", db_index=False)
    applied_as = models.CharField(
        max_length=200,
        blank=True,
        default="",
        db_default="",
        help_text="the name under which the program found a candidate that it was not written for",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=[
                    "program_hash",
                    "candidate_hash",
                    "dependencies_hash",
                    "image",
                    "limits",
                    "repeat",
                    "applied_as",
                ],
                name="execution_once",
            )
        ]

    def __str__(self) -> str:
        return f"execution {self.pk}: {self.outcome}"

    def whole_report(self) -> Report:
        """The stored report; reads the side table."""
        return Report.from_json(self.report.text)


def count_touching_lines() -> None:
    """Fill the column of executions that were stored before there was one.

    A migration calls it, so it reads and writes only the columns that it names.
    """
    rows = Execution.objects.filter(touching_lines=None).order_by("pk")
    rows.filter(touched=False).update(touching_lines=0)
    while some := dict(rows.values_list("pk", "report_id")[:REPORTS_AT_ONCE]):
        reports = ReportText.objects.in_bulk(some.values())
        by_count: dict[int, list[int]] = defaultdict(list)
        for pk, report in some.items():
            by_count[Report.from_json(reports[report].text).touching_lines].append(pk)
        for count, keys in by_count.items():
            Execution.objects.filter(pk__in=keys).update(touching_lines=count)


class Request(models.Model):
    """A person's wish to see something executed; a worker of the interactive queue fulfils it."""

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    assignment = models.ForeignKey(
        "annotation.Assignment",
        on_delete=models.PROTECT,
        null=True,
        related_name="%(class)ss",
        help_text="made for it",
    )
    dependencies = models.JSONField(default=list)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    message = models.TextField(blank=True)
    lease_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True

    @property
    def is_open(self) -> bool:
        """Whether an answer is still to come."""
        return self.state in (self.State.WAITING, self.State.RUNNING)


class ExecutionRequest(Request):
    """A program to be executed."""

    program = models.ForeignKey(TestProgram, on_delete=models.PROTECT, related_name="requests")
    execution = models.ForeignKey(Execution, on_delete=models.PROTECT, null=True, related_name="requests")

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [models.Index(fields=["state", "id"], name="execution_request_by_state")]

    def __str__(self) -> str:
        return f"execution request {self.pk} ({self.state})"


class CallAnswer(models.Model):
    """What one call of a candidate gave, and under what: never changed."""

    candidate_hash = models.CharField(max_length=64)
    image = models.CharField(max_length=200)
    limits = models.CharField(max_length=64, help_text="hash of the limits")
    backend = models.CharField(max_length=40)
    outcome = models.CharField(max_length=20, choices=[(o.value, o.value) for o in CallOutcome])
    seconds = models.FloatField()
    queued_seconds = models.FloatField(default=0)
    text = models.TextField(help_text="sandbox.expression_call.Answer as JSON")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"answer {self.pk}: {self.outcome}"

    def whole(self) -> Answer:
        """The stored answer."""
        return Answer.from_json(self.text)


class CallRequest(Request):
    """An expression to be evaluated beside a pair's candidate."""

    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="calls")
    expression = models.TextField()
    answer = models.OneToOneField(CallAnswer, on_delete=models.PROTECT, null=True, related_name="request")

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["state", "id"], name="call_request_by_state"),
            models.Index(fields=["user", "pair", "id"], name="call_request_by_person"),
        ]

    def __str__(self) -> str:
        return f"call request {self.pk} ({self.state})"
