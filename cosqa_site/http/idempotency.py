"""`Idempotency-Key`: a POST to the API that is sent again is answered again, and not done again.

The answer is kept for a day with who sent it, the address and a hash of the body. Another request with the
same key is refused. Only what succeeded is kept: a refused request may be put right and sent again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone

from annotation.api.shared.auth import holder
from annotation.models import StoredAnswer
from cosqa_site.errors import is_for_api, make_problem_response

HEADER: Final = "Idempotency-Key"
KEPT: Final = timedelta(days=1)
BROKEN_OFF: Final = timedelta(minutes=10)
"""A request that has not been answered for so long never will be: its server ended."""
LONGEST_KEY: Final = 200
LARGEST_ANSWER: Final = 2**20
SECRET: Final = frozenset({"/api/webhooks"})
"""Addresses whose answers have a secret, which is stored nowhere: sent again, they refuse by themselves."""
OTHER_REQUEST: Final = "This key was sent with another request: send a new key."
STILL_ANSWERED: Final = "A request with this key is being answered: wait, then send it again."
NOT_KNOWN: Final = (
    "A request with this key was broken off. Look whether it was done, then send it with a new key."
)
SHOWN_ONCE: Final = (
    "This was done. Its answer had a secret, which is shown once: revoke it, and make a new one."
)


class AnsweredOnce:
    """Middleware: answers a repeated request with what it was answered before."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        key = request.headers.get(HEADER, "")
        if not key or request.method != "POST" or not is_for_api(request):
            return self.get_response(request)
        if len(key) > LONGEST_KEY or not (key.isascii() and key.isprintable()):
            return refuse(HTTPStatus.UNPROCESSABLE_ENTITY, f"{HEADER} takes 1 to {LONGEST_KEY} characters.")
        user = sender_of(request)
        if user is None:
            return self.get_response(request)  # which says that nobody is signed in
        digest = digest_of(request)
        row = begin_answer(user, key, digest)
        return answer_again(user, key, digest) if row is None else self.answer_first(request, row)

    def answer_first(self, request: HttpRequest, row: StoredAnswer) -> HttpResponseBase:
        response = self.get_response(request)
        if request.path_info.rstrip("/") in SECRET or not keep_answer(row, response):
            StoredAnswer.objects.filter(pk=row.pk).delete()
        return response


def sender_of(request: HttpRequest) -> User | None:
    """Whose token or session it is."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return holder(token)
    return request.user if isinstance(request.user, User) else None


def digest_of(request: HttpRequest) -> str:
    """sha256 of the address and what is sent; the boundary between the parts of a form does not count."""
    whole = hashlib.sha256(request.get_full_path().encode())
    if not (request.content_type or "").startswith("multipart/"):
        whole.update(request.body)
        return whole.hexdigest()
    for name, values in sorted(request.POST.lists()):
        whole.update(repr((name, values)).encode())
    for name, files in sorted(request.FILES.lists()):
        for file in files:
            whole.update(repr((name, file.name, file.size)).encode())
            for chunk in file.chunks():
                whole.update(chunk)
            file.seek(0)
    return whole.hexdigest()


def begin_answer(user: User, key: str, digest: str) -> StoredAnswer | None:
    """A row for a request that comes for the first time; None for one that came before."""
    StoredAnswer.objects.filter(created_at__lt=timezone.now() - KEPT).delete()
    try:
        with transaction.atomic():
            return StoredAnswer.objects.create(user=user, key=key, digest=digest)
    except IntegrityError:
        return None


def keep_answer(row: StoredAnswer, response: HttpResponseBase) -> bool:
    """Keep the answer of a request that succeeded; whether it is kept.

    One with a secret, which says `no-store` itself, is not: who sends it again is told that it was done.
    """
    done = 200 <= response.status_code < 300
    if not done or not isinstance(response, HttpResponse) or len(response.content) > LARGEST_ANSWER:
        return False
    if "no-store" in response.headers.get("Cache-Control", ""):
        response = refuse(HTTPStatus.CONFLICT, SHOWN_ONCE)
    row.status, row.content_type = response.status_code, response.headers.get("Content-Type", "")[:100]
    row.body = response.content.decode()
    row.save(update_fields=["status", "content_type", "body"])
    return True


def answer_again(user: User, key: str, digest: str) -> HttpResponse:
    """What the first request was answered, or why there is nothing to answer."""
    row = StoredAnswer.objects.filter(user=user, key=key).first()
    if row is None:  # the first one was refused at this moment
        return refuse(HTTPStatus.CONFLICT, STILL_ANSWERED)
    if row.digest != digest:
        return refuse(HTTPStatus.UNPROCESSABLE_ENTITY, OTHER_REQUEST)
    if not row.status:
        is_broken_off = row.created_at < timezone.now() - BROKEN_OFF
        return refuse(HTTPStatus.CONFLICT, NOT_KNOWN if is_broken_off else STILL_ANSWERED)
    response = HttpResponse(row.body, status=row.status, content_type=row.content_type)
    response["Idempotent-Replayed"] = "true"
    return response


def refuse(status: HTTPStatus, detail: str) -> HttpResponse:
    return make_problem_response(status, "idempotency-key", detail)
