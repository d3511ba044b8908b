"""Runs asked for by the handful: a test beside mutants of its candidate, or beside other candidates."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.models.executions.programs import Execution, Request, TestProgram
from retrieval.models import Blob, Text
from sandbox.candidate.mutants import STRENGTH


class MutantText(Blob):
    """A candidate with one fault put into it."""


class Mutant(models.Model):
    """A fault put into a snippet by `sandbox.candidate.mutants`, stored once a person asks; never changed."""

    snippet = models.ForeignKey(Text, on_delete=models.PROTECT, related_name="mutants", db_index=False)
    number = models.PositiveSmallIntegerField(help_text="from 1, the order in which they were made")
    operator = models.CharField(max_length=20, choices=[(one.value, one.value) for one in STRENGTH])
    line = models.PositiveIntegerField()
    before = models.TextField()
    after = models.TextField()
    source = models.ForeignKey(MutantText, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        ordering = ["snippet", "number"]
        constraints = [models.UniqueConstraint(fields=["snippet", "source"], name="mutant_once")]

    def __str__(self) -> str:
        return f"{self.operator} in line {self.line} of {self.snippet}"


class Trial(Request):
    """A test program beside a snippet, or beside a mutant of one; whoever asks again gets the same answer."""

    program = models.ForeignKey(TestProgram, on_delete=models.PROTECT, related_name="trials", db_index=False)
    snippet = models.ForeignKey(Text, on_delete=models.PROTECT, related_name="+", db_index=False)
    mutant = models.ForeignKey(
        Mutant, on_delete=models.PROTECT, null=True, related_name="trials", db_index=False
    )
    applied_as = models.CharField(
        max_length=200, blank=True, help_text="the name under which the program expects the candidate"
    )
    execution = models.ForeignKey(Execution, on_delete=models.PROTECT, null=True, related_name="trials")

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(
                fields=["state", "id"], condition=~Q(state__in=["done", "failed"]), name="trial_open"
            ),
            models.Index(fields=["program", "snippet", "id"], name="trial_by_program"),
        ]

    def __str__(self) -> str:
        return f"trial {self.pk} ({self.state})"

    @property
    def candidate(self) -> str:
        """The text that the program runs beside; reads the side table."""
        return self.mutant.source.text if self.mutant else self.snippet.text
