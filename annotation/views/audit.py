"""The audit log, the history of labels, and one's own with a way back."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.access import Role, needs, refuse_while_blind
from annotation.models import Review
from annotation.pages.audit import (
    COLUMNS,
    AuditFilter,
    audit_page,
    decisions_exported,
    exported,
    history_page,
)
from annotation.review import Conflict, restoring
from annotation.seen import mark_seen
from annotation.studies import exporting
from annotation.studies.auditing import Verb, decided_on, record
from annotation.views.rating import newest_in
from annotation.views.studies import person


@require_safe
@needs(Role.ADMIN)
def index(request: HttpRequest) -> HttpResponse:
    refuse_while_blind(request.user)
    page = audit_page(request.GET)
    mark_seen(request.user, decided_on(page.rows))
    return render(request, "annotation/audit.html", {"page": page})


@require_safe
@needs(Role.ADMIN)
def export(request: HttpRequest) -> HttpResponseBase:
    """The filtered log as a CSV; of a filter that is wrong the page says why."""
    refuse_while_blind(request.user)
    if not AuditFilter(request.GET).is_valid():
        return redirect(f"{reverse('audit')}?{request.GET.urlencode()}")
    record(request.user, Verb.EXPORTED, "audit log", detail={"filter": request.GET.urlencode()})
    mark_seen(request.user, decided_on(decisions_exported(request.GET)))
    lines = exporting.as_csv(COLUMNS, exported(request.GET))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="audit.csv"'
    return response


@require_safe
@needs(Role.ADMIN)
def labels(request: HttpRequest) -> HttpResponse:
    """Every revision of every label by anybody."""
    refuse_while_blind(request.user)
    page = history_page(request.GET)
    mark_seen(request.user, page.told_to(person(request)))
    return render(request, "annotation/labels.html", {"page": page, "own": False})


@require_safe
@needs(Role.EXPERT)
def own(request: HttpRequest) -> HttpResponse:
    """Every revision of one's own labels."""
    page = history_page(request.GET, only=person(request).pk)
    return render(request, "annotation/labels.html", {"page": page, "own": True})


@require_POST
@needs(Role.EXPERT)
def restore(request: HttpRequest, pk: int) -> HttpResponse:
    """Let an earlier revision of one's own review stand again, as the next one."""
    refuse_while_blind(request.user)
    review = get_object_or_404(Review, pk=pk, rater=person(request))
    try:
        made = restoring.restore(review, person(request), newest_in(request))
    except (restoring.NothingToRestore, Conflict) as why:
        messages.error(request, str(why))
    else:
        messages.success(request, f"Revision {review.revision} stands again, as revision {made.revision}.")
    return redirect("history")
