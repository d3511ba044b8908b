"""A build's pairs as a benchmark, as its page publishes them."""

from __future__ import annotations

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Path, Router, Status

from annotation.accounts.roles import Role, builds_visible_to
from annotation.api.project.jobs import job_out
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.api.shared.form_refusals import form_values, refuse_invalid
from annotation.builds.results.publication import PublicationOutlook, Wish, check_publish_wish
from annotation.models import Build
from annotation.schemas.benchmarks.benchmarks import CorrectIn, LabelCountOut, PublicationOut, PublishIn
from annotation.schemas.project.jobs import JobOut
from annotation.web.benchmarks.publication import CorrectForm, PublishForm, load_cached_outlook
from retrieval.evaluation.merge_rule import merge_rule_words
from retrieval.models import Job
from retrieval.schemas import Id

router = Router(tags=["benchmarks"], auth=signed_in(Role.ADMIN))


@router.get("/{int:pk}/publication", response=PublicationOut)
def get_publication(request: HttpRequest, pk: Path[Id]) -> PublicationOut:
    """What publishing the build would give: its pairs by the source of their label. For admins."""
    build = publishable(request, pk)
    wish = Wish(build.name, build.mining, build)
    check_publish_wish(wish)
    return outlook_out(load_cached_outlook(wish, build), build)


@router.post("/{int:pk}/benchmarks", response={201: JobOut})
def publish_build(request: HttpRequest, pk: Path[Id], wanted: PublishIn) -> Status[JobOut]:
    """Publish the build's pairs as a benchmark: few at once, many by a worker. For admins.

    The job's `result` names the benchmark. Publishing the same again changes nothing.
    """
    build = publishable(request, pk)
    form = PublishForm(form_values({"name": wanted.name or build.name, "pool": wanted.pool}))
    refuse_invalid(form)
    job = form.job(build, visible.caller(request))
    refuse_invalid(form)
    return ordered(job)


@router.post("/{int:pk}/corrections", response={201: JobOut})
def publish_corrections(request: HttpRequest, pk: Path[Id], wanted: CorrectIn) -> Status[JobOut]:
    """Publish the corrected labels of the given pairs that the build judged. For admins."""
    build = publishable(request, pk)
    if build.pair_list is None or build.pair_list.benchmark is None:
        raise Http404
    benchmark = build.pair_list.benchmark
    form = CorrectForm(form_values({"name": wanted.name or benchmark.name}))
    refuse_invalid(form)
    job = form.job(build, benchmark, visible.caller(request))
    refuse_invalid(form)
    return ordered(job)


def publishable(request: HttpRequest, pk: int) -> Build:
    """Raises Http404."""
    related = "annotator", "tally", "mining__queries", "mining__snippets", "pair_list__benchmark"
    return get_object_or_404(builds_visible_to(request.user).select_related(*related), pk=pk, opened=True)


def ordered(job: Job | None) -> Status[JobOut]:
    """The job as it is now: a small one is done already."""
    assert job is not None, "a form without errors has ordered its job"
    job.refresh_from_db()
    return Status(201, job_out(job))


def outlook_out(found: PublicationOutlook, build: Build) -> PublicationOut:
    counts = [
        LabelCountOut(source=str(count.source), matches=count.matches, no_matches=count.no_matches)
        for count in found.counts
    ]
    return PublicationOut(
        pairs=found.pairs,
        judged=found.judged,
        unjudged=found.unjudged,
        counts=counts,
        out_of_reach=found.out_of_reach,
        rule=merge_rule_words(build.reviews_needed),
    )
