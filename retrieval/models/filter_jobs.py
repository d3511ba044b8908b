"""Collections of what passes filters, that are made in the background."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from retrieval.models.collections import Collection
from retrieval.models.orders import OrderedJob


class FilterJob(OrderedJob):
    """One order to make a collection called `name` of what of `source` passes `filters`.

    Without filters and a name it is the order to count what each filter refuses, which is kept as `counts`.
    """

    source = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="filter_jobs")
    name = models.CharField(max_length=120)
    filters = models.JSONField(help_text="names of the filters")
    done = models.PositiveIntegerField(default=0, help_text="members done in the present stage")
    total = models.PositiveIntegerField(default=0)
    message = models.TextField(blank=True, help_text="the present stage and its rate, or why it failed")
    counts = models.JSONField(null=True, help_text="as retrieval.filtering tells them")
    made = models.ForeignKey(
        Collection, on_delete=models.SET_NULL, null=True, related_name="+", help_text="what it became"
    )

    class Meta(OrderedJob.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["source", "name"],
                condition=Q(state__in=["waiting", "running"]),
                name="filter_job_open_once",
            )
        ]

    @property
    def counts_only(self) -> bool:
        """Whether nothing is made."""
        return not self.filters

    def __str__(self) -> str:
        return f"{self.name} of {self.source} ({self.state})"
