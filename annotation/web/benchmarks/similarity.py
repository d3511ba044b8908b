"""Labels by code similarity, ordered on the page of a benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.urls import reverse

from annotation.derived.similarity.job import SimilarityOrder
from annotation.derived.similarity.judge import LANGUAGES, MOST_DEPTH, NotComparable
from annotation.derived.similarity.publication import refuse_benchmark, similarity_name
from annotation.web.shared import jobs
from annotation.web.shared.forms import attempt, set_queryset
from retrieval.jobs import submit_job
from retrieval.models import Benchmark, Collection, Job
from retrieval.sources.code.aroma import THRESHOLD


class SimilarityForm(forms.Form):
    """With what the functions of a benchmark are compared, and from where on one is a match."""

    answers = forms.ModelChoiceField(
        Collection.objects.none(),
        label="Answers",
        required=False,
        empty_label="the benchmark’s matches",
        help_text="Code whose source ids are those of the queries. A match is never compared with itself.",
    )
    language = forms.ChoiceField(
        label="Language",
        choices=[(language, language.capitalize()) for language in LANGUAGES],
        initial="python",
        help_text="Functions in another language are not judged.",
    )
    threshold = forms.FloatField(
        label="Similarity of a match",
        min_value=0.01,
        max_value=1,
        initial=THRESHOLD,
        help_text="From 0 to 1. Neural Code Search takes 0.25.",
    )
    depth = forms.IntegerField(
        label="Results of each run",
        min_value=0,
        max_value=MOST_DEPTH,
        initial=10,
        help_text="So many results of each query are judged, and all pairs with a label.",
    )

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        collections = Collection.objects.filter(kind=Collection.Kind.SNIPPETS)
        set_queryset(self, "answers", collections.order_by("name", "version"))

    def order(self, benchmark: Benchmark, user: User) -> Job | None:
        """The order of a valid form, or the one that is open; None, with an error, for another benchmark."""

        def submit() -> Job:
            refuse_benchmark(benchmark)
            chosen = dict(self.cleaned_data)
            answers = chosen.pop("answers")
            order = SimilarityOrder(answers=answers.pk if answers else 0, **chosen)
            return submit_job(order, user, benchmark.pk)[0]

        return attempt(self, submit, NotComparable)


def similarity_jobs_of_benchmark(benchmark: Benchmark) -> jobs.Table:
    """The newest orders."""
    rows = Job.objects.about(Job.Kind.SIMILAR, benchmark.pk)
    address = reverse("benchmark-similarity-jobs", args=[benchmark.pk])
    return jobs.build_job_table(rows, build_similarity_job_row, "Ordered", "Benchmark", address)


def build_similarity_job_row(job: Job) -> jobs.JobRow:
    """An order; it leads to the benchmark, and says what was not judged."""
    order = SimilarityOrder.of(job)
    details = [f"{order.language.capitalize()}; similarity of at least {order.threshold:g}"]
    row = jobs.JobRow(job, "Code similarity", details, ("pair", "pairs"))
    if job.state != Job.State.DONE:
        return row
    result = job.result
    told = [f"Matches: {result['matches']:,}; no match: {result['no_matches']:,}"]
    told += [f"Not judged, {reason}: {count:,}" for reason, count in result["unjudged"].items()]
    href = reverse("benchmark", args=[result["benchmark"]])
    return replace(row, became=result["title"], href=href, notes=told)


def similarity_page(benchmark: Benchmark) -> dict[str, object]:
    """What the benchmark under these labels is called."""
    return {"name": similarity_name(benchmark)}
