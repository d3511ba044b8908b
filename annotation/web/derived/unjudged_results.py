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

from annotation.builds.launch.launcher import LONGEST_NAME
from annotation.derived import publish_job, unjudged_results
from annotation.derived.publish_job import PublishOrder
from annotation.derived.unjudged_results import Fill, HoleFillingPlan
from annotation.models import Build
from annotation.web.benchmarks import publication
from annotation.web.derived.offer import (
    DecisionForm,
    DerivedForm,
    DerivedPage,
    Fact,
    Shown,
    budget_fact,
    build_offer,
)
from annotation.web.shared import jobs
from annotation.web.shared.forms import set_choices
from retrieval.evaluation.holes import DEEPEST, DEPTH
from retrieval.models import Benchmark, Job, Pool, Run
from retrieval.texts.plurals import count_noun

MOST_RUNS: Final = 100
MOST_BUILDS: Final = 50
SMALL_SCORED: Final = 2_000
SMALL_READ: Final = 50_000
"""Queries times runs that are scored, and members and labels that are read, in less than two seconds."""


class HolesForm(DerivedForm):
    """Whose holes, how deep, and who answers."""

    run = forms.ChoiceField(label="System")
    depth = forms.IntegerField(
        min_value=1, max_value=DEEPEST, initial=DEPTH, label="First results", help_text="Of each query."
    )
    like = forms.ChoiceField(
        required=False,
        label="Judged as in",
        help_text="Its annotator’s settings; labels of one annotator are easier to compare.",
    )
    field_order = ("run", "depth", "name", "like", "provider", "recorded", "model", "budget", "unpriced")

    def __init__(self, data: QueryDict | None, benchmark: Benchmark, builds: Sequence[Build]) -> None:
        runs = list(benchmark.runs.order_by("-pk")[:MOST_RUNS])
        self.runs = {str(run.pk): run for run in runs}
        self.builds = {str(build.pk): build for build in builds}
        super().__init__(data, initial={"name": f"{benchmark} filled"[:LONGEST_NAME]})
        set_choices(self, "run", [(pk, f"{run.title} (run {pk})") for pk, run in self.runs.items()])
        set_choices(
            self, "like", [("", "the usual agents"), *((pk, build.name) for pk, build in self.builds.items())]
        )

    def fill(self) -> Fill:
        """The wish of a valid form."""
        values = self.cleaned_data
        run, like = self.runs[values["run"]], self.builds.get(values["like"])
        return Fill(run=run, depth=values["depth"], like=like, **self.answering())


@dataclass(frozen=True)
class HolesPage(DerivedPage[HoleFillingPlan]):
    """`filled`: builds and experts' queues over holes of this benchmark's runs, each with its run."""

    form: HolesForm
    benchmark: Benchmark
    filled: Sequence[tuple[Build, Run]]
    jobs: jobs.Table


def holes_page(
    benchmark: Benchmark, builds: QuerySet[Build], params: QueryDict, decided: QueryDict | None = None
) -> HolesPage:
    """The page, with an offer where the form is filled in; else the form says what is wrong."""
    known = list(builds.select_related("annotator", "mining").filter(queries=benchmark.queries)[:MOST_BUILDS])
    form = HolesForm(params if "name" in params else None, benchmark, known)
    rows = [
        (hole, hole.own_mining.holes.run) for hole in find_builds_over_holes(benchmark, builds)[:MOST_BUILDS]
    ]
    return HolesPage(
        address=reverse("benchmark-holes", args=[benchmark.pk]),
        form=form,
        decision=DecisionForm(decided, needs_reason=False),
        offer=build_offer(form, lambda: unjudged_results.plan_hole_filling(form.fill()), show_hole_plan),
        benchmark=benchmark,
        filled=rows,
        jobs=publish_jobs_of_holes(benchmark, builds),
    )


def show_hole_plan(plan: HoleFillingPlan) -> Shown:
    return Shown(
        size=Fact("Pairs", count_noun(plan.pairs, "unjudged pair"), id="unjudged-pairs"),
        cap=budget_fact(plan),
        button=f"Judge {count_noun(plan.pairs, 'pair')}",
    )


def find_builds_over_holes(benchmark: Benchmark, builds: QuerySet[Build]) -> QuerySet[Build]:
    """Those of `builds` over holes of the benchmark's runs."""
    found = builds.filter(mining__holes__run__benchmark=benchmark)
    return found.select_related("annotator", "mining__holes__run__benchmark")


def publish_jobs_of_holes(benchmark: Benchmark, builds: QuerySet[Build]) -> jobs.Table:
    """The newest orders to publish what `builds` said of the benchmark's holes."""
    filled = find_builds_over_holes(benchmark, builds).order_by()
    orders = Job.objects.filter(kind=Job.Kind.PUBLISH, order__fills=True, subject__in=filled.values("pk"))
    names = dict(filled.filter(pk__in=orders.values("subject")).values_list("pk", "name"))
    return jobs.build_job_table(
        orders,
        lambda job: jobs.build_refill_job_row(job, names[job.subject], benchmark),
        "Published with holes filled",
        "Before and after",
        reverse("benchmark-holes-jobs", args=[benchmark.pk]),
    )


def order_hole_publication(build: Build, user: User) -> Job:
    """The order to publish what `build` said of its holes, or the same that is open; done at once if small.

    Raises `NoHoles` and PublishRefused.
    """
    old = unjudged_results.filled_by(build).run.benchmark
    order = PublishOrder(name=old.name, pool=Pool(old.pool), fills=True)
    return publication.order_publication(build, user, order, small=is_small(old))


def is_small(benchmark: Benchmark) -> bool:
    """Whether its next version is soon made and its runs are soon scored by that."""
    read = benchmark.queries_until + benchmark.snippets_until + benchmark.size
    return publish_job.scored_again(benchmark) <= SMALL_SCORED and read <= SMALL_READ
