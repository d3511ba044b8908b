"""A benchmark with distractors, ordered on the page of the one that it is made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from django import forms
from django.contrib.auth.models import User
from django.urls import reverse

from annotation.derived.distractors.job import DistractorOrder
from annotation.derived.distractors.publication import NoDistractors, distractors_name, refuse_benchmark
from annotation.web.shared import jobs
from annotation.web.shared.forms import attempt
from retrieval.jobs import submit_job
from retrieval.models import Benchmark, Distractor, Job
from sandbox.candidate.mutants import BUGS

SHOWN: Final = 50


class DistractorForm(forms.Form):
    """How many bugs are planted into each match, and where."""

    most = forms.IntegerField(
        label="Bugs for each function",
        min_value=1,
        max_value=len(BUGS),
        initial=len(BUGS),
        help_text=f"At most one of each kind: {', '.join(BUGS)}.",
    )
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=2**31 - 1,
        initial=1,
        help_text="It decides where bugs are planted.",
    )

    def order(self, benchmark: Benchmark, user: User) -> Job | None:
        """The order of a valid form, or the one that is open; None, with an error, for another benchmark."""

        def submit() -> Job:
            refuse_benchmark(benchmark)
            order = DistractorOrder(seed=self.cleaned_data["seed"], most=self.cleaned_data["most"])
            return submit_job(order, user, benchmark.pk)[0]

        return attempt(self, submit, NoDistractors)


def distractors_page(benchmark: Benchmark) -> dict[str, object]:
    """The name of what is made, and the first distractors of this one, if it has any."""
    rows = Distractor.objects.filter(benchmark=benchmark).select_related("pair__query", "parent")
    return {
        "name": distractors_name(benchmark),
        "number": rows.count(),
        "rows": list(rows[:SHOWN]),
    }


def distractor_jobs_of_benchmark(benchmark: Benchmark) -> jobs.Table:
    """The newest orders."""
    rows = Job.objects.about(Job.Kind.BUGS, benchmark.pk)
    address = reverse("benchmark-distractor-jobs", args=[benchmark.pk])
    return jobs.build_job_table(rows, build_distractor_job_row, "Ordered", "Benchmark", address)


def build_distractor_job_row(job: Job) -> jobs.JobRow:
    """An order; it leads to the benchmark, and says what was left out."""
    order = DistractorOrder.of(job)
    details = [f"up to {order.most} a function; seed {order.seed}"]
    row = jobs.JobRow(job, "Distractors", details, ("match", "matches"))
    if job.state != Job.State.DONE:
        return row
    told = [f"Left out, {reason}: {count:,}" for reason, count in job.result["left_out"].items()]
    href = reverse("benchmark", args=[job.result["benchmark"]])
    return replace(row, became=job.result["title"], href=href, notes=told)
