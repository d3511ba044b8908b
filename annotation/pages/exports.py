"""What the page of a benchmark's exports shows, and the form that orders one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from retrieval.counting import counted
from retrieval.exporting.jobs import file_of
from retrieval.exporting.labels import Choice
from retrieval.exporting.licences import Withhold
from retrieval.exporting.performing import FORMATS
from retrieval.exporting.removing import kept_until
from retrieval.exporting.withholding import queries_withheld_by_policy, withheld_by_policy
from retrieval.models import Benchmark, ExportJob

SHOWN: Final = 20
MOST_WAITING: Final = 5
LARGEST_SEED: Final = 2**31 - 1
OPEN: Final = (ExportJob.State.WAITING, ExportJob.State.RUNNING)
LABELS: Final = (
    (Choice.FINAL.value, "by the merge rule, as published"),
    (Choice.EXPERTS.value, "of people alone: blind studies, agreeing reviews"),
    (Choice.AGENTS.value, "of the agents, also where people were believed"),
)

POLICIES: Final = {
    Withhold.NONE.value: "none",
    Withhold.FORBIDDEN.value: "those whose stated licence is not known to allow passing on",
    Withhold.UNKNOWN.value: "those, and whatever states no licence (the careful choice)",
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
        help_text="8:1:1 by number of matches, near-same queries kept together. Empty: no split.",
    )
    by_repository = forms.BooleanField(
        required=False, label="split: queries whose matches come from one repository go to one part"
    )
    withhold = forms.ChoiceField(
        choices=list(POLICIES.items()),
        initial=Withhold.NONE.value,
        label="Snippets and queries of which origin and hash alone are written",
        help_text="What a licence allows is looked up in a table; who publishes decides.",
    )

    def __init__(self, *given: Any, benchmark: Benchmark, **named: Any) -> None:
        super().__init__(*given, **named)
        snippets, queries = withheld_by_policy(benchmark), queries_withheld_by_policy(benchmark)
        withhold = self.fields["withhold"]
        withhold.choices = policies(snippets, queries)  # type: ignore[attr-defined]
        forbidden = both(snippets[Withhold.FORBIDDEN], queries[Withhold.FORBIDDEN])
        if forbidden:
            withhold.help_text = (
                f"! {forbidden} here with a stated licence that is not known to allow passing on: with "
                f"“none” they are exported all the same. {withhold.help_text}"
            )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("by_repository") and cleaned.get("seed") is None and "seed" not in self.errors:
            self.add_error("seed", "Give a seed: without one there is no split.")
        return cleaned

    def job(self, benchmark: Benchmark, user: User) -> ExportJob | None:
        """The job of a valid form, which a worker takes up; None, with an error, where too many wait."""
        if ExportJob.objects.filter(benchmark=benchmark, state__in=OPEN).count() >= MOST_WAITING:
            self.add_error(
                None, f"{MOST_WAITING} exports of this benchmark wait already: let them end first."
            )
            return None
        return ExportJob.objects.create(benchmark=benchmark, created_by=user, **self.cleaned_data)


def policies(snippets: Mapping[Withhold, int], queries: Mapping[Withhold, int]) -> list[tuple[str, str]]:
    """The policies in words, with how many snippets each withholds, and queries where it withholds some."""
    found = {
        policy: both(snippets[policy], queries[policy]) if queries[policy] else f"{snippets[policy]:,}"
        for policy in Withhold
    }
    return [(name, f"{words}: {found[Withhold(name)]}") for name, words in POLICIES.items()]


def both(snippets: int, queries: int) -> str:
    """So many snippets and queries, in words; empty for none of either."""
    parts = [counted(snippets, "snippet")] * bool(snippets)
    parts += [counted(queries, "query", "queries")] * bool(queries)
    return " and ".join(parts)


@dataclass(frozen=True, slots=True)
class JobRow:
    """An export; `title` is its format in words, `until` when its file goes or went (None: never)."""

    job: ExportJob
    title: str
    is_there: bool
    until: datetime | None

    @property
    def is_old(self) -> bool:
        return self.until is not None and self.until <= timezone.now()


@dataclass(frozen=True, slots=True)
class ExportsPage:
    """The newest exports of a benchmark."""

    benchmark: Benchmark
    rows: tuple[JobRow, ...]

    @property
    def is_live(self) -> bool:
        return any(row.job.state in OPEN for row in self.rows)


def exports_page(benchmark: Benchmark) -> ExportsPage:
    jobs = benchmark.exports.select_related("created_by")[:SHOWN]
    return ExportsPage(benchmark, tuple(row_of(job) for job in jobs))


def row_of(job: ExportJob) -> JobRow:
    is_there = job.state == ExportJob.State.DONE and file_of(settings.COSQA_HOME, job).is_file()
    title = FORMATS[job.format].title if job.format in FORMATS else job.format
    return JobRow(job, title, is_there, kept_until(job, settings.EXPORT_DAYS))
