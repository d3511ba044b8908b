"""The upload of ranked lists on a benchmark's page: scored as `manage.py evaluate --run` scores them."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from pathlib import PurePath
from typing import Any, Final
from uuid import uuid4

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.urls import reverse

from annotation.web.shared import jobs
from annotation.web.shared.forms import set_choices
from retrieval.evaluation.runs.jobs import RunOrder, perform_run_job
from retrieval.evaluation.runs.system_run import SYSTEM_LENGTH
from retrieval.filters import TEXT_OPTIONS
from retrieval.jobs import delete_stored_files, find_open_job, store_job_file, submit_job
from retrieval.models import Benchmark, Job, Pool
from retrieval.sources.readers.compression import packing_of
from retrieval.texts.hostile import mark_hostile_characters

NOT_KNOWN: Final = ("", "not known")
MOST_WAITING: Final = 10
SMALL_QUERIES: Final = 2_000
SMALL_BYTES: Final = 5 * 1024 * 1024
SMALL_READ: Final = 100_000
"""Queries that are scored, bytes of a file, snippets and labels that are read, in less than two seconds."""


class RunForm(forms.Form):
    """What a person uploads. Every refusal names what to do instead."""

    system = forms.CharField(
        max_length=SYSTEM_LENGTH,
        label="Name of the system",
        help_text="Its name in the leaderboard. If several runs have one name, the newest counts.",
    )
    file = forms.FileField(
        label="Ranked lists",
        max_length=200,
        allow_empty_file=True,
        help_text="TREC (query Q0 function rank score tag) or CodeSearchNet\u2019s CSV (language,query,url), "
        "also gzipped. Queries go by source id or text, functions by source id, link or the sha256 of their "
        "text, both also by the ids of an export.",
    )
    text_option = forms.ChoiceField(
        label="Text that was searched",
        choices=[NOT_KNOWN, *((option, option) for option in TEXT_OPTIONS)],
        required=False,
    )
    pool = forms.ChoiceField(label="What it searched", choices=Pool.choices)
    language = forms.CharField(
        max_length=40,
        required=False,
        label="Only this language",
        help_text="For a CSV file with several languages.",
    )

    def __init__(self, benchmark: Benchmark, data: Any = None, files: Any = None) -> None:
        super().__init__(data, files, initial={"pool": benchmark.pool})
        set_choices(self, "pool", pools_of(benchmark))

    def clean_file(self) -> UploadedFile[bytes]:
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        if (file.size or 0) > settings.UPLOAD_LIMIT_BYTES:
            limit = settings.UPLOAD_LIMIT_BYTES // (1024 * 1024)
            raise forms.ValidationError(
                f"Larger than {limit} MB. Score it on the server instead, with: "
                "cosqa evaluate BENCHMARK --run NAME=FILE"
            )
        return file

    def job(self, benchmark: Benchmark, user: User) -> Job | None:
        """The job of a valid form, or the same that is open already; a small one is done here and now.

        None, with an error, where too many wait, or where a small one is refused: then nothing is kept of it.
        """
        values = self.cleaned_data
        order = order_of(values)
        if same := find_open_job(order, benchmark.pk):
            return same
        if Job.objects.open().about(Job.Kind.RUN, benchmark.pk).count() >= MOST_WAITING:
            self.add_error(None, f"{MOST_WAITING} runs of this benchmark are waiting: let them finish first.")
            return None
        small = is_small(benchmark, text_bytes(values["file"]))
        job, new = store_run_job(order, benchmark, values["file"], user, small=small)
        return self.scored(job) if new and small else job

    def scored(self, job: Job) -> Job | None:
        """The job, done; None, with an error, where its file is refused."""
        perform_run_job(job)
        if job.state != Job.State.FAILED:
            return job
        self.add_error("file", job.message)
        job.delete()
        return None


def pools_of(benchmark: Benchmark) -> list[tuple[str, str]]:
    """What can be searched: candidates only where there are any."""
    known = Pool.choices if benchmark.mining_id else [(Pool.COLLECTION.value, Pool.COLLECTION.label)]
    return [(value, str(label)) for value, label in known]


def order_of(values: dict[str, Any]) -> RunOrder:
    """The order of a valid form."""
    columns = {name: values[name] for name in ("system", "text_option", "pool", "language")}
    source = mark_hostile_characters(PurePath(str(values["file"].name)).name)[:400]
    whole = hashlib.sha256()
    for chunk in values["file"].chunks():
        whole.update(chunk)
    return RunOrder(**columns, source=source, sha256=whole.hexdigest())


def store_run_job(
    order: RunOrder, benchmark: Benchmark, file: UploadedFile[bytes], user: User, *, small: bool
) -> tuple[Job, bool]:
    """A new job with its file, or the same that was ordered meanwhile; and whether it is new."""
    # What people call it is in the order, and never a path.
    files = {"file": store_job_file(f"runs/{uuid4().hex}", file)}
    job, new = submit_job(order, user, benchmark.pk, held=small, files=files)
    if not new:
        delete_stored_files(files)
    return job, new


def text_bytes(file: UploadedFile[bytes]) -> int:
    """How many bytes a file has once it is unpacked; no more than `SMALL_BYTES` and one are unpacked here.

    What is packed otherwise than by gzip counts as large.
    """
    file.seek(0)
    try:
        packed = packing_of(file.read(6))
        file.seek(0)
        if packed == ".gz":
            return len(gzip.GzipFile(fileobj=file).read(SMALL_BYTES + 1))
        return SMALL_BYTES + 1 if packed else file.size or 0
    except (OSError, EOFError, zlib.error):
        return 0  # it is refused at once
    finally:
        file.seek(0)


def is_small(benchmark: Benchmark, size: int) -> bool:
    """Whether a file of so many bytes is soon scored on the benchmark."""
    read = benchmark.snippets_until + benchmark.size
    return benchmark.queries_until <= SMALL_QUERIES and size <= SMALL_BYTES and read <= SMALL_READ


def run_jobs_of_benchmark(benchmark: Benchmark) -> jobs.Table:
    """The newest runs that were uploaded for the benchmark."""
    rows = Job.objects.about(Job.Kind.RUN, benchmark.pk)
    address = reverse("benchmark-upload-jobs", args=[benchmark.pk])
    return jobs.build_job_table(rows, jobs.build_run_job_row, "Uploaded runs", "Leaderboard", address)
