"""What of a benchmark is in training data, too: the order, its figures, and its rows with both texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from django import forms
from django.contrib.auth.models import User
from django.http import QueryDict
from django.urls import reverse

from annotation.studies.report.table import Table
from annotation.web.shared import jobs
from annotation.web.shared.downloads import list_table_files
from annotation.web.shared.forms import set_queryset
from annotation.web.shared.pagination import whole_number
from annotation.web.studies.figures import build_study_table_view
from retrieval.jobs import submit_job
from retrieval.models import Benchmark, Collection, Job, Text
from retrieval.training.contamination import Contamination
from retrieval.training.contamination_job import ContaminationOrder, count_contamination

MOST_WAITING: Final = 10
SHOWN: Final = 50
RULE: Final = (
    "Judged queries and functions, each once. Same text: equal but for blanks, of queries also for case. "
    "Near same: sets of identifiers (of queries, words) with a Jaccard similarity of at least 0.8, and "
    "multisets with 0.7. Functions with fewer than 10 identifiers are compared as texts alone."
)

Row = tuple[str, str, str, str, str, str]
"""Query or function, how it is alike, its id and text, and id and text in the training data."""


class ContaminationForm(forms.Form):
    """With which collection a benchmark is compared."""

    collection = forms.ModelChoiceField(
        Collection.objects.none(),
        label="Training data",
        empty_label="choose …",
        help_text="A collection of queries or functions that a system learned. Import it first.",
    )

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data)
        set_queryset(self, "collection", Collection.objects.order_by("kind", "name", "version"))

    def order(self, benchmark: Benchmark, user: User) -> Job | None:
        """The order of a valid form; None, with an error, where too many wait."""
        waiting = Job.objects.open().about(Job.Kind.LEAKS, benchmark.pk)
        if waiting.count() >= MOST_WAITING:
            self.add_error(None, f"{MOST_WAITING} comparisons are waiting: let them finish first.")
            return None
        order = ContaminationOrder(collection=self.cleaned_data["collection"].pk)
        return submit_job(order, user, benchmark.pk)[0]


def contamination_page(benchmark: Benchmark, params: QueryDict) -> dict[str, Any]:
    """The newest comparison, or the one that `job` names, with its tables; `found` is None without any."""
    done = Job.objects.about(Job.Kind.LEAKS, benchmark.pk).filter(state=Job.State.DONE)
    wanted = done.filter(pk=whole_number(params.get("job") or "")) if "job" in params else done
    job = wanted.first()
    if job is None:
        return {"found": None, "tables": ()}
    learned = Collection.objects.get(pk=ContaminationOrder.of(job).collection)
    rows = load_rows(job.result["rows"])
    tables = build_contamination_tables(str(benchmark), str(learned), job.result["counts"], rows)
    asked = params.copy()
    asked["job"] = str(job.pk)
    return {
        "found": job,
        "learned": learned,
        "counts": build_study_table_view(tables[0]),
        "rows": rows[:SHOWN],
        "number": len(rows),
        "more": job.result["more"],
        "rule": RULE,
        "tables": tables,
        "files": list_table_files(tables, asked),
    }


def load_rows(kept: Sequence[Sequence[Any]]) -> list[Row]:
    """The rows of a job with their texts."""
    keys = {key for row in kept for key in (row[3], row[5])}
    texts = Text.objects.select_related("body").in_bulk(keys)
    return [
        (of, likeness, own, texts[key].text, other, texts[found].text)
        for of, likeness, own, key, other, found in kept
    ]


def rows_of(found: Contamination) -> list[Row]:
    """The rows of a comparison that was just made."""
    return [
        (of, shared.likeness, shared.own.name, shared.own.text, shared.other.name, shared.other.text)
        for of, group in (("query", found.queries), ("function", found.functions))
        for shared in group
    ]


def tables_of(benchmark: Benchmark, learned: str, found: Contamination) -> tuple[Table, Table]:
    """Counts and rows of a comparison that was just made."""
    return build_contamination_tables(str(benchmark), learned, count_contamination(found), rows_of(found))


def build_contamination_tables(
    benchmark: str, learned: str, counts: Mapping[str, Any], rows: Iterable[Row]
) -> tuple[Table, Table]:
    """How much is shared, and each text beside the first that is like it."""
    shares = [
        (name, counts[name]["texts"], counts[name]["same"], counts[name]["near"], counts[name]["share"])
        for name in ("queries", "functions")
    ]
    matches = counts["matches"]
    seen = (
        f"Of {matches:,} matches {counts['seen_functions']:,} have their function there, "
        f"{counts['seen_pairs']:,} their query, too."
    )
    refused = (
        f"{counts['refused']:,} records could not be read and were not compared." if counts["refused"] else ""
    )
    told = f"Texts of {benchmark} in {learned}."
    heads = ("texts", "judged", "same text", "near same", "share")
    columns = ("of", "kind", "id", "text", "id in training data", "text in training data")
    return (
        Table("shares", "Counts", heads, tuple(shares), f"{told} {seen} {RULE}", warning=refused),
        Table("texts", "Texts", columns, tuple(rows), f"{told} {RULE}"),
    )


def comparisons_of_benchmark(benchmark: Benchmark) -> jobs.Table:
    """The newest comparisons."""
    rows = Job.objects.about(Job.Kind.LEAKS, benchmark.pk)
    address = reverse("benchmark-contamination-jobs", args=[benchmark.pk])
    return jobs.build_job_table(rows, build_comparison_row, "Comparisons", "Result", address)


def build_comparison_row(job: Job) -> jobs.JobRow:
    """A comparison; it leads to its result."""
    learned = Collection.objects.filter(pk=ContaminationOrder.of(job).collection).first()
    row = jobs.JobRow(job, str(learned), ["training data"], ("step",))
    if job.state != Job.State.DONE:
        return row
    href = f"{reverse('benchmark-contamination', args=[job.subject])}?job={job.pk}#h-shared"
    return replace(row, became="texts that are in both", href=href)
