"""An export that is ordered on a page: what the order says, and where its file lies."""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar

from retrieval.jobs import JobOrder
from retrieval.models import Benchmark, Job

OTHER = re.compile(r"[^A-Za-z0-9._-]+")


class ExportOrder(JobOrder):
    """One export of the benchmark that the job is about; without a seed there is no split of ours."""

    kind: ClassVar = Job.Kind.EXPORT
    format: str
    labels: str = "final"
    seed: int | None = None
    by_repository: bool = False
    withhold: str = "none"
    rounds: bool = False
    published_split: bool = False


def folder_of(home: Path) -> Path:
    return home / "exports"


def file_of(home: Path, job: Job) -> Path:
    """Its path; the folder may not be there yet."""
    return folder_of(home) / f"{job.pk}.zip"


def export_file_name(benchmark: Benchmark, order: ExportOrder) -> str:
    """What people get it as: letters, digits and dots alone."""
    plain = OTHER.sub("-", benchmark.name).strip("-.")[:60] or "benchmark"
    return f"{plain}-v{benchmark.version}-{order.format}.zip"
