"""The money of all live builds together, and the cap that they share."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.db import models

from annotation.models.builds.build import WITHIN_CAP
from retrieval.models import statements

ONE_ROW: Final = {"id": 1}


class ProjectTallyQuerySet(models.QuerySet["ProjectTally"]):
    def now(self) -> ProjectTally:
        """The one row, made where there is none."""
        return self.get_or_create(pk=ProjectTally.ONLY)[0]

    def book(self, reserved: int = 0, spent: int = 0) -> None:
        """Add to what is reserved and spent, in one UPDATE. Whoever holds a build's totals may call this."""
        if reserved or spent:
            changes = {"reserved": reserved, "spent": spent}
            if not statements.update_rows(ProjectTally, ONE_ROW, grow=changes):
                self.now()
                statements.update_rows(ProjectTally, ONE_ROW, grow=changes)

    def reserve(self, amount: int) -> bool:
        """Reserve `amount` nanodollars unless that would pass the cap; says whether it did."""
        if not amount:
            return True
        if self._reserved(amount):
            return True
        _, made = self.get_or_create(pk=ProjectTally.ONLY)
        return made and self._reserved(amount)

    def _reserved(self, amount: int) -> bool:
        grown = {"reserved": amount}
        return (
            statements.update_rows(ProjectTally, ONE_ROW, grow=grown, provided=WITHIN_CAP, values=[amount])
            == 1
        )


class ProjectTally(models.Model):
    """What all live builds have reserved and spent: one row, always locked after a build's own totals."""

    ONLY = 1

    cap = models.PositiveBigIntegerField(null=True, help_text="nanodollars; null = no cap")
    reserved = models.PositiveBigIntegerField(default=0, help_text="nanodollars")
    spent = models.PositiveBigIntegerField(default=0, help_text="nanodollars")

    objects = ProjectTallyQuerySet.as_manager()

    def __str__(self) -> str:
        return "the project's money"


class ProjectCapChange(models.Model):
    """Who set the project's cap, when and why; appended, never changed. Amounts are in nanodollars."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    before = models.PositiveBigIntegerField(null=True, help_text="nanodollars; null = no cap")
    after = models.PositiveBigIntegerField(null=True, help_text="nanodollars; null = no cap")
    reason = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at", "-id"]

    def __str__(self) -> str:
        return f"the project's cap, {self.at:%Y-%m-%d}"
