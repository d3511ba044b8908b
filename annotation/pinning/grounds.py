"""What a figure rests on beside the rows: versions of the code and of the libraries that count."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np
from django.db.models import Max, Model, QuerySet
from django.utils import timezone

from annotation.models import Adjudication, Build, BuildEvent, Rating, Study
from annotation.studies import gathering
from annotation.studies.gathering import Until
from retrieval.evaluation.running import code_version
from retrieval.models import Benchmark, Label

SOURCES: Final = ("agreement/**/*.py", "studies/**/*.py", "pages/corpus*.py")


@cache
def code() -> dict[str, str]:
    """The versions of all that computes: our sources by their hashes, Python and NumPy by their names."""
    folder = Path(__file__).resolve().parents[1]
    whole = hashlib.sha256()
    for path in sorted(path for pattern in SOURCES for path in folder.glob(pattern)):
        whole.update(f"{path.relative_to(folder)}\n".encode() + path.read_bytes())
    return {
        "workbench": version("cosqa-workbench"),
        "retrieval": code_version(),
        "annotation": f"annotation {whole.hexdigest()[:16]}",
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def last_event(benchmark: Benchmark) -> str:
    """The newest event of the builds whose labels the benchmark may have; else its publication."""
    builds = Build.objects.filter(mining__isnull=False, mining=benchmark.mining_id)
    event = BuildEvent.objects.filter(build__in=builds).order_by("-pk").first()
    published = f"published {benchmark.published_at.isoformat(timespec='seconds')}"
    return f"{event.pk}: {event.event}" if event else published


def benchmark_with(digest: str, name: str) -> Benchmark | None:
    """By its content; of several with the same, the one of that name (`name@version`)."""
    same = Benchmark.objects.filter(digest=digest)
    named = [one for one in same if str(one) == name]
    return named[0] if named else same.first()


def now_of(study: Study) -> Until:
    """Where the history of a study ends now."""
    return Until(
        at=timezone.now(),
        rating=last(Rating.objects.filter(assignment__enrolment__study=study)),
        label=last(Label.objects.filter(pair__in=study.pairs.values("pair"))),
        adjudication=last(Adjudication.objects.filter(study_pair__study=study)),
        scoring=last(study.scorings.all()),
        complete=gathering.is_complete(study),
    )


def last(rows: QuerySet[Any, Any] | QuerySet[Model]) -> int:
    """The last id; 0 where there is none."""
    found: int | None = rows.order_by().aggregate(last=Max("pk"))["last"]
    return found or 0
