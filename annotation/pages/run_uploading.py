"""The upload of ranked lists on a benchmark's page: scored as `manage.py evaluate --run` scores them."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from annotation.children import CHILD_LEASE
from annotation.pages import jobs
from retrieval.evaluation.run_jobs import perform
from retrieval.evaluation.running import SYSTEM_LENGTH
from retrieval.filters import TEXT_OPTIONS
from retrieval.hostile import clean
from retrieval.models import Benchmark, Pool, RunJob
from retrieval.sources.lines import GZIPPED

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
        help_text="As it stands in the leaderboard; of several runs with one name the newest counts.",
    )
    file = forms.FileField(
        label="Ranked lists",
        max_length=200,
        allow_empty_file=True,
        help_text="TREC (query Q0 snippet rank score tag) or CodeSearchNet\u2019s CSV (language,query,url), "
        "also gzipped. Queries go by source id or text, snippets by source id, link or the sha256 of their "
        "text, both also by the ids of an export.",
    )
    text_option = forms.ChoiceField(
        label="What of a snippet it searched",
        choices=[NOT_KNOWN, *((one, one) for one in TEXT_OPTIONS)],
        required=False,
    )
    pool = forms.ChoiceField(label="What it searched", choices=Pool.choices)
    language = forms.CharField(
        max_length=40,
        required=False,
        label="Only this language",
        help_text="For a CSV file with several languages.",
    )

    def clean_file(self) -> UploadedFile[bytes]:
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        if (file.size or 0) > settings.UPLOAD_LIMIT_BYTES:
            limit = settings.UPLOAD_LIMIT_BYTES // (1024 * 1024)
            raise forms.ValidationError(
                f"Larger than {limit} MB. Score it on the server instead, with: "
                "python manage.py evaluate BENCHMARK --run NAME=FILE"
            )
        return file

    def job(self, benchmark: Benchmark, user: User) -> RunJob | None:
        """The job of a valid form, or the same that is open already; a small one is done here and now.

        None, with an error, where too many wait, or where a small one is refused: then nothing is kept of it.
        """
        values = self.cleaned_data
        order = order_of(benchmark, values)
        open_ones = RunJob.objects.filter(state__in=RunJob.OPEN)
        if same := open_ones.filter(digest=order["digest"]).first():
            return same
        if open_ones.filter(benchmark=benchmark).count() >= MOST_WAITING:
            self.add_error(None, f"{MOST_WAITING} runs of this benchmark wait already: let them end first.")
            return None
        small = is_small(benchmark, text_bytes(values["file"]))
        job, new = stored(order, values["file"], user, small=small)
        return self.scored(job) if new and small else job

    def scored(self, job: RunJob) -> RunJob | None:
        """The job, done; None, with an error, where its file is refused."""
        perform(job)
        if job.state != RunJob.State.FAILED:
            return job
        self.add_error("file", job.message)
        job.delete()
        return None


def form_for(benchmark: Benchmark, data: Any = None, files: Any = None) -> RunForm:
    """The form, with the benchmark's own pool chosen."""
    form = RunForm(data, files, initial={"pool": benchmark.pool})
    if benchmark.mining_id is None:
        form.fields["pool"].choices = [(Pool.COLLECTION.value, Pool.COLLECTION.label)]  # type: ignore[attr-defined]
    return form


def order_of(benchmark: Benchmark, values: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a job for the values of a valid form, but for the file itself."""
    columns = {name: values[name] for name in ("system", "text_option", "pool", "language")}
    source = clean(PurePath(str(values["file"].name)).name)[:400]
    whole = hashlib.sha256(json.dumps([benchmark.pk, source, *columns.values()]).encode())
    for chunk in values["file"].chunks():
        whole.update(chunk)
    return {**columns, "benchmark": benchmark, "source": source, "digest": whole.hexdigest()}


def stored(
    order: Mapping[str, Any], file: UploadedFile[bytes], user: User, *, small: bool
) -> tuple[RunJob, bool]:
    """A new job with its file, or the same that was ordered meanwhile; and whether it is new."""
    # Should this process die at a small one, a worker takes it up when the lease has run out.
    held = {"state": RunJob.State.RUNNING, "lease_until": timezone.now() + CHILD_LEASE} if small else {}
    job = RunJob(**order, file=file, created_by=user, **held)
    try:
        with transaction.atomic():
            job.save(force_insert=True)
    except IntegrityError:
        job.file.delete(save=False)  # it was written before the row
        return RunJob.objects.filter(digest=order["digest"])[0], False
    return job, True


def text_bytes(file: UploadedFile[bytes]) -> int:
    """How many bytes a file has once it is unpacked; no more than `SMALL_BYTES` and one are unpacked here."""
    file.seek(0)
    try:
        packed = file.read(len(GZIPPED)) == GZIPPED
        file.seek(0)
        return len(gzip.GzipFile(fileobj=file).read(SMALL_BYTES + 1)) if packed else file.size or 0
    except (OSError, EOFError, zlib.error):
        return 0  # it is refused at once
    finally:
        file.seek(0)


def is_small(benchmark: Benchmark, size: int) -> bool:
    """Whether a file of so many bytes is soon scored on the benchmark."""
    read = benchmark.snippets_until + benchmark.size
    return benchmark.queries_until <= SMALL_QUERIES and size <= SMALL_BYTES and read <= SMALL_READ


def jobs_of(benchmark: Benchmark) -> jobs.Table:
    """The newest runs that were uploaded for the benchmark."""
    rows = benchmark.run_jobs.select_related("created_by")[: jobs.SHOWN]
    address = reverse("benchmark-upload-jobs", args=[benchmark.pk])
    return jobs.Table("Uploaded runs", "Leaderboard", address, [jobs.scored(job) for job in rows])
