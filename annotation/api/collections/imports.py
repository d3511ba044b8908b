"""Imports by upload, as the page of collections takes them, and collections of what passes filters."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest, QueryDict
from django.shortcuts import get_object_or_404
from ninja import File, Form, Path, Router, Status, UploadedFile
from pydantic import ValidationError

from annotation.accounts.roles import Role
from annotation.api.project.jobs import job_out
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.api.shared.form_refusals import InvalidValues, form_values, refuse_invalid
from annotation.api.shared.names import find_collection, written_id
from annotation.builds.control.pause_resume import ControlRefused
from annotation.schemas.collections.imports import ColumnsIn, ColumnsOut, FilterIn, ImportIn
from annotation.schemas.project.jobs import JobOut
from annotation.web.collections.filter_page import FilterForm
from annotation.web.collections.upload_columns import ColumnsForm, columns_page, peek_uploaded_table
from annotation.web.collections.upload_form import UploadForm
from retrieval.models import Collection, Job
from retrieval.schemas import Id
from retrieval.sources.formats.table import Columns, Peek, guess_column_roles
from retrieval.uploads import Format, discard_upload

router = Router(tags=["collections"], auth=signed_in(Role.ADMIN))
GUESS = "guess"
ROLES: Final = {"snippet": "function", "snippet_id": "function_id"}
"""What the API calls columns that the reader of tables names otherwise."""


@router.post("/imports", response={201: JobOut})
def import_files(
    request: HttpRequest,
    given: Form[ImportIn],
    file: File[UploadedFile | None] = None,
    codebase: File[UploadedFile | None] = None,
    pairs: File[UploadedFile | None] = None,
    titles: File[UploadedFile | None] = None,
) -> Status[JobOut]:
    """Upload files, or name their addresses; a worker imports them, so ask the job how far it is. For admins.

    A table that is uploaded without `columns` waits in the state `columns` until they are named. Refused
    records are told one by one in the job's `problems`; the others are stored.
    """
    columns = read_columns(given)
    form = UploadForm(upload_values(given), request.FILES)
    if isinstance(columns, ColumnsIn) and given.file_from:
        form.columns = roles_of(columns)
    refuse_invalid(form, snippets="functions")
    job = form.job(visible.caller(request))
    refuse_invalid(form, snippets="functions")
    assert job is not None, "a form without errors has ordered its job"
    if columns is not None and job.state == Job.State.COLUMNS:
        name_columns(job, columns)
    return Status(201, job_out(job))


@router.get("/imports/{int:pk}/columns", response=ColumnsOut)
def get_columns(request: HttpRequest, pk: Path[Id]) -> ColumnsOut:
    """What an uploaded table has, with a guess which column is what. For admins."""
    job = table_of(pk)
    seen = seen_in(job)
    page = columns_page(job, seen)
    rows = [dict(row) for row in page["rows"]]
    return ColumnsOut(columns=list(seen.columns), guessed=guessed(seen), rows=rows)


@router.post("/imports/{int:pk}/columns", response=JobOut)
def choose_columns(request: HttpRequest, pk: Path[Id], wanted: ColumnsIn) -> JobOut:
    """Name the columns of an uploaded table; a worker then imports it. For admins."""
    job = table_of(pk)
    order_columns(job, seen_in(job), wanted)
    job.refresh_from_db()
    return job_out(job)


@router.post("/{int:pk}/filters", response={201: JobOut})
def filter_collection(request: HttpRequest, pk: Path[Id], wanted: FilterIn) -> Status[JobOut]:
    """Have a collection made of what passes filters of this one. For admins."""
    form = FilterForm(get_object_or_404(Collection, pk=pk), form_values(wanted.dict()))
    refuse_invalid(form)
    job = form.job(visible.caller(request))
    refuse_invalid(form)
    assert job is not None, "a form without errors has ordered its job"
    return Status(201, job_out(job))


def upload_values(given: ImportIn) -> QueryDict:
    """What the form of the page takes; collections by name become their ids. Raises NoSuchName."""
    values = form_values(given.dict(exclude={"columns", "functions"}) | {"snippets": given.functions})
    judged = {"queries": given.queries, "snippets": given.functions}
    for kind, name in judged.items():
        if given.format == Format.QRELS and name:
            values[kind] = str(find_collection(written_id(name), kind).pk)
    return values


def read_columns(given: ImportIn) -> ColumnsIn | str | None:
    """The columns that came with the files: named, or `guess`; None for none. Raises InvalidValues."""
    if not given.columns or given.format != Format.TABLE:
        return None
    if given.columns == GUESS:
        if given.file_from:
            raise InvalidValues([("columns", "A table at an address is not here yet: name its columns.")])
        return GUESS
    try:
        read = ColumnsIn.model_validate_json(given.columns)
        Columns(**roles_of(read))
    except (ValidationError, ValueError) as why:
        told = "; ".join(error["msg"] for error in why.errors()) if isinstance(why, ValidationError) else why
        raise InvalidValues([("columns", str(told))]) from why
    return read


def name_columns(job: Job, wanted: ColumnsIn | str) -> None:
    """Order the import of a table with these columns. What is refused is not kept. Raises InvalidValues."""
    try:
        seen = seen_in(job)
        order_columns(job, seen, guessed(seen) if isinstance(wanted, str) else wanted)
    except (ControlRefused, InvalidValues):
        discard_upload(job)
        raise
    job.refresh_from_db()


def order_columns(job: Job, seen: Peek, wanted: ColumnsIn) -> None:
    """Raises InvalidValues, and ControlRefused where somebody else named them meanwhile."""
    form = ColumnsForm(seen, form_values(roles_of(wanted)))
    refuse_invalid(form, **ROLES)
    if not form.order(job):
        raise ControlRefused("The columns of this table have been chosen already.")


def roles_of(wanted: ColumnsIn) -> dict[str, Any]:
    """The columns as the reader of tables names them."""
    role_of = {name: role for role, name in ROLES.items()}
    return {role_of.get(name, name): column for name, column in wanted.dict().items()}


def guessed(seen: Peek) -> ColumnsIn:
    roles: dict[str, Any] = guess_column_roles(seen)
    return ColumnsIn(**{ROLES.get(role, role): name for role, name in roles.items()})


def table_of(pk: int) -> Job:
    """The uploaded table that waits for its columns. Raises Http404 and ControlRefused."""
    job = get_object_or_404(Job, pk=pk, kind=Job.Kind.IMPORT, order__format=Format.TABLE)
    if job.state != Job.State.COLUMNS:
        raise ControlRefused("The columns of this table have been chosen already.")
    return job


def seen_in(job: Job) -> Peek:
    """Raises ControlRefused where the file can't be read any more."""
    seen = peek_uploaded_table(job)
    if isinstance(seen, str):
        raise ControlRefused(f"{seen} Upload it again.")
    return seen
