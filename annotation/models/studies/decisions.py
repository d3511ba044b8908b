"""What was decided where raters split."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from annotation.models.reviews.marked_code import MarkedCode, marks_whole_lines
from annotation.models.studies.samples import StudyPair
from annotation.models.studies.studies import Condition


class Cause(models.TextChoices):
    """Why raters split."""

    QUERY = "query", "ambiguous query"
    SLIP = "slip", "rater error"
    GUIDELINE = "guideline", "gap in the guidelines"
    CODE = "code", "code misunderstood"
    TEST = "test", "wrong test"


class Adjudication(MarkedCode):
    """A decision on a pair whose planned quorum has no strict majority. The ratings stay what they are."""

    study_pair = models.ForeignKey(StudyPair, on_delete=models.PROTECT, related_name="adjudications")
    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, related_name="adjudications")
    value = models.SmallIntegerField(null=True, help_text="on the study's scale; null: can't be decided")
    cause = models.CharField(max_length=9, choices=Cause)
    note = models.TextField()
    supersedes = models.OneToOneField(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="superseded_by"
    )
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["study_pair", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["study_pair", "condition"],
                condition=models.Q(supersedes__isnull=True),
                name="adjudication_begins_once",
            ),
            marks_whole_lines("adjudication_marks_whole_lines"),
        ]

    def __str__(self) -> str:
        return f"decision on {self.study_pair}"
