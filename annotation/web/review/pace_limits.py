"""What a page answers to whoever asks for more runs than a minute has room for."""

from __future__ import annotations

from http import HTTPStatus

from django.http import HttpResponse

from annotation.review.own_tests import TooFast


def mark_rate_limited(response: HttpResponse, why: Exception | None) -> HttpResponse:
    """The response that says why; 429 with the seconds to wait where it was asked too fast."""
    if isinstance(why, TooFast):
        response.status_code = HTTPStatus.TOO_MANY_REQUESTS
        response["Retry-After"] = str(why.retry_after)
    return response
