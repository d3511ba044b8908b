"""The page of the glossary."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.accounts.roles import GET, Role, require_role
from annotation.web.shared.glossary import MORE, NOUNS


@require_role(Role.READER, GET)
def detail(request: HttpRequest) -> HttpResponse:
    """All words, for every role."""
    parts = (("The eight nouns", NOUNS), ("More words", MORE))
    return render(request, "annotation/glossary/detail.html", {"parts": parts})
