"""The audit of given pairs, and a file of pairs that somebody gives."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation.accounts.roles import FORM, GET, Role, builds_visible_to, refuse_while_blind, require_role
from annotation.review.hidden_labels import refuse_experts_of
from annotation.studies.exposure import mark_builds_seen
from annotation.studies.plan.plan import StudyRefused
from annotation.web.label_audit.given_pairs import PairsForm
from annotation.web.label_audit.page import audit_page
from annotation.web.shared.requests import render_form
from retrieval.texts.plurals import count_noun


@require_role(Role.READER, GET)
def audit(request: HttpRequest, pk: int) -> HttpResponse:
    """Closed while the person rates: labels of anybody tell of the pairs of a study."""
    refuse_while_blind(request.user)
    visible = builds_visible_to(request.user)
    given = visible.filter(pair_list__isnull=False)
    build = get_object_or_404(given.select_related("annotator", "tally", "pair_list__benchmark"), pk=pk)
    refuse_experts_of(request.user, build)
    try:
        page = audit_page(build, visible, request.GET)
    except StudyRefused as why:
        page = {"build": build, "given": build.pair_list, "builds": [build], "problem": str(why)}
    if "rows" in page:  # those that differ come first, which tells of each
        mark_builds_seen(request.user, [audited.pk for audited in page["builds"]])
    status = 422 if "problem" in page else 200
    return render(request, "annotation/label_audit/build_audit.html", {"page": page}, status=status)


@require_role(Role.ADMIN, FORM)
def upload(request: HttpRequest) -> HttpResponse:
    """A file of pairs becomes a list that the launch form then has chosen."""
    form = PairsForm(request.POST or None, request.FILES or None)
    read = form.read() if form.is_valid() else None
    if read is None:
        return render_form(request, "annotation/label_audit/pairs_new.html", form)
    messages.success(request, f"{count_noun(read.pairs.size, 'pair')} of {read.pairs.name}{read.losses}.")
    return redirect(f"{reverse('build-new')}?given=list-{read.pairs.pk}")
