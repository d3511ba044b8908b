"""Orders for a leaderboard: encoders that are to search, and figures that a page can't wait for."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from django import forms
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.http import QueryDict
from django.urls import reverse

from annotation import launching
from annotation.launching import LaunchRefused
from annotation.pages import board as beside
from annotation.pages import jobs
from annotation.pages.benchmarks import matches_of
from retrieval import known_encoders
from retrieval.encoders import UnknownEncoder
from retrieval.evaluation.running import SYSTEM_LENGTH
from retrieval.evaluation.score_jobs import cancel, digest_of
from retrieval.evaluation.system_names import encoders_of
from retrieval.filters import TEXT_OPTIONS
from retrieval.models import Benchmark, Pool, ScoreJob

MOST_WAITING: Final = 10
What = ScoreJob.What


class NotOrdered(ValueError):
    """Nothing was ordered; the message says why."""


class ScoreForm(forms.Form):
    """Which encoders are to search the benchmark, and what of its snippets."""

    encoders = forms.MultipleChoiceField(required=False, label="Encoders")
    other = forms.CharField(
        required=False,
        max_length=SYSTEM_LENGTH,
        label="Another encoder",
        help_text="By folder, hub id or model of your server, for example codebert:/models/mine or "
        "endpoint:text-embedding-3-small; beside those above, the mean of all decides.",
    )
    text_option = forms.ChoiceField(
        label="What of a snippet it searches", choices=[(one, one) for one in TEXT_OPTIONS]
    )
    pool = forms.ChoiceField(label="What it searches", choices=Pool.choices)

    def __init__(self, benchmark: Benchmark, data: QueryDict | None = None) -> None:
        super().__init__(data, initial={"pool": benchmark.pool, "encoders": []})
        self.benchmark, self.choices = benchmark, known_encoders.to_choose()
        names = [(one.name, one.name) for one in self.choices]
        self.fields["encoders"].choices = names  # type: ignore[attr-defined]
        self.fields["pool"].choices = pools_of(benchmark)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        typed = values.get("other", "").strip()
        values["system"] = "+".join(filter(None, [*values.get("encoders", ()), typed]))
        try:
            names = encoders_of(values["system"]) if values["system"] else []
            launching.refuse_bad_encoders(tuple(names))
        except (LaunchRefused, UnknownEncoder) as why:
            self.add_error("encoders", str(why))
        if len(values["system"]) > SYSTEM_LENGTH:
            self.add_error("encoders", f"Their names are longer than {SYSTEM_LENGTH} letters: choose fewer.")
        return values

    def order(self, user: User) -> ScoreJob | None:
        """The order of a valid form, or the same that is open; None, with an error, where too many wait."""
        columns = {name: self.cleaned_data[name] for name in ("system", "text_option", "pool")}
        try:
            return ordered(self.benchmark, user, {"what": What.SYSTEM.value, **columns})
        except NotOrdered as why:
            self.add_error(None, str(why))
            return None


def pools_of(benchmark: Benchmark) -> list[tuple[str, str]]:
    """What can be searched: candidates only where there are any."""
    known = Pool.choices if benchmark.mining_id else [(Pool.COLLECTION.value, Pool.COLLECTION.label)]
    return [(value, str(label)) for value, label in known]


def ordered(benchmark: Benchmark, user: User, columns: dict[str, Any]) -> ScoreJob:
    """The new order, or the same that is open. Raises NotOrdered."""
    digest = digest_of(benchmark, columns)
    of_this = benchmark.score_jobs.filter(state__in=ScoreJob.OPEN)
    if same := of_this.filter(digest=digest).first():
        return same
    if of_this.count() >= MOST_WAITING:
        raise NotOrdered(f"{MOST_WAITING} orders of this benchmark wait already: let them end first.")
    try:
        with transaction.atomic():
            return benchmark.score_jobs.create(**columns, digest=digest, created_by=user)
    except IntegrityError:  # a second click came first
        return benchmark.score_jobs.filter(digest=digest)[0]


def figures_ordered(benchmark: Benchmark, user: User, params: QueryDict) -> ScoreJob:
    """Figures of the board that `params` show, in the words of its page. Raises NotOrdered."""
    what = params.get("what", "")
    if what not in (What.FIGURES, What.WITHOUT):
        raise NotOrdered("Choose what is to be computed.")
    pool = params.get("pool", "")
    written, _, fewest, most = matches_of(params.get("found", ""))
    errors = beside.chosen_errors(beside.error_choices(benchmark, user), params.get("errors", ""))
    options: dict[str, Any] = {
        "metric": params.get("metric", "")[:40],
        "found": written,
        "fewest": fewest,
        "most": most,
    }
    if what == What.FIGURES:
        options |= {"rates": asdict(errors.rates), "errors": errors.written}
    columns = {"what": what, "pool": pool if pool in Pool.values else benchmark.pool, "options": options}
    return ordered(benchmark, user, columns)


def cancelled(benchmark: Benchmark, number: int) -> bool:
    """Cancel one of its orders; says whether it was open."""
    job = benchmark.score_jobs.filter(pk=number).first()
    return job is not None and cancel(job)


def jobs_of(benchmark: Benchmark) -> jobs.Table:
    """The newest orders for the benchmark's leaderboard."""
    rows = benchmark.score_jobs.select_related("created_by")[: jobs.SHOWN]
    address = reverse("benchmark-score-jobs", args=[benchmark.pk])
    return jobs.Table(
        "Ordered for the leaderboard", "Leaderboard", address, [jobs.measured(job) for job in rows]
    )
