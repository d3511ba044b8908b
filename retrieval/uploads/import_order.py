"""What is ordered where files are uploaded: their format, and what it asks beside them."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models

from retrieval.jobs import JobOrder
from retrieval.models import Job


class Format(models.TextChoices):
    """What uploaded files are."""

    COSQA = "cosqa", "CoSQA: queries and a code base (JSON)"
    COSQA_PLUS = "cosqa-plus", "CoSQA\u207a: a release as three JSON files, or as one zip with all three"
    RELEASE = "release", "An export of ours: the zip of a release, as a benchmark again"
    TABLE = "table", "A table of your own: CSV, TSV, JSON Lines or JSON, columns chosen next"
    BEIR = "beir", "BEIR or MTEB: a zip of corpus, queries and qrels"
    QRELS = "qrels", "TREC qrels, or CodeSearchNet\u2019s annotations: labels of what is there"
    PYTHON = "python", "Python: a source file, a wheel, an sdist or a zip of sources"
    DOCUMENTED = (
        "documented",
        "Source files: documented functions of six languages, their documentation as queries",
    )
    CODESEARCHNET = "codesearchnet", "CodeSearchNet: functions of six languages (JSON Lines, or its zips)"
    STAQC = "staqc", "StaQC: a pickle of Stack Overflow code"
    NCS = "ncs", "Neural Code Search: its questions (JSON)"


class ImportOrder(JobOrder):
    """Import uploaded files into collections of this name. A table waits for its columns to be chosen first.

    `options` are what the format asks beside its files, `allow_partial` publishes labels though others were
    refused, `replace` takes the files in the place of what came under this name before. `addresses` are where
    files are that a worker has to download first, by the names of the job's files.
    """

    kind: ClassVar = Job.Kind.IMPORT
    name: str
    format: Format
    options: dict[str, Any] = {}
    allow_partial: bool = False
    replace: bool = False
    addresses: dict[str, str] = {}
