"""What somebody did that others may have to answer for; appended in the transaction of what it tells."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models

from annotation.models.studies.studies import Study


class AuditEvent(models.Model):
    """One fact: who did what to what, and when. Never changed, never deleted, also where its study is."""

    at = models.DateTimeField(auto_now_add=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    verb = models.CharField(max_length=40)
    what = models.CharField(max_length=300, help_text="in words, short")
    detail: Any = models.JSONField(default=dict)
    study = models.ForeignKey(
        Study, on_delete=models.SET_NULL, null=True, blank=True, related_name="audit_events"
    )

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["verb", "id"], name="audit_by_verb"),
            models.Index(fields=["at"], name="audit_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.verb}: {self.what}"
