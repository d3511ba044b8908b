"""Builds, studies and minings as commands name them."""

from __future__ import annotations

from django.core.management.base import CommandError
from django.db.models import QuerySet

from annotation.models import Build, Study
from retrieval.models import Mining

MOST_TOLD = 20


def find_build(name: str, builds: QuerySet[Build] | None = None) -> Build:
    """The build of this name, else of this id. Raises CommandError."""
    rows = Build.objects.select_related("tally", "annotator", "mining") if builds is None else builds
    found = rows.filter(name=name).first()
    if found is None and name.isascii() and name.isdigit() and len(name) < 10:
        found = rows.filter(pk=int(name)).first()
    if found is None:
        raise CommandError(f"There is no build called {name!r}; there are: {_names(Build.objects.all())}.")
    return found


def find_study(name: str) -> Study:
    """Raises CommandError."""
    found = Study.objects.filter(name=name).first()
    if found is None:
        raise CommandError(f"There is no study called {name!r}; there are: {_names(Study.objects.all())}.")
    return found


def find_mining(pk: int) -> Mining:
    """Raises CommandError."""
    found = Mining.objects.filter(pk=pk).select_related("queries", "snippets").first()
    if found is None:
        raise CommandError(f"There is no mining {pk}.")
    return found


def _names(rows: QuerySet[Build] | QuerySet[Study]) -> str:
    return ", ".join(rows.order_by("name").values_list("name", flat=True)[:MOST_TOLD]) or "none yet"
