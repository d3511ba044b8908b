"""What views share: who asks, what a form says, and pages, fragments and files as answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import Any, TypeVar

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from annotation.review.own_runs.own_tests import TooFast
from annotation.web.shared.pagination import whole_number

Answer = TypeVar("Answer", bound=HttpResponseBase)
Chosen = TypeVar("Chosen", bound=StrEnum)


def person(request: HttpRequest) -> User:
    """Who asks; `require_role` lets nobody else in."""
    assert isinstance(request.user, User), "a role comes before the view"
    return request.user


def number(values: Mapping[str, str] | QueryDict, name: str) -> int:
    """A whole number of a form or an address; -1, which nothing has, for anything else."""
    return whole_number(values.get(name) or "")


def is_fragment(request: HttpRequest) -> bool:
    """htmx asks for a part, unless it rebuilds the whole page for the browser's back button."""
    return "HX-Request" in request.headers and "HX-History-Restore-Request" not in request.headers


def is_fetched_ahead(request: HttpRequest) -> bool:
    """Whether `ahead.js` keeps the page for later: it takes no message from the one on the screen."""
    return "Fetched-Ahead" in request.headers


def answer(
    request: HttpRequest,
    template: str,
    page: Any,
    *,
    fragment: str = "case",
    status: int = 200,
    pushed: str = "",
) -> HttpResponse:
    """The page, or for htmx its fragment, with the address that the browser then shows."""
    partial = is_fragment(request)
    name = f"{template}#{fragment}" if partial else template
    context = {"page": page, "fragment": partial, "ahead": is_fetched_ahead(request)}
    response = render(request, name, context, status=status)
    if partial and pushed and not request.headers.get("HX-Current-URL", "").endswith(pushed):
        response["HX-Push-Url"] = pushed
    patch_vary_headers(response, ["HX-Request"])
    return response


def render_form(request: HttpRequest, template: str, form: forms.BaseForm, **context: Any) -> HttpResponse:
    """The page of a form; one that was refused is unprocessable (422)."""
    return render(request, template, {"form": form, **context}, status=422 if form.errors else 200)


@contextmanager
def say_refusals(request: HttpRequest, *refusals: type[Exception]) -> Iterator[None]:
    """One of these is said as a message on the next page, instead of what the block does."""
    try:
        yield
    except refusals as why:
        messages.error(request, str(why))


def action_of(request: HttpRequest, actions: type[Chosen]) -> Chosen:
    """The action that the form or link names. Raises BadRequest."""
    given = request.POST.get("action") or request.GET.get("action", "")
    try:
        return actions(given)
    except ValueError as error:
        raise BadRequest(f"No such action: {given!r}; choose from {', '.join(actions)}.") from error


def mark_rate_limited(response: HttpResponse, why: Exception | None) -> HttpResponse:
    """The response that says why; 429 with the seconds to wait where it was asked too fast."""
    if isinstance(why, TooFast):
        response.status_code = 429
        response["Retry-After"] = str(why.retry_after)
    return response


def attach(response: Answer, name: str) -> Answer:
    """The response as a file of this name."""
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
