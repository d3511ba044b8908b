"""What browsers and proxies may keep: static files as WhiteNoise says, a page only for whom it was made."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.views import LogoutView
from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import patch_cache_control
from django.utils.deprecation import MiddlewareMixin


class PrivatePages(MiddlewareMixin):
    """Answers that don't say otherwise are for one person, and are asked for again each time."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if not response.has_header("Cache-Control"):
            patch_cache_control(response, private=True, no_cache=True)
        return response


class Leave(LogoutView):
    """Log out, and have the browser forget the pages that its back button would show to the next person."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        response = super().post(request, *args, **kwargs)
        response["Clear-Site-Data"] = '"cache"'
        return response
