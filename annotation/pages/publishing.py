"""What the page shows on which a build's pairs are published as a benchmark."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from django import forms
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.children import CHILD_LEASE
from annotation.models import Build, PublishJob
from annotation.releasing import LONGEST_NAME, Outlook, PublishRefused, Wish, outlook, pairs_of, perform
from retrieval.evaluation.merge_rule import WORDS
from retrieval.models import Pool

SHOWN: Final = 5
SMALL: Final = 2000
"""Pairs that are published in less time than a worker needs to start."""


class PublishForm(forms.Form):
    name = forms.CharField(
        max_length=LONGEST_NAME,
        label="Name of the benchmark",
        help_text="A name that exists gets another version; the versions before it stay as they are.",
    )
    pool = forms.ChoiceField(
        choices=Pool.choices, widget=forms.RadioSelect, label="Systems that are measured search …"
    )

    def job(self, build: Build, user: User) -> PublishJob | None:
        """The job of a valid form, or the same that is open already; a small one is done here and now.

        None, with an error, where something else is being published of the build.
        """
        wanted = {"name": self.cleaned_data["name"], "pool": self.cleaned_data["pool"]}
        small = pairs_of(Wish("", build.mining, build))[: SMALL + 1].count() <= SMALL
        # Should this process die at it, a worker takes it up when the lease has run out.
        held = {"state": PublishJob.State.RUNNING, "lease_until": timezone.now() + CHILD_LEASE}
        job, new = PublishJob.objects.get_or_create(
            build=build,
            state__in=PublishJob.OPEN,
            defaults={**wanted, "created_by": user, **(held if small else {})},
        )
        if new and small:
            perform(job)
        if wanted != {"name": job.name, "pool": job.pool}:
            self.add_error(None, f"The build is being published as {job.name!r} already: let that end first.")
            return None
        return job


@dataclass(frozen=True, slots=True)
class PublishPage:
    """`problem` says why the build's pairs can't be published now; then there is no outlook.

    Nor is there one while a job is open: counting takes as long as publishing.
    """

    build: Build
    rule: str
    jobs: tuple[PublishJob, ...] = ()
    outlook: Outlook | None = None
    problem: str = ""

    @property
    def is_live(self) -> bool:
        return any(job.state in PublishJob.OPEN for job in self.jobs)


def initial(build: Build) -> dict[str, Any]:
    return {"name": build.name, "pool": Pool.COLLECTION}


def publish_page(build: Build) -> PublishPage:
    page = jobs_page(build)
    if page.is_live:
        return page
    try:
        return replace(page, outlook=outlook(Wish(build.name, build.mining, build)))
    except PublishRefused as why:
        return replace(page, problem=str(why))


def jobs_page(build: Build) -> PublishPage:
    """The newest jobs alone."""
    jobs = build.publish_jobs.select_related("created_by", "benchmark").defer("benchmark__matches")[:SHOWN]
    return PublishPage(build, WORDS, tuple(jobs))
