"""The exact number of a list's rows, for htmx alone; without JavaScript the list itself says it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from annotation.pages.counting import Number, is_asked


def is_number_wanted(request: HttpRequest) -> bool:
    """Whether the answer is put in the place of the number."""
    return is_asked(request.GET) and request.headers.get("HX-Target") == "number"


def number_alone(request: HttpRequest, number: Number) -> HttpResponse:
    response = render(request, "annotation/_number.html", {"number": number})
    patch_vary_headers(response, ["HX-Target"])
    return response
