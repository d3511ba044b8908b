"""The bench of label quality: a form, and its tables; also as JSON with everything that was said."""

from __future__ import annotations

from django.http import FileResponse, HttpRequest, HttpResponseBase, JsonResponse

from annotation.accounts.roles import FORM, Role, builds_visible_to, refuse_while_blind, require_role
from annotation.studies.exposure import mark_seen
from annotation.web.label_quality.page import QualityForm, pack_table_files, page_of
from annotation.web.shared.requests import render_form


@require_role(Role.EXPERT, FORM)
def index(request: HttpRequest) -> HttpResponseBase:
    """Closed while the person rates: figures and wrong pairs tell each label. Nothing is kept but that they
    were seen.
    """
    refuse_while_blind(request.user)
    posted = request.method == "POST"
    builds = builds_visible_to(request.user)
    form = QualityForm(builds, request.POST, request.FILES) if posted else QualityForm(builds)
    bench = form.bench if posted and form.is_valid() else None
    if bench is not None:
        mark_seen(request.user, bench.rows)
        if "json" in request.POST:
            headers = {"Content-Disposition": 'attachment; filename="quality.json"'}
            return JsonResponse(bench.as_json(), headers=headers, json_dumps_params={"indent": 2})
        if "files" in request.POST:
            archive = pack_table_files(page_of(bench)["tables"])
            return FileResponse(archive, as_attachment=True, filename="quality-tables.zip")
    return render_form(
        request, "annotation/label_quality/quality.html", form, page=page_of(bench) if bench else None
    )
