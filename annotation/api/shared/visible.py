"""What a caller may know of. Every query of the API begins here, hence at `builds_visible_to`."""

from __future__ import annotations

from typing import Final

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from annotation.accounts.roles import builds_visible_to, can_see_every_build, jobs_visible_to
from annotation.models import Build, Case, Execution, ExecutionRequest, Review, Step
from retrieval.models.prepared_query import PreparedQuery

WHOLE_CASE: Final = (
    *("build", "query", "pair__query__body", "pair__snippet__body", "program__source", "execution"),
)
ANY_CASE: PreparedQuery[Case] = PreparedQuery(
    lambda pk: Case.objects.filter(pk=pk, build__filling=None).select_related(*WHOLE_CASE).order_by(), int
)
"""A case of any build that writes no functions."""


def caller(request: HttpRequest) -> User:
    """Who calls; operations are only reached by people who are signed in."""
    assert isinstance(request.user, User), "authentication comes before the operation"
    return request.user


def builds(request: HttpRequest) -> QuerySet[Build]:
    related = "queries", "snippets", "tally", "created_by"
    return builds_visible_to(request.user).select_related(*related)


def build(request: HttpRequest, pk: int) -> Build:
    """Raises Http404 where there is no such build for the caller."""
    return get_object_or_404(builds(request).select_related("mining", "annotator"), pk=pk)


def job(request: HttpRequest, pk: int) -> Build:
    """The same, also where it is one that writes functions: to be watched and controlled. Raises Http404."""
    related = "queries", "snippets", "tally", "created_by", "mining", "annotator"
    return get_object_or_404(jobs_visible_to(request.user).select_related(*related), pk=pk)


def cases(request: HttpRequest) -> QuerySet[Case]:
    return Case.objects.filter(build__in=builds_visible_to(request.user))


def case(request: HttpRequest, pk: int) -> Case:
    """A case with the whole texts of its pair. Raises Http404."""
    if not can_see_every_build(request.user):
        return get_object_or_404(cases(request).select_related(*WHOLE_CASE), pk=pk)
    if found := ANY_CASE.first(pk):
        return found
    raise Http404


def executions(request: HttpRequest) -> QuerySet[Execution]:
    """Executions that a visible case rests on, or that somebody asked for on one's pair."""
    seen = cases(request)
    stepped = Step.objects.filter(case__in=seen, execution=OuterRef("pk"))
    plain = ExecutionRequest.objects.filter(assignment=None)
    asked = plain.filter(execution=OuterRef("pk"), program__pair__in=seen.values("pair"))
    return Execution.objects.filter(Q(Exists(stepped)) | Q(Exists(asked)))


def reviews(request: HttpRequest) -> QuerySet[Review]:
    return Review.objects.filter(case__in=cases(request)).select_related("rater")
