"""The rules that raters follow: versioned, acknowledged, and grown by decisions on hard cases."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Guideline(models.Model):
    """One version of the rules, with worked cases; never changed once a study uses it."""

    class Change(models.TextChoices):
        FIRST = "first", "the first version"
        WORDING = "wording", "wording: labels stay what they are"
        MEANING = "meaning", "meaning: some labels may be different now"

    name = models.CharField(max_length=80)
    version = models.PositiveIntegerField(help_text="from 1, for each name")
    text = models.TextField(help_text="Markdown")
    worked_cases = models.JSONField(default=list, help_text="query, code, value and why of each")
    change = models.CharField(max_length=7, choices=Change, default=Change.FIRST)
    note = models.TextField(blank=True, help_text="what changed since the version before")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "-version"]
        constraints = [models.UniqueConstraint(fields=["name", "version"], name="guideline_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class Acknowledgement(models.Model):
    """That a person has read one version of the guidelines."""

    guideline = models.ForeignKey(Guideline, on_delete=models.PROTECT, related_name="acknowledgements")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["guideline", "user"], name="acknowledgement_once")]

    def __str__(self) -> str:
        return f"{self.user} read {self.guideline}"


class Precedent(models.Model):
    """A decision on a hard case that later ones can be held against; searchable, appended only."""

    guideline_name = models.CharField(
        max_length=80, help_text="the guidelines that it explains, all versions"
    )
    query = models.TextField()
    code = models.TextField()
    value = models.SmallIntegerField(
        null=True, help_text="on the scale of the study; null: could not be decided"
    )
    reason = models.TextField()
    tags = models.JSONField(default=list)
    adjudication = models.OneToOneField(
        "Adjudication", on_delete=models.PROTECT, null=True, related_name="precedent"
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.CheckConstraint(condition=~Q(reason=""), name="precedent_has_reason")]

    def __str__(self) -> str:
        return f"precedent {self.pk} of {self.guideline_name}"
