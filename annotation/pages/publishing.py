"""What the page shows on which a build's pairs are published as a benchmark."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from django import forms
from django.contrib.auth.models import User
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from annotation.children import CHILD_LEASE
from annotation.mined import LONGEST_NAME
from annotation.models import Build, PublishJob
from annotation.pages import jobs
from annotation.performing import perform
from annotation.releasing import Outlook, PublishRefused, Wish, check, outlook, pairs_of
from retrieval.evaluation.merge_rule import WORDS
from retrieval.models import Label, Pool

SMALL: Final = 2000
"""Pairs that are published in less time than a worker needs to start."""
KEPT_SECONDS: Final = 3600


def ordered(build: Build, user: User, *, small: bool, **wanted: Any) -> PublishJob:
    """The job, or the same that is open already; a small one is done here and now.

    Raises PublishRefused where something else is being published of the build.
    """
    # Should this process die at it, a worker takes it up when the lease has run out.
    held = {"state": PublishJob.State.RUNNING, "lease_until": timezone.now() + CHILD_LEASE}
    job, new = PublishJob.objects.get_or_create(
        build=build,
        state__in=PublishJob.OPEN,
        defaults={**wanted, "created_by": user, **(held if small else {})},
    )
    if new and small:
        perform(job)
    if any(getattr(job, name) != value for name, value in wanted.items()):
        raise PublishRefused(f"The build is being published as {job.name!r} already: let that end first.")
    return job


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
        """The job of a valid form; None, with an error, where something else is being published of it."""
        values = self.cleaned_data
        small, wanted = is_small(build), {"name": values["name"], "pool": values["pool"], "fills": False}
        try:
            return ordered(build, user, small=small, **wanted)
        except PublishRefused as why:
            self.add_error(None, str(why))
            return None


@dataclass(frozen=True, slots=True)
class PublishPage:
    """`problem` says why the build's pairs can't be published now; then there is no outlook.

    Nor is there one while a job is open, or before it is asked for: counting may take a second or two.
    """

    build: Build
    rule: str
    jobs: jobs.Table
    outlook: Outlook | None = None
    problem: str = ""


def initial(build: Build) -> dict[str, Any]:
    return {"name": build.name, "pool": Pool.COLLECTION}


def is_small(build: Build) -> bool:
    return pairs_of(Wish("", build.mining, build))[: SMALL + 1].count() <= SMALL


def publish_page(build: Build, *, counted: bool) -> PublishPage:
    """`counted`: with what would be published, which a small build always has."""
    page, wish = PublishPage(build, WORDS, jobs_of(build)), Wish(build.name, build.mining, build)
    if page.jobs.is_live:
        return page
    try:
        check(wish)
        return replace(page, outlook=kept(wish, build)) if counted or is_small(build) else page
    except PublishRefused as why:
        return replace(page, problem=str(why))


def kept(wish: Wish, build: Build) -> Outlook:
    """The outlook, counted once until what decides it changes: labels are only ever added."""
    last = Label.objects.order_by("-pk").values_list("pk", flat=True).first()
    merges = build.merges.filter(finished_at__isnull=False).count()
    key = f"outlook:{build.pk}.{build.created_at:%s%f}.{build.tally.version}.{last}.{merges}"
    found: Outlook | None = cache.get(key)
    if found is None:
        found = outlook(wish)
        cache.set(key, found, KEPT_SECONDS)
    return found


def jobs_of(build: Build) -> jobs.Table:
    """The newest orders of the build."""
    rows = build.publish_jobs.select_related("created_by", "benchmark").defer("benchmark__matches")
    return jobs.Table(
        "Published of this build",
        "Benchmark",
        reverse("build-publish-jobs", args=[build.pk]),
        [jobs.published(job) for job in rows[: jobs.SHOWN]],
        (reverse("build-publish", args=[build.pk]), "Publish this build again"),
    )
