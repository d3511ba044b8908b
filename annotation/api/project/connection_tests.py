"""Have a server of language models asked what it can do, as the page *Test connection* does."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router, Status

from annotation.accounts.roles import Role
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.api.shared.form_refusals import form_values, refuse_invalid
from annotation.builds.control.connection_test import request_connection_test
from annotation.jobs.wake_up import wake_workers
from annotation.models import ConnectionTest
from annotation.schemas.project.project import ConnectionTestIn, ConnectionTestOut
from annotation.web.connection.page import ConnectionForm
from retrieval.schemas import LARGEST_ID, Id, Page, Paging

router = Router(tags=["connection"], auth=signed_in(Role.ADMIN))


@router.get("", response=Page[ConnectionTestOut])
def list_connection_tests(request: HttpRequest, wanted: Query[Paging]) -> Page[ConnectionTest]:
    """The tests of connections, the newest first. For admins."""
    rows = ConnectionTest.objects.filter(pk__lt=wanted.after or LARGEST_ID).select_related("user")
    return wanted.page(rows.order_by("-pk"))


@router.post("", response={201: ConnectionTestOut})
def test_connection(request: HttpRequest, wanted: ConnectionTestIn) -> Status[ConnectionTest]:
    """Have a worker ask a server what it can do; ask for the test until its `state` is done. For admins."""
    usual = {"model": settings.LLM_MODEL, "profile": settings.LLM_PROFILE}
    form = ConnectionForm(form_values(usual | wanted.dict(exclude_none=True)))
    refuse_invalid(form)
    made = request_connection_test(visible.caller(request), form.wanted())
    wake_workers("llm")
    return Status(201, made)


@router.get("/{int:pk}", response=ConnectionTestOut)
def get_connection_test(request: HttpRequest, pk: Path[Id]) -> ConnectionTest:
    """One test, with what the server can do once it is done. For admins."""
    return get_object_or_404(ConnectionTest.objects.select_related("user"), pk=pk)
