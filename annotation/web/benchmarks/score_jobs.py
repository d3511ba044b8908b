"""Orders for a leaderboard: encoders that are to search, and figures that a page can't wait for."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.http import QueryDict
from django.urls import reverse

from annotation.builds.launch import launcher
from annotation.builds.launch.order import LaunchRefused
from annotation.web.benchmarks import leaderboard_notes
from annotation.web.benchmarks.page import matches_of
from annotation.web.benchmarks.run_upload import pools_of
from annotation.web.shared import jobs
from annotation.web.shared.forms import attempt, set_choices
from retrieval.encoders import UnknownEncoder
from retrieval.encoders.rerankers import UnknownReranker, why_reranker_missing
from retrieval.evaluation.runs.score_jobs import ScoreOrder, What
from retrieval.evaluation.runs.system_run import SYSTEM_LENGTH
from retrieval.evaluation.systems.names import encoders_of, join_second_stage
from retrieval.evaluation.systems.search import DEPTH, RERANK_DEPTH
from retrieval.filters import TEXT_OPTIONS
from retrieval.jobs import cancel_job, find_open_job, submit_job
from retrieval.mining import known_encoders
from retrieval.models import Benchmark, Job, Pool
from retrieval.training.training_job import list_trained_encoders

MOST_WAITING: Final = 10
MOST_TRAINED: Final = 20
"""The newest systems that were trained here, which stay to be chosen; older ones are typed."""


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
        "endpoint:text-embedding-3-small; with the ones above, the mean of all counts.",
    )
    rerank = forms.CharField(
        required=False,
        max_length=SYSTEM_LENGTH,
        label="Reranker",
        help_text="A model that ranks the first results again, by folder or hub id, for example "
        "cross-encoder:/models/mine or late-interaction:/models/mine. It may be left empty.",
    )
    depth = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=DEPTH,
        label="Results for the reranker",
        help_text="Results below keep their order. Each query takes so many pairs.",
    )
    text_option = forms.ChoiceField(
        label="Text that is searched", choices=[(option, option) for option in TEXT_OPTIONS]
    )
    pool = forms.ChoiceField(label="What it searches", choices=Pool.choices)

    def __init__(self, benchmark: Benchmark, data: QueryDict | None = None) -> None:
        super().__init__(data, initial={"pool": benchmark.pool, "encoders": [], "depth": RERANK_DEPTH})
        trained = [
            known_encoders.Named(name, known_encoders.why_missing(name) or "")
            for name in list_trained_encoders(MOST_TRAINED)
        ]
        self.benchmark, self.choices = benchmark, [*known_encoders.to_choose(), *trained]
        set_choices(self, "encoders", [(choice.name, choice.name) for choice in self.choices])
        set_choices(self, "pool", pools_of(benchmark))

    @property
    def unready(self) -> int:
        """How many encoders this machine lacks, those that are ticked left out."""
        ticked = self["encoders"].value()
        return sum(bool(choice.missing) and choice.name not in ticked for choice in self.choices)

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        typed = values.get("other", "").strip()
        values["system"] = "+".join(filter(None, [*values.get("encoders", ()), typed]))
        try:
            names = encoders_of(values["system"]) if values["system"] else []
            launcher.refuse_bad_encoders(tuple(names))
        except (LaunchRefused, UnknownEncoder) as why:
            self.add_error("encoders", str(why))
        if values.get("rerank", "").strip():
            self._add_second_stage(values)
        if len(values["system"]) > SYSTEM_LENGTH:
            self.add_error("encoders", f"Their names are longer than {SYSTEM_LENGTH} letters: choose fewer.")
        return values

    def _add_second_stage(self, values: dict[str, Any]) -> None:
        """Let the system's name say its reranker, and refuse one that can't be used."""
        reranker = values["rerank"].strip()
        try:
            missing = why_reranker_missing(reranker)
        except UnknownReranker as why:
            missing = str(why)
        else:  # with a broker, a machine of its own may have it
            missing = "" if settings.CELERY_BROKER_URL else missing
        if missing:
            self.add_error("rerank", missing)
        values["system"] = join_second_stage(values["system"], values.get("depth") or RERANK_DEPTH, reranker)

    def order(self, user: User) -> Job | None:
        """The order of a valid form, or the same that is open; None, with an error, where too many wait."""
        columns = {name: self.cleaned_data[name] for name in ("system", "text_option", "pool")}
        order = ScoreOrder(what=What.SYSTEM, **columns)
        return attempt(self, lambda: order_scoring(self.benchmark, user, order), NotOrdered)


def order_scoring(benchmark: Benchmark, user: User, order: ScoreOrder) -> Job:
    """The new order, or the same that is open. Raises NotOrdered."""
    if same := find_open_job(order, benchmark.pk):
        return same
    if Job.objects.open().about(Job.Kind.SCORE, benchmark.pk).count() >= MOST_WAITING:
        raise NotOrdered(f"{MOST_WAITING} orders of this benchmark are waiting: let them finish first.")
    return submit_job(order, user, benchmark.pk)[0]


def figures_ordered(benchmark: Benchmark, user: User, params: QueryDict) -> Job:
    """Figures of the board that `params` show, in the words of its page. Raises NotOrdered."""
    what = params.get("what", "")
    if what not in (What.FIGURES, What.WITHOUT):
        raise NotOrdered("Choose what is to be computed.")
    pool = params.get("pool", "")
    written, _, fewest, most = matches_of(params.get("found", ""))
    errors = leaderboard_notes.chosen_errors(
        leaderboard_notes.error_choices(benchmark, user), params.get("errors", "")
    )
    options: dict[str, Any] = {
        "metric": params.get("metric", "")[:40],
        "found": written,
        "fewest": fewest,
        "most": most,
    }
    if what == What.FIGURES:
        options |= {"rates": asdict(errors.rates), "errors": errors.written}
    searched = Pool(pool if pool in Pool.values else benchmark.pool)
    return order_scoring(benchmark, user, ScoreOrder(what=What(what), pool=searched, options=options))


def cancel_score_job(benchmark: Benchmark, number: int) -> bool:
    """Cancel one of its orders; says whether it was open."""
    job = Job.objects.about(Job.Kind.SCORE, benchmark.pk).filter(pk=number).first()
    return job is not None and cancel_job(job)


def score_jobs_of_benchmark(benchmark: Benchmark) -> jobs.Table:
    """The newest orders for the benchmark's leaderboard."""
    rows = Job.objects.about(Job.Kind.SCORE, benchmark.pk)
    address, heading = reverse("benchmark-score-jobs", args=[benchmark.pk]), "Ordered for the leaderboard"
    return jobs.build_job_table(rows, jobs.build_score_job_row, heading, "Leaderboard", address)
