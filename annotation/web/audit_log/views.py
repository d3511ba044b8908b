"""The audit log, the history of labels, and one's own with a way back."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation.accounts.roles import GET, POST, Role, builds_visible_to, refuse_while_blind, require_role
from annotation.models import Review
from annotation.review import Conflict, earlier_revisions
from annotation.review.label_pace import measure_label_pace
from annotation.studies.audit_log import Verb, append_audit_event, decided_on
from annotation.studies.exposure import mark_seen
from annotation.studies.report import rating_export
from annotation.web.audit_log.page import (
    COLUMNS,
    PAGE_SIZE,
    AuditFilter,
    export_audit_rows,
    export_cut,
    history_page,
    list_told_pairs,
)
from annotation.web.rating.actions import newest_in
from annotation.web.shared.pagination import load_page_window, query_string
from annotation.web.shared.requests import attach, person, say_refusals


@require_role(Role.ADMIN, GET)
def index(request: HttpRequest) -> HttpResponse:
    refuse_while_blind(request.user)
    form = AuditFilter(request.GET)
    page = load_page_window(form.rows(), ("-id",), request.GET, PAGE_SIZE)
    mark_seen(request.user, decided_on(page.rows))
    context = {"page": page, "form": form, "query": query_string(request.GET), "cut_at": export_cut(form)}
    return render(request, "annotation/audit_log/audit.html", context)


@require_role(Role.ADMIN, GET)
def export(request: HttpRequest) -> HttpResponseBase:
    """The filtered log as a CSV; of a filter that is wrong the page says why."""
    refuse_while_blind(request.user)
    form = AuditFilter(request.GET)
    if not form.is_valid():
        return redirect(f"{reverse('audit')}?{request.GET.urlencode()}")
    append_audit_event(request.user, Verb.EXPORTED, "audit log", detail={"filter": request.GET.urlencode()})
    mark_seen(request.user, decided_on(form.rows().filter(verb=Verb.SPLIT_DECIDED)))
    lines = rating_export.as_csv(COLUMNS, export_audit_rows(request.GET))
    return attach(StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8"), "audit.csv")


@require_role(Role.ADMIN, GET)
def labels(request: HttpRequest) -> HttpResponse:
    """Every revision of every label by anybody."""
    refuse_while_blind(request.user)
    page = history_page(request.GET, builds_visible_to(request.user))
    mark_seen(request.user, list_told_pairs(person(request), page))
    return render(request, "annotation/audit_log/labels.html", {"page": page, "own": False})


@require_role(Role.EXPERT, GET)
def own(request: HttpRequest) -> HttpResponse:
    """Every revision of one's own labels."""
    user, visible = person(request), builds_visible_to(request.user)
    context = {
        "page": history_page(request.GET, visible, only=user.pk),
        "pace": measure_label_pace(user, visible),
    }
    return render(request, "annotation/audit_log/labels.html", {**context, "own": True})


@require_role(Role.EXPERT, POST)
def restore(request: HttpRequest, pk: int) -> HttpResponse:
    """Let an earlier revision of one's own review stand again, as the next one."""
    refuse_while_blind(request.user)
    review = get_object_or_404(Review, pk=pk, rater=person(request))
    with say_refusals(request, earlier_revisions.NoReviewToRestore, Conflict):
        made = earlier_revisions.restore_revision(review, person(request), newest_in(request))
        messages.success(request, f"Revision {review.revision} is restored, as revision {made.revision}.")
    return redirect("history")
