"""The page on which the unjudged results of a run are sent to be judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django import forms
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import reverse

from annotation import holes, performing
from annotation.estimating.confirming import signed
from annotation.holes import Fill, Plan
from annotation.launching import LaunchRefused
from annotation.models import Build, PublishJob
from annotation.pages import jobs, publishing
from annotation.pages.answering import AnsweringForm, usual_model
from annotation.pages.estimates import Row, Warned, table, warnings
from annotation.tools import counter
from retrieval.evaluation.holes import DEEPEST, DEPTH, NoHoles
from retrieval.models import Benchmark, Run

MOST_RUNS: Final = 100
MOST_BUILDS: Final = 50
SMALL_SCORED: Final = 2_000
SMALL_READ: Final = 50_000
"""Queries times runs that are scored, and members and labels that are read, in less than two seconds."""


class HolesForm(AnsweringForm):
    """Whose holes, how deep, and who answers."""

    run = forms.ChoiceField(label="System")
    depth = forms.IntegerField(
        min_value=1, max_value=DEEPEST, initial=DEPTH, label="First results", help_text="Of each query."
    )
    name = forms.CharField(max_length=holes.LONGEST_NAME, label="Name of the build")
    like = forms.ChoiceField(
        required=False,
        label="Judged as in",
        help_text="Its annotator’s settings; labels of one annotator are easier to compare.",
    )
    why = forms.CharField(
        required=False, max_length=1000, label="Why", help_text="Kept in the build's history, with your name."
    )
    field_order = (
        *("run", "depth", "name", "like"),
        *("provider", "recorded", "model", "budget", "unpriced", "why"),
    )

    def __init__(self, data: QueryDict | None, benchmark: Benchmark, builds: Sequence[Build]) -> None:
        runs = list(benchmark.runs.order_by("-pk")[:MOST_RUNS])
        self.runs = {str(run.pk): run for run in runs}
        self.builds = {str(build.pk): build for build in builds}
        super().__init__(data, initial={"name": f"{benchmark} filled"[: holes.LONGEST_NAME]})
        self._choose("run", [(pk, f"{run.title} (run {pk})") for pk, run in self.runs.items()])
        self._choose("like", [("", "the usual agents"), *((pk, one.name) for pk, one in self.builds.items())])

    def _choose(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField), "as declared"
        field.choices = choices

    def fill(self) -> Fill:
        """The wish of a valid form."""
        values = self.cleaned_data
        return Fill(
            run=self.runs[values["run"]],
            name=values["name"].strip(),
            depth=values["depth"],
            like=self.builds.get(values["like"]),
            provider=values["provider"],
            model=values["model"].strip() or usual_model(values["provider"], values["recorded"]),
            recorded=values["recorded"],
            budget=values["budget"],
            unpriced=values["unpriced"],
            why=values["why"],
        )


@dataclass(frozen=True)
class Offer:
    """What it comes to: pairs, price by stage, and the word that confirms it."""

    plan: Plan
    rows: tuple[Row, ...]
    total: Row
    warnings: tuple[Warned, ...]
    word: str


@dataclass(frozen=True)
class HolesPage:
    """`filled`: builds and experts' queues over holes of this benchmark's runs, each with its run."""

    benchmark: Benchmark
    form: HolesForm
    offer: Offer | None
    filled: Sequence[tuple[Build, Run]]
    jobs: jobs.Table


def holes_page(benchmark: Benchmark, builds: QuerySet[Build], params: QueryDict) -> HolesPage:
    """The page, with an offer where the form is filled in; else the form says what is wrong."""
    known = list(builds.select_related("annotator", "mining").filter(queries=benchmark.queries)[:MOST_BUILDS])
    form = HolesForm(params if "name" in params else None, benchmark, known)
    rows = [(one, one.own_mining.holes.run) for one in filling(benchmark, builds)[:MOST_BUILDS]]
    return HolesPage(benchmark, form, offer(form), rows, jobs_of(benchmark, builds))


def filling(benchmark: Benchmark, builds: QuerySet[Build]) -> QuerySet[Build]:
    """Those of `builds` over holes of the benchmark's runs."""
    found = builds.filter(mining__holes__run__benchmark=benchmark)
    return found.select_related("annotator", "mining__holes__run__benchmark")


def jobs_of(benchmark: Benchmark, builds: QuerySet[Build]) -> jobs.Table:
    """The newest orders to publish what `builds` said of the benchmark's holes."""
    rows = PublishJob.objects.filter(fills=True, build__in=builds.order_by().values("pk"))
    rows = rows.filter(build__mining__holes__run__benchmark=benchmark)
    rows = rows.select_related("created_by", "build", "benchmark").defer("benchmark__matches")
    return jobs.Table(
        "Published with holes filled",
        "Before and after",
        reverse("benchmark-holes-jobs", args=[benchmark.pk]),
        [jobs.filled(job, benchmark) for job in rows[: jobs.SHOWN]],
    )


def published(build: Build, user: User) -> PublishJob:
    """The order to publish what `build` said of its holes, or the same that is open; done at once if small.

    Raises `NoHoles` and PublishRefused.
    """
    old = holes.filled_by(build).run.benchmark
    return publishing.ordered(build, user, small=is_small(old), name=old.name, pool=old.pool, fills=True)


def is_small(benchmark: Benchmark) -> bool:
    """Whether its next version is soon made and its runs are soon scored by that."""
    read = benchmark.queries_until + benchmark.snippets_until + benchmark.size
    return performing.scored_again(benchmark) <= SMALL_SCORED and read <= SMALL_READ


def offer(form: HolesForm) -> Offer | None:
    if not form.is_bound or not form.is_valid():
        return None
    try:
        plan = holes.plan(form.fill())
        holes.refuse_bad(plan)
    except (LaunchRefused, NoHoles) as why:
        form.add_error(None, str(why))
        return None
    price = holes.price(plan, counter(plan.order.provider, plan.order.model))
    rows, total = table(price)
    live = plan.order.provider == Build.Provider.LIVE
    return Offer(
        plan,
        rows,
        total,
        warnings(plan.order, price) if live else (),
        signed(plan.order, price, holes.about(plan)),
    )
