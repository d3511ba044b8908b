"""Which snippets are the same code under other names, and which labels were carried over because of it."""

from __future__ import annotations

from django.db import models

from annotation.models.reviews.reviews import Review
from retrieval.models import Text


class NormalForm(models.Model):
    """The hash by which a snippet equals another one up to names, comments and docstring."""

    snippet = models.OneToOneField(
        Text, on_delete=models.PROTECT, related_name="normal_form", primary_key=True
    )
    version = models.PositiveSmallIntegerField(help_text="sandbox.candidate.normal_form.VERSION")
    digest = models.CharField(max_length=64, blank=True, help_text="empty for a text that does not parse")

    def __str__(self) -> str:
        return f"form of {self.snippet}"


class CarriedOver(models.Model):
    """That a review repeats one that the same person gave for an equal candidate of the query."""

    review = models.OneToOneField(Review, on_delete=models.PROTECT, related_name="carried", primary_key=True)
    source = models.ForeignKey(Review, on_delete=models.PROTECT, related_name="carried_to", db_index=False)

    def __str__(self) -> str:
        return f"{self.review} carried over from {self.source}"
