"""What the page of a benchmark's exports shows, and the form that orders one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils import timezone

from annotation.web.shared import jobs
from annotation.web.shared.forms import set_choices
from retrieval.exporting.export_run import FORMATS
from retrieval.exporting.jobs.order import ExportOrder, file_of
from retrieval.exporting.jobs.removal import kept_until
from retrieval.exporting.labels import LabelChoice
from retrieval.exporting.withheld_counts import queries_withheld_by_policy, withheld_by_policy
from retrieval.exporting.withholding_policy import Withhold
from retrieval.jobs import submit_job
from retrieval.models import Benchmark, Job
from retrieval.texts.plurals import count_noun

SHOWN: Final = 20
MOST_WAITING: Final = 5
LARGEST_SEED: Final = 2**31 - 1
LABELS: Final = (
    (LabelChoice.FINAL.value, "by the merge rule, as published"),
    (LabelChoice.EXPERTS.value, "people only: blind studies, agreeing reviews"),
    (LabelChoice.AGENTS.value, "the agents’, also where people overrode them"),
)

POLICIES: Final = {
    Withhold.NONE.value: "none",
    Withhold.FORBIDDEN.value: "those whose licence may forbid sharing",
    Withhold.UNKNOWN.value: "those, and those that state no licence (the careful choice)",
}


class ExportForm(forms.Form):
    format = forms.ChoiceField(
        choices=[(name, known.title) for name, known in FORMATS.items()],
        widget=forms.RadioSelect,
        initial="release",
        label="Format",
    )
    labels = forms.ChoiceField(choices=LABELS, widget=forms.RadioSelect, initial="final", label="Labels")
    seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        required=False,
        label="Seed of a split into train, dev and test",
        help_text="8:1:1 by number of matches, near-duplicate queries kept together. Empty: no split.",
    )
    by_repository = forms.BooleanField(
        required=False, label="split: queries whose matches come from one repository go to one part"
    )
    published_split = forms.BooleanField(
        required=False, label="split as published: the parts that the source has; no seed"
    )
    rounds = forms.BooleanField(
        required=False, label="BEIR and TREC qrels: means of several labels as the nearest whole numbers"
    )
    withhold = forms.ChoiceField(
        choices=list(POLICIES.items()),
        initial=Withhold.NONE.value,
        label="Texts to leave out (only their origin and hash are written)",
        help_text="A table says what a licence allows; the publisher decides.",
    )

    def __init__(self, *given: Any, benchmark: Benchmark, **named: Any) -> None:
        super().__init__(*given, **named)
        snippets, queries = withheld_by_policy(benchmark), queries_withheld_by_policy(benchmark)
        set_choices(self, "withhold", list_withholding_policies(snippets, queries))
        forbidden = format_withheld_counts(snippets[Withhold.FORBIDDEN], queries[Withhold.FORBIDDEN])
        if forbidden:
            withhold = self.fields["withhold"]
            withhold.help_text = (
                f"! {forbidden} here with a stated licence that is not known to allow passing on: with "
                f"“none” they are exported all the same. {withhold.help_text}"
            )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("by_repository") and cleaned.get("seed") is None and "seed" not in self.errors:
            self.add_error("seed", "Give a seed: without one there is no split.")
        if cleaned.get("published_split") and cleaned.get("seed") is not None:
            self.add_error("seed", "The published split has no seed: leave it empty, or choose our split.")
        return cleaned

    def job(self, benchmark: Benchmark, user: User) -> Job | None:
        """The job of a valid form, which a worker takes up; None, with an error, where too many wait."""
        if Job.objects.open().about(Job.Kind.EXPORT, benchmark.pk).count() >= MOST_WAITING:
            self.add_error(
                None, f"{MOST_WAITING} exports of this benchmark are waiting: let them finish first."
            )
            return None
        return submit_job(ExportOrder(**self.cleaned_data), user, benchmark.pk)[0]


def list_withholding_policies(
    snippets: Mapping[Withhold, int], queries: Mapping[Withhold, int]
) -> list[tuple[str, str]]:
    """The policies in words, with how many snippets each withholds, and queries where it withholds some."""
    found = {
        policy: format_withheld_counts(snippets[policy], queries[policy])
        if queries[policy]
        else f"{snippets[policy]:,}"
        for policy in Withhold
    }
    return [(name, f"{words}: {found[Withhold(name)]}") for name, words in POLICIES.items()]


def format_withheld_counts(snippets: int, queries: int) -> str:
    """So many snippets and queries, in words; empty for none of either."""
    parts = [count_noun(snippets, "function")] * bool(snippets)
    parts += [count_noun(queries, "query", "queries")] * bool(queries)
    return " and ".join(parts)


def export_jobs_of_benchmark(benchmark: Benchmark) -> jobs.Table:
    """The newest exports of a benchmark."""
    return jobs.build_job_table(
        Job.objects.about(Job.Kind.EXPORT, benchmark.pk),
        build_export_job_row,
        "Exports",
        "File",
        reverse("benchmark-export-jobs", args=[benchmark.pk]),
        shown=SHOWN,
        empty="Nothing was exported yet.",
    )


def build_export_job_row(job: Job) -> jobs.JobRow:
    """An export; of one whose file is gone it tells why, and makes it again."""
    order = ExportOrder.of(job)
    title = FORMATS[order.format].title if order.format in FORMATS else order.format
    row = jobs.JobRow(job, title, [describe_export_order(order)], ("record",))
    if job.state != Job.State.DONE:
        return row
    row, until = replace(row, notes=job.result["warnings"]), kept_until(job, settings.EXPORT_DAYS)
    is_old = until is not None and until <= timezone.now()
    day = f"{timezone.localtime(until):%Y-%m-%d %H:%M}" if until else ""
    if not file_of(settings.COSQA_HOME, job).is_file():
        why = f"removed; it was kept until {day}" if is_old else "not on this machine"
        return replace(row, remarks=[why], retry=order_again(job, order))
    remarks = [filesizeformat(job.result["size"])]
    if until is not None:
        remarks.append("about to be removed" if is_old else f"kept until {day}")
    href = reverse("benchmark-export", args=[job.subject, job.pk])
    return replace(row, became="Download", href=href, remarks=remarks)


def describe_export_order(order: ExportOrder) -> str:
    """Which labels, which split, and what is withheld."""
    said = [f"labels: {order.labels}"]
    if order.seed is not None:
        said.append(f"split, seed {order.seed}{', by repository' if order.by_repository else ''}")
    if order.published_split:
        said.append("split as published")
    if order.rounds:
        said.append("rounded")
    if order.withhold != Withhold.NONE:
        said.append(f"withheld: {order.withhold}")
    return "; ".join(said)


def order_again(job: Job, order: ExportOrder) -> jobs.Retry:
    """The same order, given with one click."""
    fields = order.model_dump(mode="json", exclude_none=True)
    boxes = ("by_repository", "published_split", "rounds")
    fields |= {name: "on" if getattr(order, name) else "" for name in boxes}
    return jobs.Retry(reverse("benchmark-exports", args=[job.subject]), "Make again", fields)
