"""What people type is kept while they type it: by whom, and which of their windows."""

from __future__ import annotations

from django.db import models


class KeptText(models.Model):
    """A draft of one field; see `annotation.draft_rules` for which window may overwrite it."""

    text = models.TextField()
    window = models.CharField(
        max_length=40, blank=True, default="", db_default="", help_text="of the browser that sent it"
    )
    updated_at = models.DateTimeField(auto_now=True)

    field: str

    class Meta:
        abstract = True

    @property
    def revision(self) -> str:
        """What a window sends back to prove which text it knows: no two that are kept have the same."""
        return self.updated_at.isoformat()
