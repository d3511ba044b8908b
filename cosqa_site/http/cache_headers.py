"""What browsers and proxies may keep: static files as WhiteNoise says, of pages nothing."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import patch_cache_control
from django.utils.deprecation import MiddlewareMixin


class PrivatePages(MiddlewareMixin):
    """Answers that don't say otherwise are for one person, and are stored nowhere: after a log-out the next
    person may press Back.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if not response.has_header("Cache-Control"):
            patch_cache_control(response, private=True, no_store=True)
        elif "no-store" in response["Cache-Control"]:
            del response["Expires"]  # Django's never_cache adds the present moment, which says no more
        return response
