"""A build's pairs as a benchmark: what the merge rule would publish, and publishing it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import Role, builds_visible_to, needs
from annotation.pages import publishing as pages
from annotation.releasing import PublishRefused, publish


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def build(request: HttpRequest, pk: int) -> HttpResponse:
    """GET counts pairs by the source of their label, POST publishes them."""
    visible = builds_visible_to(request.user).select_related(
        "annotator", "mining__queries", "mining__snippets"
    )
    found = get_object_or_404(visible, pk=pk, opened=True)
    form = pages.PublishForm(request.POST or None, initial=pages.initial(found))
    if form.is_valid():
        try:
            made = publish(form.wish(found), request.user)
        except PublishRefused as why:
            form.add_error(None, str(why))
        else:
            messages.success(request, f"Published as {made}. Publishing the same again changes nothing.")
            return redirect("benchmark", pk=made.pk)
    context = {"page": pages.publish_page(found), "form": form}
    return render(request, "annotation/build_publish.html", context, status=422 if form.errors else 200)
