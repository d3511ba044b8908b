"""The upload of ranked lists on a benchmark's page: scored as `manage.py evaluate --run` scores them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Final

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from retrieval.evaluation.content import content_of
from retrieval.evaluation.files import NotComparable
from retrieval.evaluation.leaderboard import leaderboard
from retrieval.evaluation.running import DEFAULT_MEASURES, SYSTEM_LENGTH, Evaluated, evaluate_file
from retrieval.filters import TEXT_OPTIONS
from retrieval.metrics.names import measures
from retrieval.models import Benchmark, Pool
from retrieval.sources.lines import Malformed

NOT_KNOWN: Final = ("", "not known")


class NotScored(ValueError):
    """The file can't be scored; the message says why, with the line where one is to blame."""


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
        help_text="TREC (query Q0 snippet rank score tag) or CodeSearchNet\u2019s CSV (language,query,url). "
        "Queries go by source id or text, snippets by source id or the sha256 of their text.",
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


def form_for(benchmark: Benchmark, data: Any = None, files: Any = None) -> RunForm:
    """The form, with the benchmark's own pool chosen."""
    form = RunForm(data, files, initial={"pool": benchmark.pool})
    if benchmark.mining_id is None:
        form.fields["pool"].choices = [(Pool.COLLECTION.value, Pool.COLLECTION.label)]  # type: ignore[attr-defined]
    return form


def score(benchmark: Benchmark, form: RunForm) -> Evaluated:
    """Score and keep the run of a valid form. Raises `NotScored`, and then nothing is kept."""
    values = form.cleaned_data
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(str(values["file"].name)).name
        with path.open("wb") as stream:
            stream.writelines(values["file"].chunks())
        try:
            done = evaluate_file(
                path,
                values["system"],
                content_of(benchmark),
                Pool(values["pool"]),
                measures(DEFAULT_MEASURES.split(",")),
                language=values["language"] or None,
                text_option=values["text_option"],
            )
        except (Malformed, NotComparable) as why:
            raise NotScored(str(why).replace(f"{folder}/", "")) from why
        leaderboard(benchmark, values["pool"])  # kept, so that nobody waits for the page
    return done


def notes_of(done: Evaluated) -> list[str]:
    """What a person is told of a run that was scored: what it rests on, and what was unknown."""
    counts = done.counts
    told = (
        f"{done.run.system} is scored on {counts.scored:,} queries, {counts.without_results:,} of them "
        f"without results (they score 0); {counts.without_match:,} without a match are skipped."
    )
    return [told, *(note.partition(": ")[2] for note in done.notes)]
