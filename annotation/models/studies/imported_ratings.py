"""Labels that people gave elsewhere."""

from __future__ import annotations

from django.db import models

from annotation.models.studies.studies import Study


class ImportedRating(models.Model):
    """One foreign label, as its file has it; `cluster` is what intervals resample (the query)."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="imported")
    row = models.PositiveIntegerField(help_text="line of the file, from 1 after the header")
    item = models.CharField(max_length=64, help_text="sha256 of what identifies the item")
    item_text = models.TextField(help_text="that, to be read: language, query and URL, or the item's name")
    cluster = models.CharField(max_length=64, help_text="sha256 of the query")
    rater = models.CharField(max_length=120, blank=True, help_text="empty where the file names none")
    value = models.FloatField()
    notes = models.TextField(blank=True)

    class Meta:
        ordering = ["study", "row"]
        constraints = [models.UniqueConstraint(fields=["study", "row"], name="imported_rating_once")]

    def __str__(self) -> str:
        return f"row {self.row} of {self.study}"
