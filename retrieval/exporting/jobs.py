"""Where the file of an export lies that was ordered on a page."""

from __future__ import annotations

import re
from pathlib import Path

from retrieval.models import ExportJob

OTHER = re.compile(r"[^A-Za-z0-9._-]+")


def folder_of(home: Path) -> Path:
    return home / "exports"


def file_of(home: Path, job: ExportJob) -> Path:
    """Its path; the folder may not be there yet."""
    return folder_of(home) / f"{job.pk}.zip"


def name_of(job: ExportJob) -> str:
    """What people get it as: letters, digits and dots alone."""
    plain = OTHER.sub("-", job.benchmark.name).strip("-.")[:60] or "benchmark"
    return f"{plain}-v{job.benchmark.version}-{job.format}.zip"
