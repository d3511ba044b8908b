"""What the page shows on which the corrected labels of given pairs are published."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from django import forms
from django.contrib.auth.models import User

from annotation import correcting, performing
from annotation.correcting import Outlook
from annotation.mined import LONGEST_NAME
from annotation.models import Build, PublishJob
from annotation.pages import jobs
from annotation.pages.publishing import is_small, jobs_of, ordered
from annotation.releasing import PublishRefused
from retrieval.models import Benchmark

SMALL_SCORED: Final = 2_000
"""Queries times runs that are scored in less than two seconds."""


class CorrectForm(forms.Form):
    name = forms.CharField(
        max_length=LONGEST_NAME,
        label="Name of the benchmark",
        help_text="Its own name makes its next version; another name makes the first one of that.",
    )

    def job(self, build: Build, benchmark: Benchmark, user: User) -> PublishJob | None:
        """The job of a valid form; None, with an error, where something else is being published of it."""
        small = is_small(build) and performing.scored_again(benchmark) <= SMALL_SCORED
        wanted = {
            "name": self.cleaned_data["name"].strip(),
            "pool": benchmark.pool,
            "fills": False,
            "corrects": benchmark,
        }
        try:
            return ordered(build, user, small=small, **wanted)
        except PublishRefused as why:
            self.add_error(None, str(why))
            return None


@dataclass(frozen=True, slots=True)
class CorrectPage:
    """`problem` says why the labels can't be corrected now; then there is no outlook."""

    build: Build
    benchmark: Benchmark
    jobs: jobs.Table
    outlook: Outlook | None = None
    problem: str = ""


def correct_page(build: Build, benchmark: Benchmark) -> CorrectPage:
    page = CorrectPage(build, benchmark, jobs_of(build))
    if page.jobs.is_live:
        return page
    try:
        return replace(page, outlook=correcting.outlook(build, benchmark))
    except PublishRefused as why:
        return replace(page, problem=str(why))
