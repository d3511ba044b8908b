"""The rounds of a build side by side, and the merge that makes one label of them."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.accounts.roles import FORM, GET, Role, builds_visible_to, require_role
from annotation.builds.control.pause_resume import ControlRefused
from annotation.derived import round_merge
from annotation.derived.round_merge import WORDS, Rule
from annotation.models import Build, Case
from annotation.studies.exposure import mark_list_seen
from annotation.web.rounds.page import rounds_page
from annotation.web.rounds.tables import build_round_tables
from annotation.web.shared.downloads import attach_table, list_table_files


@require_role(Role.READER, GET)
def index(request: HttpRequest, build_pk: int) -> HttpResponse:
    page = rounds_page(build_of(request, build_pk), request.GET)
    tables = build_round_tables(page)
    if page["build"].rounds > 1:  # of those that it leaves out it is told that their rounds agree
        mark_list_seen(request.user, build_pk, Case.objects.filter(build=build_pk))
    if "table" in request.GET:
        return attach_table(tables, request.GET, f"rounds-{build_pk}")
    page["files"] = list_table_files(tables, request.GET)
    return render(request, "annotation/rounds/detail.html", {"page": page})


@require_role(Role.ADMIN, FORM)
def merge(request: HttpRequest, pk: int) -> HttpResponse:
    """GET shows what each rule would give, POST merges by the one that was chosen."""
    build = build_of(request, pk)
    if request.method != "POST":
        return show(request, build)
    chosen = request.POST.get("rule", "")
    if chosen not in set(Rule):
        return show(request, build, "Choose a rule.", status=422)
    try:
        round_merge.request_round_merge(build, Rule(chosen), request.user)
    except ControlRefused as why:
        return show(request, build, str(why), status=409)
    name = WORDS[Rule(chosen)][0].lower()
    messages.success(request, f"The rounds are merged by the rule “{name}” as soon as a worker is free.")
    return redirect("rounds", build_pk=build.pk)


def show(request: HttpRequest, build: Build, problem: str = "", status: int = 200) -> HttpResponse:
    page = rounds_page(build, request.GET)
    return render(
        request, "annotation/rounds/build_merge.html", {"page": page, "problem": problem}, status=status
    )


def build_of(request: HttpRequest, pk: int) -> Build:
    """The build, if the person may know of it. Raises Http404, also where its cases are still to be made."""
    builds = builds_visible_to(request.user).select_related("tally", "annotator")
    found = get_object_or_404(builds, pk=pk)
    if not found.opened:
        raise Http404("The build has no cases yet.")
    return found
