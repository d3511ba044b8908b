"""What the page shows on which the corrected labels of given pairs are published."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.contrib.auth.models import User

from annotation.builds.results.mined_scope import LONGEST_NAME
from annotation.builds.results.publication import PublishRefused
from annotation.derived import corrected_labels, publish_job
from annotation.derived.publish_job import PublishOrder
from annotation.models import Build
from annotation.web.benchmarks.publication import is_small, order_publication, publish_jobs_of_build
from retrieval.models import Benchmark, Job, Pool

SMALL_SCORED: Final = 2_000
"""Queries times runs that are scored in less than two seconds."""


class CorrectForm(forms.Form):
    name = forms.CharField(
        max_length=LONGEST_NAME,
        label="Name of the benchmark",
        help_text="Its own name makes its next version; another name makes the first one of that.",
    )

    def job(self, build: Build, benchmark: Benchmark, user: User) -> Job | None:
        """The job of a valid form; None, with an error, where something else is being published of it."""
        small = is_small(build) and publish_job.scored_again(benchmark) <= SMALL_SCORED
        name = self.cleaned_data["name"].strip()
        order = PublishOrder(name=name, pool=Pool(benchmark.pool), corrects=benchmark.pk)
        try:
            return order_publication(build, user, order, small=small)
        except PublishRefused as why:
            self.add_error(None, str(why))
            return None


def correct_page(build: Build, benchmark: Benchmark) -> dict[str, Any]:
    """`problem` says why the labels can't be corrected now; then there is no outlook."""
    page: dict[str, Any] = {"build": build, "benchmark": benchmark, "jobs": publish_jobs_of_build(build)}
    if page["jobs"].is_live:
        return page
    try:
        return page | {"outlook": corrected_labels.preview_correction(build, benchmark)}
    except PublishRefused as why:
        return page | {"problem": str(why)}
