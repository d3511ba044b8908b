"""The documentation's site, as scripts/build_docs.py makes it of docs/; an installed package has it built."""

from __future__ import annotations

from datetime import UTC, datetime
from mimetypes import guess_type
from pathlib import Path
from typing import Final

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils._os import safe_join
from django.views.decorators.http import last_modified, require_safe

SITE: Final = Path("build") / "docs"
"""Below the application's folder."""


def find_file(path: str) -> Path:
    """The file of the site at an address below /docs/. Raises SuspiciousFileOperation outside of the site."""
    name = f"{path}index.html" if not path or path.endswith("/") else path
    return Path(safe_join(settings.BASE_DIR / SITE, name))


def read_time(request: HttpRequest, path: str = "") -> datetime | None:
    """When the file was built; None where there is none."""
    found = find_file(path)
    return datetime.fromtimestamp(found.stat().st_mtime, UTC) if found.is_file() else None


@login_not_required
@require_safe
@last_modified(read_time)
def serve_page(request: HttpRequest, path: str = "") -> HttpResponse:
    """A file of the site, for everybody: the package has the same, and it tells nothing of this server.

    A checkout in which the site was not built says how to build it.
    """
    found = find_file(path)
    if found.is_dir():
        return HttpResponseRedirect(f"{request.path}/")
    if not found.is_file():
        if find_file("").is_file():
            raise Http404
        return render(request, "documentation/not_built.html", status=404)
    kind = guess_type(found.name)[0] or "application/octet-stream"
    text = "; charset=utf-8" if kind.startswith("text/") else ""
    response = HttpResponse(found.read_bytes(), content_type=kind + text)
    response["Cache-Control"] = "no-cache"  # kept, and asked for again: a new release changes pages
    return response
