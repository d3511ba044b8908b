"""The audit of given pairs, and a file of pairs that somebody gives."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import Role, builds_visible_to, needs, refuse_while_blind
from annotation.pages.given_pairs import PairsForm
from annotation.pages.label_audit import AuditPage, audit_page
from annotation.seen import mark_seen
from annotation.studies.planning import StudyRefused
from retrieval.counting import counted


@require_safe
@needs(Role.READER)
def audit(request: HttpRequest, pk: int) -> HttpResponse:
    """Closed while the person rates: labels of anybody tell of the pairs of a study."""
    refuse_while_blind(request.user)
    visible = builds_visible_to(request.user)
    given = visible.filter(given__isnull=False)
    build = get_object_or_404(given.select_related("annotator", "tally", "given__benchmark"), pk=pk)
    try:
        page = audit_page(build, visible, request.GET)
    except StudyRefused as why:
        assert build.given is not None
        page = AuditPage(build, build.given, (build,), problem=str(why))
    mark_seen(request.user, page.seen)
    return render(request, "annotation/build_audit.html", {"page": page}, status=422 if page.problem else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def upload(request: HttpRequest) -> HttpResponse:
    """A file of pairs becomes a list that the launch form then has chosen."""
    form = PairsForm(request.POST or None, request.FILES or None)
    read = form.read() if form.is_valid() else None
    if read is None:
        context = {"form": form}
        return render(request, "annotation/pairs_new.html", context, status=422 if form.errors else 200)
    left = f"; {counted(len(read.left_out), 'row')} left out" if read.left_out else ""
    messages.success(request, f"{counted(read.pairs.size, 'pair')} of {read.pairs.name}{left}.")
    return redirect(f"{reverse('build-new')}?given=list-{read.pairs.pk}")
