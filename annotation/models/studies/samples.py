"""The pairs of a study, and how many ratings of each are wanted."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from annotation.models.builds.cases import Case
from annotation.models.studies.studies import Condition, Study
from retrieval.models import Pair


class StudyPair(models.Model):
    """A sampled pair. Raters' pages and addresses show its number; a blind page never reads its case."""

    class Planted(models.TextChoices):
        NO = "", "sampled"
        ONBOARDING = "onboarding", "planted, for onboarding"
        ATTENTION = "attention", "planted, to see whether raters look"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="pairs")
    number = models.PositiveIntegerField(
        help_text="from 1, in the study, shuffled: tells nothing of the sampling"
    )
    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="study_pairs")
    other = models.ForeignKey(
        Pair, on_delete=models.PROTECT, null=True, related_name="+", help_text="pairwise: the second snippet"
    )
    case = models.ForeignKey(
        Case,
        on_delete=models.PROTECT,
        null=True,
        related_name="study_pairs",
        help_text="that it was drawn from",
    )
    stratum = models.CharField(max_length=120, blank=True)
    probability = models.FloatField(default=1.0, help_text="of being in the sample, 0 to 1")
    language = models.CharField(
        max_length=20, blank=True, db_default="", help_text="of the function's file; empty: not known"
    )
    planted = models.CharField(max_length=10, choices=Planted, blank=True, default=Planted.NO)
    answer = models.SmallIntegerField(null=True, help_text="the known value of a planted pair")
    answer_reason = models.TextField(
        blank=True, db_default="", help_text="why that is the answer: what raters are told in practice"
    )

    class Meta:
        ordering = ["study", "number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="study_pair_number_once"),
            models.UniqueConstraint(
                fields=["study", "pair"], condition=Q(other__isnull=True), name="study_pair_once"
            ),
            models.UniqueConstraint(
                fields=["study", "pair", "other"],
                condition=Q(other__isnull=False),
                name="study_pair_of_two_once",
            ),
            models.CheckConstraint(
                condition=Q(probability__gt=0, probability__lte=1), name="study_pair_probability"
            ),
            models.CheckConstraint(
                condition=Q(planted="") | Q(answer__isnull=False), name="study_pair_planted_has_answer"
            ),
        ]

    def __str__(self) -> str:
        return f"pair {self.number} of {self.study}"


class Quota(models.Model):
    """How many ratings of a pair a condition wants, has handed out (open or done) and has got."""

    study_pair = models.ForeignKey(StudyPair, on_delete=models.CASCADE, related_name="quotas")
    condition = models.ForeignKey(Condition, on_delete=models.CASCADE, related_name="quotas")
    wanted = models.PositiveSmallIntegerField()
    reserved = models.PositiveSmallIntegerField(default=0, help_text="handed out: open or done")
    done = models.PositiveSmallIntegerField(default=0)
    round = models.PositiveSmallIntegerField(
        default=1, db_default=1, help_text="that the counts are of: 2, 3, … where the pair is asked again"
    )
    opened_at = models.DateTimeField(
        null=True, help_text="when that round was opened; none for the first one"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study_pair", "condition"], name="quota_once"),
            models.CheckConstraint(condition=Q(reserved__lte=F("wanted")), name="quota_not_exceeded"),
            models.CheckConstraint(condition=Q(done__lte=F("reserved")), name="quota_done_was_reserved"),
        ]
        indexes = [
            models.Index(
                fields=["condition", "done", "reserved"],
                condition=Q(reserved__lt=F("wanted")),
                name="quota_open",
            )
        ]

    def __str__(self) -> str:
        return f"{self.done} of {self.wanted} for {self.study_pair}"
