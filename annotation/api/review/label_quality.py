"""Labels of builds, annotators and files measured against a truth, as the page *Label quality* does."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest
from ninja import File, Form, Router, UploadedFile

from annotation.accounts.roles import Role, builds_visible_to, refuse_while_blind
from annotation.api.shared.auth import signed_in
from annotation.api.shared.form_refusals import form_values, refuse_invalid
from annotation.api.shared.names import find_build, find_collection, written_id
from annotation.schemas.review.label_quality import QualityIn
from annotation.studies.exposure import mark_seen
from annotation.studies.report.formats import format_table_json
from annotation.web.label_quality.page import QualityForm, name_tables, page_of
from retrieval.models import Collection

router = Router(tags=["quality"], auth=signed_in(Role.EXPERT))


@router.post("/quality", response=dict[str, Any])
def measure_quality(
    request: HttpRequest,
    given: Form[QualityIn],
    pairs: File[UploadedFile | None] = None,
    truth: File[UploadedFile | None] = None,
    labels: File[list[UploadedFile] | None] = None,
) -> dict[str, Any]:
    """Measure labels against a truth; nothing is kept. Closed while you rate in a study. For experts.

    `report` has all figures and each wrong pair, `tables` those of the page.
    """
    refuse_while_blind(request.user)
    who = [choice_of_build(request, name) for name in given.builds]
    who += [f"a{pk}" for pk in given.annotators]
    values = {"known": given.known, "who": who, **collections_of(given)}
    form = QualityForm(builds_visible_to(request.user), form_values(values), request.FILES)
    refuse_invalid(form, who="builds")
    assert form.bench is not None, "a form without errors has measured"
    mark_seen(request.user, form.bench.rows)
    tables = [json.loads(format_table_json(table)) for table in name_tables(page_of(form.bench)["tables"])]
    return {"report": form.bench.as_json(), "tables": tables}


def choice_of_build(request: HttpRequest, named: str) -> str:
    """A build by name or id, and one of its rounds, as the form names it. Raises NoSuchName."""
    name, _, number = named.rpartition("#")
    if not name or not number.isdecimal():
        name, number = named, "1"
    return f"b{find_build(request.user, written_id(name)).pk}.{number}"


def collections_of(given: QualityIn) -> dict[str, int]:
    """Raises NoSuchName."""
    named = {Collection.Kind.QUERIES: given.queries, Collection.Kind.SNIPPETS: given.functions}
    return {kind.value: find_collection(written_id(name), kind).pk for kind, name in named.items() if name}
