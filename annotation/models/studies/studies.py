"""A study: its question, its conditions and its plan."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models

from annotation.models.builds.build import Build
from annotation.models.studies.guidelines import Guideline
from retrieval.models import Annotator


class Study(models.Model):
    """A ground-truth study. Its plan is frozen with a hash at the first rating; then it is amended."""

    class Kind(models.TextChoices):
        RATING = "rating", "does this code answer the query"
        PAIRWISE = "pairwise", "which of two answers better"
        IMPORTED = "imported", "labels from elsewhere"

    class Purpose(models.TextChoices):
        DEVELOPMENT = "development", "development: may be looked at while prompts are changed"
        SEALED = "sealed", "sealed: every scoring is counted and shown for ever"

    class Scale(models.TextChoices):
        BINARY = "binary", "exact match: 1 or 0"
        STEPS = "steps", "all of it, at least half, less"
        GRADED = "graded", "relevance 0 to 3, as in CodeSearchNet"
        PREFERENCE = "preference", "which of two answers better"

    class State(models.TextChoices):
        DRAFT = "draft"
        RUNNING = "running"
        PAUSED = "paused"
        CLOSED = "closed"

    class Order(models.TextChoices):
        SPACED = "spaced", "pairs of one query at least 30 apart"
        BY_QUERY = "by_query", "all pairs of a query one after the other"

    class Docstring(models.TextChoices):
        SHOWN = "shown"
        FOLDED = "folded"
        HIDDEN = "hidden"

    name = models.CharField(max_length=120, unique=True)
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.RATING)
    purpose = models.CharField(max_length=11, choices=Purpose, default=Purpose.DEVELOPMENT)
    scale = models.CharField(max_length=10, choices=Scale, default=Scale.BINARY)
    state = models.CharField(max_length=7, choices=State, default=State.DRAFT)
    question = models.TextField(blank=True, help_text="what the study is to find out")
    information = models.TextField(blank=True, help_text="what raters accept before their first pair")
    order = models.CharField(max_length=8, choices=Order, default=Order.SPACED)
    docstring = models.CharField(max_length=6, choices=Docstring, default=Docstring.SHOWN)
    one_more = models.BooleanField(
        default=False, db_default=False, help_text="where a pair's planned raters split, one more is asked"
    )
    asks_profile = models.BooleanField(
        default=False,
        db_default=False,
        help_text="raters must say years of Python, job and languages before their first pair",
    )
    needs_run = models.BooleanField(
        default=False,
        db_default=False,
        help_text="under own tests a label needs a finished run of the rater's own program, or a reason why "
        "no test is possible",
    )
    shows_origin = models.BooleanField(
        default=False, db_default=False, help_text="raters have a link to where the function comes from"
    )
    practice = models.BooleanField(
        default=False,
        db_default=False,
        help_text="raters are told the answer of an onboarding pair once they have labelled it",
    )
    ties = models.BooleanField(default=False, help_text="pairwise: raters may say that both are as good")
    seed = models.BigIntegerField(default=0)
    guideline = models.ForeignKey(Guideline, on_delete=models.PROTECT, null=True, related_name="studies")
    builds = models.ManyToManyField(Build, related_name="studies", help_text="that the sample is drawn from")
    sample = models.JSONField(default=dict, help_text="what was asked for: size, strata, pairs a query")
    planned_pairs = models.PositiveIntegerField(default=0, help_text="the n until which figures are interim")
    reference = models.CharField(
        max_length=13, default="own_tests", help_text="the condition that counts as true"
    )
    comparisons = models.JSONField(
        default=list, help_text="pairs of rows of the main table that are compared"
    )
    margin = models.FloatField(null=True, help_text="of non-inferiority, a share of 1")
    exclusions = models.TextField(blank=True, help_text="rules by which ratings or raters are left out")
    plan = models.JSONField(null=True, help_text="the plan as it was frozen, then as it was last amended")
    plan_hash = models.CharField(max_length=64, blank=True, help_text="sha256 of the plan's canonical JSON")
    frozen_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        related_name="+",
        help_text="none where a command made it",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.name

    @property
    def has_single_raters(self) -> bool:
        """Whether each pair gets one rating: many pairs are seen, and no label counts as true.

        Which of two answers is better needs no true label.
        """
        return self.kind != self.Kind.PAIRWISE and self.conditions.filter(raters=1).exists()

    @property
    def is_live(self) -> bool:
        """Whether its raters are still to be kept blind."""
        return self.state in {self.State.RUNNING, self.State.PAUSED}


class Condition(models.Model):
    """One way of looking at the study's pairs, with as many raters a pair as are planned."""

    class Kind(models.TextChoices):
        READING = "reading", "reading"
        OWN_TESTS = "own_tests", "own tests"
        AGENTS_TESTS = "agents_tests", "agent's tests"
        REVEAL = "reveal", "reveal"
        SECOND_LOOK = "second_look", "second look"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="conditions")
    kind = models.CharField(max_length=12, choices=Kind)
    raters = models.PositiveSmallIntegerField(default=3, help_text="ratings wanted of each pair")

    class Meta:
        ordering = ["study", "id"]
        constraints = [models.UniqueConstraint(fields=["study", "kind"], name="condition_once")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} in {self.study}"

    @property
    def has_second_phase(self) -> bool:
        """Whether a rater comes back to a pair right after its blind label is locked."""
        return self.kind in {self.Kind.REVEAL, self.Kind.SECOND_LOOK}

    @property
    def may_run(self) -> bool:
        """Whether a rater may write and run tests and calls."""
        return self.kind != self.Kind.READING


class Amendment(models.Model):
    """A change of a frozen plan, with both plans; never changed."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="amendments")
    number = models.PositiveIntegerField(help_text="from 1, in the study")
    reason = models.TextField()
    before: Any = models.JSONField()
    after: Any = models.JSONField()
    plan_hash = models.CharField(max_length=64, help_text="of the plan after it")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["study", "number"]
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="amendment_once")]

    def __str__(self) -> str:
        return f"amendment {self.number} of {self.study}"


class Scoring(models.Model):
    """That an annotator version was scored on the study: shown for ever beside a sealed one's figures."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="scorings")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="scorings")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["study", "id"]
        constraints = [models.UniqueConstraint(fields=["study", "annotator"], name="scoring_once")]

    def __str__(self) -> str:
        return f"{self.annotator} scored on {self.study}"
