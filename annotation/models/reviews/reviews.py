"""What experts said, what they had begun to type, and what they have seen. Reviews are only ever appended."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, TextField
from django.db.models.functions import Cast

from annotation.models.builds.build import Build
from annotation.models.builds.cases import Case
from annotation.models.reviews.marked_code import MarkedCode, marks_whole_lines
from annotation.models.reviews.typed_text import KeptText
from retrieval.models import Benchmark, Pair


class ReviewQuerySet(models.QuerySet["Review"]):
    def current(self) -> ReviewQuerySet:
        """The last revision of each (pair, rater), unless it was withdrawn.

        Not as a join for what is missing: PostgreSQL would expect one row of it, and compare each with each.
        """
        later = Review.objects.filter(supersedes=OuterRef("pk"))
        return self.filter(~Exists(later), withdrawn=False)

    def tagged(self, tag: str) -> ReviewQuerySet:
        """Those that carry the tag. Neither database has an operator for it that the other has, too."""
        return self.alias(said=Cast("tags", TextField())).filter(said__contains=f'"{tag}"')


class Review(MarkedCode):
    """One person's label on one pair, with the hash of the evidence that was on screen."""

    class Phase(models.TextChoices):
        ASSISTED = "assisted", "assisted: the agent's verdict was on screen"

    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="reviews")
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="reviews", help_text="seen with it")
    rater = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="reviews")
    phase = models.CharField(max_length=10, choices=Phase, default=Phase.ASSISTED)
    revision = models.PositiveIntegerField(help_text="1, 2, … for each pair and rater")
    supersedes = models.OneToOneField(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="superseded_by"
    )
    label = models.SmallIntegerField(null=True, help_text="1, 0, or null = unsure")
    withdrawn = models.BooleanField(default=False, help_text="this revision takes the label back (undo)")
    agent_label = models.SmallIntegerField(null=True, help_text="what the agents had said then")
    reason = models.TextField(blank=True)
    tags = models.JSONField(default=list, blank=True, help_text="known tags, see annotation.review.tags")
    seconds = models.PositiveIntegerField(
        default=0, help_text="active time on the page before it was given; 0 = not known"
    )
    calls = models.JSONField(default=list, blank=True, help_text="ids of the rater's calls that it rests on")
    runs = models.JSONField(default=list, blank=True, help_text="ids of the rater's executions likewise")
    evidence = models.CharField(max_length=64, help_text="hash of the evidence on screen")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ReviewQuerySet.as_manager()

    asked: str
    """How the pair's query begins, where it was read with that (`annotation.review.decisions`)."""

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["pair", "rater", "revision"], name="review_revision_once"),
            marks_whole_lines("review_marks_whole_lines"),
        ]

    def __str__(self) -> str:
        return f"review of {self.pair} by {self.rater}, revision {self.revision}"

    @property
    def is_override(self) -> bool:
        return self.label is not None and self.agent_label is not None and self.label != self.agent_label


class Draft(KeptText):
    """What a person had typed and not yet submitted; survives reload, log-out and crash."""

    class Field(models.TextChoices):
        REASON = "reason"
        TEST = "test"
        CALL = "call"
        CODE = "code"
        TAGS = "tags"
        COMMENT = "comment"
        LINES = "lines"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="drafts")
    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="drafts")
    field = models.CharField(max_length=7, choices=Field)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "pair", "field"], name="draft_once")]

    def __str__(self) -> str:
        return f"{self.field} draft of {self.user}"


class Seen(models.Model):
    """That a person was served what agents or others said of a pair: no blind label of it can follow, and
    none that was given before is changed.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="seen")
    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="seen")
    at = models.DateTimeField(auto_now_add=True)
    verdict = models.BooleanField(
        default=True,
        db_default=True,
        help_text="false: the agents' test alone, as the condition agent's tests shows it",
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "pair"], name="seen_once")]

    def __str__(self) -> str:
        return f"{self.user} saw {self.pair}"


class SeenBuild(models.Model):
    """A person was shown a list of a build's cases that was filtered, sorted or counted by verdicts.

    One row stands for a `Seen` of each pair of the build: such a list also tells of the cases it leaves out.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="seen_builds")
    build = models.ForeignKey(Build, on_delete=models.CASCADE, related_name="seen", db_index=False)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "build"], name="seen_build_once")]

    def __str__(self) -> str:
        return f"{self.user} saw lists of {self.build}"


class SeenBenchmark(models.Model):
    """That a person was given all labels of a benchmark: as `Seen` of each of its pairs, in one row."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="seen_benchmarks"
    )
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="seen", db_index=False)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "benchmark"], name="seen_benchmark_once")]

    def __str__(self) -> str:
        return f"{self.user} saw all labels of {self.benchmark}"
