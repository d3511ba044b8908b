"""How large the body of a request may be: decided by who sends it, before any of it is read.

Django writes a body to a temporary file before a view can ask who sent it, so a stranger could fill the disk.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, Final

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse

from annotation.api.shared.auth import holder
from cosqa_site.errors import error_slug, is_for_api, make_problem_response

Receive = Callable[[], Awaitable[dict[str, Any]]]
ANONYMOUS_BYTES: Final = 64 * 1024
"""Many times a login form, which is all that a stranger has to send."""
FILES: Final = 4
"""So many files of the largest size fit into one form."""


def signed_in_bytes() -> int:
    """The longest body of somebody who is logged in."""
    return FILES * settings.UPLOAD_LIMIT_BYTES


def is_small(request: HttpRequest) -> bool:
    """Whether the body may be read whoever sent it; one of unknown length is not small."""
    length = request.META.get("CONTENT_LENGTH", "")
    if "HTTP_TRANSFER_ENCODING" in request.META:
        return False
    return not length or (length.isdecimal() and int(length) <= ANONYMOUS_BYTES)


def refuse_large_body(request: HttpRequest) -> HttpResponse | None:
    """The answer to a body that is too large for who sends it, None where it may be read."""
    if is_small(request):
        return None
    if not is_sent_by_account(request):
        return say_refused(
            request, HTTPStatus.UNAUTHORIZED, "Log in, or send a bearer token, then send it again."
        )
    length = request.META.get("CONTENT_LENGTH", "")
    return too_large(request) if length.isdecimal() and int(length) > signed_in_bytes() else None


def is_sent_by_account(request: HttpRequest) -> bool:
    """Whether a session or a bearer token of the request is somebody's."""
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() == "bearer":
        return holder(token) is not None
    SessionMiddleware(lambda _: HttpResponse()).process_request(request)
    return get_user(request).is_authenticated


def too_large(request: HttpRequest) -> HttpResponse:
    most = signed_in_bytes() // 2**20
    return say_refused(
        request, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"Send at most {most} MB in one request."
    )


def say_refused(request: HttpRequest, status: HTTPStatus, detail: str) -> HttpResponse:
    """The refusal, after which the connection ends: what is still to come is not read."""
    if is_for_api(request):
        response = make_problem_response(status, error_slug(status), detail)
    else:
        response = HttpResponse(detail, status=status, content_type="text/plain; charset=utf-8")
    response["Connection"] = "close"
    return response


class BoundedBody:
    """`receive` whose client seems gone once its body, of whatever declared length, got too long."""

    def __init__(self, receive: Receive) -> None:
        self._receive, self._left = receive, signed_in_bytes()

    @property
    def is_exceeded(self) -> bool:
        return self._left < 0

    async def __call__(self) -> dict[str, Any]:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        return {"type": "http.disconnect"} if self.is_exceeded else message
