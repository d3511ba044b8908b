"""A person's wish that the rounds of a build become one label a pair, by a named rule."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from annotation.models.builds.build import Build
from retrieval.models import Annotator


class Merge(models.Model):
    """One merge: who asked for it, by which rule, and how far it is. A worker does it, query by query.

    The labels belong to `annotator`, a version of its own for each rule; `after` is the last query done.
    """

    build = models.ForeignKey(Build, on_delete=models.CASCADE, related_name="merges")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="merges")
    rule = models.CharField(max_length=20)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    asked_at = models.DateTimeField(auto_now_add=True)
    after = models.PositiveBigIntegerField(default=0, help_text="id of the last query that is done")
    pairs = models.PositiveIntegerField(default=0, help_text="looked at so far")
    new_or_changed = models.PositiveIntegerField(
        default=0, help_text="labels that are new, or other than before"
    )
    withdrawn = models.PositiveIntegerField(default=0, help_text="labels that the rule gives no more")
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["id"], condition=models.Q(finished_at__isnull=True), name="merge_unfinished")
        ]

    def __str__(self) -> str:
        return f"{self.rule} of {self.build}"
