"""Lines of a function that are marked as the reason of what a row says."""

from __future__ import annotations

from typing import Final

from django.db import models
from django.db.models import F, Q

MARK_COLUMNS: Final = ("marked_first", "marked_last", "marked_code")


class MarkedCode(models.Model):
    """The columns of a mark: all have a value, or none. Add `marks_whole_lines` to the constraints."""

    marked_first = models.PositiveIntegerField(
        null=True, help_text="first line of the function, from 1, that is marked as the reason"
    )
    marked_last = models.PositiveIntegerField(null=True, help_text="last line of them")
    marked_code = models.CharField(
        max_length=64, blank=True, db_default="", default="", help_text="sha256 of the code with these lines"
    )

    class Meta:
        abstract = True

    @property
    def marked_lines(self) -> str:
        """The lines that are marked as the reason, as people type them: `4-7`, `4`, or empty for none."""
        if self.marked_first is None:
            return ""
        several = self.marked_first != self.marked_last
        return f"{self.marked_first}-{self.marked_last}" if several else str(self.marked_first)


def marks_whole_lines(name: str) -> models.CheckConstraint:
    """The constraint, under the name that the table gives it."""
    return models.CheckConstraint(
        condition=Q(marked_first=None, marked_last=None, marked_code="")
        | Q(marked_first__isnull=False, marked_last__isnull=False)
        & Q(marked_first__gte=1, marked_last__gte=F("marked_first"))
        & ~Q(marked_code=""),
        name=name,
    )
