"""Replies without a key: download what waits, upload what came back, answer one request."""

from __future__ import annotations

import io

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.text import slugify

from annotation.accounts.roles import FORM, GET, Role, require_role
from annotation.builds.pipeline import file_exchange
from annotation.builds.pipeline.screener_sheet import write_sheet
from annotation.models import Build, Case
from annotation.studies.exposure import mark_list_seen
from annotation.web.builds.views import find_visible_build
from annotation.web.replies.forms import AnswerForm, UploadForm
from annotation.web.replies.page import build_replies_page, find_question
from annotation.web.shared.requests import attach, render_form


@require_role(Role.ADMIN, FORM)
def index(request: HttpRequest, pk: int) -> HttpResponse:
    """GET says what waits, POST takes a file and says line by line what was refused."""
    build = find_exchange_build(request, pk)
    posted = request.method == "POST"
    form = UploadForm(build, request.POST if posted else None, request.FILES if posted else None)
    done = form.take() if form.is_valid() else None
    build.refresh_from_db()
    address = request.build_absolute_uri(f"{reverse('home')}api/builds/{build.pk}")
    page = build_replies_page(build, address, done)
    return render_form(request, "annotation/replies/index.html", form, page=page)


@require_role(Role.ADMIN, GET)
def requests_file(request: HttpRequest, pk: int) -> HttpResponse:
    """The requests that wait: as lines, or with `?as=sheet` those of the screener as a table."""
    build, out = find_exchange_build(request, pk), io.BytesIO()
    name = slugify(build.name) or f"build-{build.pk}"
    if request.GET.get("as") == "sheet":
        write_sheet(out, file_exchange.load_screener_rows(build))
        kind, name = "text/csv; charset=utf-8", f"{name}-screener.csv"
    else:
        file_exchange.export_waiting_requests(build, out)
        kind, name = "application/x-ndjson", f"{name}-requests.jsonl"
    return attach(HttpResponse(out.getvalue(), content_type=kind), name)


@require_role(Role.ADMIN, FORM)
def answer(request: HttpRequest, pk: int, call: int | None = None) -> HttpResponse:
    """One request, and its reply in a form; then comes the next one."""
    build = find_exchange_build(request, pk)
    question = find_question(build, call)
    if question is None:
        if call is not None:
            messages.info(request, "That request has its reply already.")
        return redirect("build-replies", pk=build.pk)
    form = AnswerForm(build, question.call, question.request, request.POST or None)
    if form.is_valid():
        messages.success(request, "Taken. The next request:" if question.left else "Taken. It was the last.")
        return redirect("build-reply-next", pk=build.pk)
    template = "annotation/replies/answer.html"
    return render_form(request, template, form, build=build, question=question)


def find_exchange_build(request: HttpRequest, pk: int) -> Build:
    """The build, whose open pairs count as seen: its requests show them, and what agents said of them."""
    build = find_visible_build(request, pk)
    mark_list_seen(request.user, pk, Case.objects.filter(build=build, waiting_for__isnull=False))
    return build
