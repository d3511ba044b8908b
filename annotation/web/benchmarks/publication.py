"""What the pages show on which a build's pairs, or corrected labels of given pairs, become a benchmark."""

from __future__ import annotations

from typing import Any, Final, cast

from django import forms
from django.contrib.auth.models import User
from django.core.cache import cache
from django.urls import reverse

from annotation.builds.results.mined_scope import LONGEST_NAME
from annotation.builds.results.publication import (
    PublicationOutlook,
    PublishRefused,
    Wish,
    check_publish_wish,
    find_labelling_annotator,
    pair_ids_of_wish,
    preview_publication,
)
from annotation.derived import corrected_labels, publish_job
from annotation.derived.missing_functions.unmatched_queries import count_queries_by_match
from annotation.derived.publish_job import PublishOrder, perform_publish_job
from annotation.models import Build
from annotation.web.shared import jobs
from annotation.web.shared.forms import attempt
from retrieval.evaluation.merge_rule import merge_rule_words
from retrieval.jobs import submit_job
from retrieval.models import Benchmark, Job, Label, Pool

SMALL: Final = 2000
"""Pairs that are published in less time than a worker needs to start."""
KEPT_SECONDS: Final = 3600


def order_publication(build: Build, user: User, order: PublishOrder, *, small: bool) -> Job:
    """The job, or the same that is open already; a small one is done here and now.

    Raises PublishRefused where something else is being published of the build.
    """
    job, new = submit_job(order, user, build.pk, held=small)
    if new and small:
        perform_publish_job(job)
    if (open_one := PublishOrder.of(job)) != order:
        raise PublishRefused(
            f"The build is being published as {open_one.name!r} already: let that finish first."
        )
    return job


class PublishForm(forms.Form):
    name = forms.CharField(
        max_length=LONGEST_NAME,
        label="Name of the benchmark",
        help_text="If the name exists, this becomes its next version. Earlier versions stay as they are.",
    )
    pool = forms.ChoiceField(choices=Pool.choices, widget=forms.RadioSelect, label="Systems search …")

    def job(self, build: Build, user: User) -> Job | None:
        """The job of a valid form; None, with an error, where something else is being published of it."""
        order, small = PublishOrder(**self.cleaned_data), is_small(build)
        return attempt(self, lambda: order_publication(build, user, order, small=small), PublishRefused)


def is_small(build: Build) -> bool:
    return pair_ids_of_wish(Wish("", build.mining, build))[: SMALL + 1].count() <= SMALL


def publish_page(build: Build, *, counted: bool) -> dict[str, Any]:
    """`counted`: with what would be published, which a small build always has: counting may take a second.

    `problem` says why the build's pairs can't be published now; then there is no outlook, nor while a job is
    open.
    """
    wish = Wish(build.name, build.mining, build)
    page: dict[str, Any] = {
        "build": build,
        "rule": merge_rule_words(build.reviews_needed),
        "jobs": publish_jobs_of_build(build),
    }
    if page["jobs"].is_live:
        return page
    try:
        check_publish_wish(wish)
        if not (counted or is_small(build)):
            return page
        unmatched = count_queries_by_match(build).without if build.mining else 0
        return page | {"outlook": load_cached_outlook(wish, build), "unmatched": unmatched}
    except PublishRefused as why:
        unmerged = build.is_over and find_labelling_annotator(build) is None
        return page | {"problem": str(why), "unmerged": unmerged}


def load_cached_outlook(wish: Wish, build: Build) -> PublicationOutlook:
    """The outlook, counted once until what decides it changes: labels are only ever added."""
    last = Label.objects.order_by("-pk").values_list("pk", flat=True).first()
    merges = build.merges.filter(finished_at__isnull=False).count()
    key = f"outlook:{build.pk}.{build.created_at:%s%f}.{build.tally.version}.{last}.{merges}"
    return cast(PublicationOutlook, cache.get_or_set(key, lambda: preview_publication(wish), KEPT_SECONDS))


def publish_jobs_of_build(build: Build) -> jobs.Table:
    """The newest orders of the build."""
    return jobs.build_job_table(
        Job.objects.about(Job.Kind.PUBLISH, build.pk),
        jobs.build_publish_job_row,
        "Published of this build",
        "Benchmark",
        reverse("build-publish-jobs", args=[build.pk]),
        again=(reverse("build-publish", args=[build.pk]), "Publish this build again"),
    )


SMALL_SCORED: Final = 2_000
"""Queries times runs that are scored in less than two seconds."""


class CorrectForm(forms.Form):
    name = forms.CharField(
        max_length=LONGEST_NAME,
        label="Name of the benchmark",
        help_text="The same name makes the next version; another name starts a new benchmark.",
    )

    def job(self, build: Build, benchmark: Benchmark, user: User) -> Job | None:
        """The job of a valid form; None, with an error, where something else is being published of it."""
        small = is_small(build) and publish_job.scored_again(benchmark) <= SMALL_SCORED
        name = self.cleaned_data["name"].strip()
        order = PublishOrder(name=name, pool=Pool(benchmark.pool), corrects=benchmark.pk)
        return attempt(self, lambda: order_publication(build, user, order, small=small), PublishRefused)


def correct_page(build: Build, benchmark: Benchmark) -> dict[str, Any]:
    """`problem` says why the labels can't be corrected now; then there is no outlook."""
    page: dict[str, Any] = {"build": build, "benchmark": benchmark, "jobs": publish_jobs_of_build(build)}
    if page["jobs"].is_live:
        return page
    try:
        return page | {"outlook": corrected_labels.preview_correction(build, benchmark)}
    except PublishRefused as why:
        return page | {"problem": str(why)}
