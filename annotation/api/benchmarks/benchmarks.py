"""Benchmarks: list, show, search, score, compare and export them."""

from __future__ import annotations

from typing import Annotated, Any, cast

from django.conf import settings
from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from ninja import File, Form, Path, Query, Router, Status, UploadedFile

from annotation.accounts.roles import Role, benchmarks_visible_to
from annotation.api.project.jobs import job_out
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.api.shared.form_refusals import form_values, refuse_invalid
from annotation.api.shared.names import find_collection
from annotation.api.shared.tables import answer_tables
from annotation.jobs.wake_up import wake_workers
from annotation.pins.comparisons import as_value
from annotation.schemas.benchmarks.benchmarks import (
    BenchmarkOut,
    BenchmarkPage,
    BoardQuery,
    ContaminationIn,
    DifferenceOut,
    DistractorsIn,
    ExportIn,
    FiguresIn,
    LeaderboardOut,
    MovedOut,
    PoolName,
    RunIn,
    RunOut,
    RunPage,
    ScoreIn,
    SecondStageOut,
    SimilarityIn,
    SystemFigureOut,
    SystemOut,
    TableQuery,
    VersionsOut,
)
from annotation.schemas.project.jobs import JobOut
from annotation.studies.exposure import mark_benchmark_seen, mark_seen
from annotation.studies.plan.seals import refuse_unscored_labels
from annotation.web.benchmarks.contamination import ContaminationForm
from annotation.web.benchmarks.distractors import DistractorForm
from annotation.web.benchmarks.exports import ExportForm
from annotation.web.benchmarks.page import leaderboard_tables, matches_of
from annotation.web.benchmarks.run_upload import RunForm
from annotation.web.benchmarks.score_jobs import ScoreForm, figures_ordered
from annotation.web.benchmarks.similarity import SimilarityForm
from annotation.web.corpus.page import of_benchmark
from annotation.web.shared.downloads import attach_table
from retrieval.evaluation.leaderboard import Leaderboard, PairedDifference, SystemStanding, build_leaderboard
from retrieval.evaluation.query_scores import Figure
from retrieval.evaluation.robustness.version_comparison import BenchmarkComparison, compare_benchmarks
from retrieval.evaluation.systems.second_stage import second_stage_of
from retrieval.exporting.jobs.order import ExportOrder, export_file_name, file_of
from retrieval.metrics.resampling import Interval
from retrieval.mining import known_encoders
from retrieval.models import Benchmark, Collection, Job, Run
from retrieval.schemas import LARGEST_ID, Id, Page

router = Router(tags=["benchmarks"])


@router.get("", response=Page[BenchmarkOut])
def list_benchmarks(request: HttpRequest, wanted: Query[BenchmarkPage]) -> Page[Benchmark]:
    """All versions of all benchmarks, the newest first."""
    rows = visible_benchmarks(request).filter(pk__lt=wanted.after or LARGEST_ID).order_by("-pk")
    if wanted.name is not None:
        rows = rows.filter(name=wanted.name)
    return wanted.page(rows)


@router.get("/{int:pk}", response=BenchmarkOut)
def get_benchmark(request: HttpRequest, pk: Path[Id]) -> Benchmark:
    """One version of a benchmark."""
    return visible_benchmark(request, pk)


@router.get("/{int:pk}/leaderboard", response=LeaderboardOut)
def get_leaderboard(
    request: HttpRequest, pk: Path[Id], wanted: Query[BoardQuery]
) -> LeaderboardOut | HttpResponse:
    """Systems by their means, with intervals and paired differences; with `format` one table as a file."""
    benchmark = visible_benchmark(request, pk)
    if wanted.format is not None:
        tables = leaderboard_tables(benchmark, board_values(wanted), request.user)
        asked = {"table": wanted.table, "format": wanted.format}
        return attach_table(tables, asked, f"benchmark-{benchmark.pk}")
    _, _, fewest, most = matches_of(wanted.matches)
    pool = wanted.pool or benchmark.pool
    return board_out(build_leaderboard(benchmark, pool, wanted.metric, fewest, most, wait=False), pool)


@router.get("/{int:pk}/runs", response=Page[RunOut])
def list_runs(request: HttpRequest, pk: Path[Id], wanted: Query[RunPage]) -> Page[Run]:
    """The ranked lists that were scored on it, the newest first."""
    rows = Run.objects.filter(benchmark=visible_benchmark(request, pk), pk__lt=wanted.after or LARGEST_ID)
    if wanted.pool:
        rows = rows.filter(pool=wanted.pool)
    return wanted.page(rows.order_by("-pk"))


@router.post("/{int:pk}/runs", response={201: JobOut}, auth=signed_in(Role.ADMIN))
def upload_run(
    request: HttpRequest, pk: Path[Id], given: Form[RunIn], file: File[UploadedFile]
) -> Status[JobOut]:
    """Upload ranked lists, which are scored: few at once, many by a worker. For admins."""
    benchmark = visible_benchmark(request, pk)
    values = form_values({**given.dict(), "pool": given.pool or benchmark.pool})
    form = RunForm(benchmark, values, request.FILES)
    refuse_invalid(form)
    job = form.job(benchmark, visible.caller(request))
    refuse_invalid(form)
    return ordered(job)


@router.post("/{int:pk}/scores", response={201: JobOut}, auth=signed_in(Role.ADMIN))
def score_encoders(request: HttpRequest, pk: Path[Id], wanted: ScoreIn) -> Status[JobOut]:
    """Have encoders search the benchmark, and their lists scored. For admins."""
    benchmark = visible_benchmark(request, pk)
    known = {choice.name for choice in known_encoders.to_choose()}
    values = {
        "encoders": [name for name in wanted.encoders if name in known],
        "other": "+".join(name for name in wanted.encoders if name not in known),
        "rerank": wanted.rerank,
        "depth": wanted.depth,
        "text_option": wanted.text_option,
        "pool": wanted.pool or benchmark.pool,
    }
    form = ScoreForm(benchmark, form_values(values))
    refuse_invalid(form, other="encoders")
    job = form.order(visible.caller(request))
    refuse_invalid(form)
    wake_workers("mining")
    return ordered(job)


@router.post("/{int:pk}/contamination", response={201: JobOut}, auth=signed_in(Role.ADMIN))
def compare_training_data(request: HttpRequest, pk: Path[Id], wanted: ContaminationIn) -> Status[JobOut]:
    """Have a worker look which of the benchmark's texts are in training data. For admins.

    The job's `result` has the counts, and rows with the texts' ids.
    """
    benchmark = visible_benchmark(request, pk)
    learned = find_collection(wanted.collection, Collection.Kind.named(wanted.kind))
    form = ContaminationForm(form_values({"collection": learned.pk}))
    refuse_invalid(form)
    job = form.order(benchmark, visible.caller(request))
    refuse_invalid(form)
    wake_workers("mining")
    return ordered(job)


@router.post("/{int:pk}/distractors", response={201: JobOut}, auth=signed_in(Role.ADMIN))
def plant_distractors(request: HttpRequest, pk: Path[Id], wanted: DistractorsIn) -> Status[JobOut]:
    """Have bugs planted into the benchmark's matches, and what tests prove published. For admins.

    The job's `result` names the benchmark with distractors, and says what was left out.
    """
    benchmark = visible_benchmark(request, pk)
    form = DistractorForm(form_values(wanted.dict()))
    refuse_invalid(form)
    job = form.order(benchmark, visible.caller(request))
    refuse_invalid(form)
    wake_workers("mining")
    return ordered(job)


@router.post("/{int:pk}/similarity", response={201: JobOut}, auth=signed_in(Role.ADMIN))
def judge_similarity(request: HttpRequest, pk: Path[Id], wanted: SimilarityIn) -> Status[JobOut]:
    """Have the benchmark's pairs judged by code similarity, and published under these labels. For admins.

    The job's `result` names the benchmark and the annotator, and says what was not judged.
    """
    benchmark, values = visible_benchmark(request, pk), wanted.dict()
    if wanted.answers is not None:
        values["answers"] = find_collection(wanted.answers, Collection.Kind.SNIPPETS).pk
    form = SimilarityForm(form_values(values))
    refuse_invalid(form)
    job = form.order(benchmark, visible.caller(request))
    refuse_invalid(form)
    wake_workers("mining")
    return ordered(job)


@router.post("/{int:pk}/figures", response={201: JobOut}, auth=signed_in(Role.ADMIN))
def order_figures(request: HttpRequest, pk: Path[Id], wanted: FiguresIn) -> Status[JobOut]:
    """Order the figures of a leaderboard that take long. For admins."""
    values = form_values({**wanted.dict(exclude={"matches"}), "found": wanted.matches})
    job = figures_ordered(visible_benchmark(request, pk), visible.caller(request), values)
    wake_workers("mining")
    return ordered(job)


@router.get("/{int:pk}/comparison/{int:against}", response=VersionsOut)
def compare_versions(
    request: HttpRequest, pk: Path[Id], against: Path[Id], metric: Annotated[str, Query(max_length=40)] = ""
) -> VersionsOut:
    """Labels that changed from the version `against` to this one, and scores on the common queries."""
    second, first = visible_benchmark(request, pk), visible_benchmark(request, against)
    refuse_unscored_labels(first, second)
    found = compare_benchmarks(first, second, metric, wait=False)
    mark_seen(request.user, [pair.pk for change in found.changes for pair in change.examples])
    return versions_out(found)


@router.get("/{int:pk}/corpus", response=dict[str, Any])
def get_benchmark_corpus(
    request: HttpRequest, pk: Path[Id], wanted: Query[TableQuery]
) -> dict[str, Any] | HttpResponse:
    """Statistics of its queries and functions: all tables, or one as a file."""
    sections = of_benchmark(visible_benchmark(request, pk))
    return answer_tables((section.table for section in sections), wanted, "benchmark")


@router.post("/{int:pk}/exports", response={201: JobOut}, auth=signed_in(Role.ADMIN))
def export_benchmark(request: HttpRequest, pk: Path[Id], wanted: ExportIn) -> Status[JobOut]:
    """Have a worker write an export. For admins.

    Its file is at `…/exports/{job}/file` once the job is done.
    """
    benchmark = visible_benchmark(request, pk)
    form = ExportForm(form_values(wanted.dict()), benchmark=benchmark)
    refuse_invalid(form)
    job = form.job(benchmark, visible.caller(request))
    refuse_invalid(form)
    return ordered(job)


@router.get("/{int:pk}/exports/{int:job}/file", auth=signed_in(Role.ADMIN), response={200: bytes})
def get_export_file(request: HttpRequest, pk: Path[Id], job: Path[Id]) -> HttpResponseBase:
    """The zip of an export that is done. Whoever has it may rate none of its pairs blind. For admins."""
    benchmark = visible_benchmark(request, pk)
    done = Job.objects.about(Job.Kind.EXPORT, benchmark.pk).filter(state=Job.State.DONE)
    found = get_object_or_404(done, pk=job)
    path = file_of(settings.COSQA_HOME, found)
    if not path.is_file():
        raise Http404
    mark_benchmark_seen(request.user, benchmark)
    name = export_file_name(benchmark, ExportOrder.of(found))
    return FileResponse(path.open("rb"), as_attachment=True, filename=name)


def visible_benchmarks(request: HttpRequest) -> QuerySet[Benchmark]:
    return benchmarks_visible_to(request.user).select_related("queries", "snippets", "mining")


def visible_benchmark(request: HttpRequest, pk: int) -> Benchmark:
    """Raises Http404."""
    return get_object_or_404(visible_benchmarks(request), pk=pk)


def ordered(job: Job | None) -> Status[JobOut]:
    assert job is not None, "a form without errors has ordered its job"
    return Status(201, job_out(job))


def board_values(wanted: BoardQuery) -> QueryDict:
    """The leaderboard as the page's address names it."""
    return form_values({**wanted.dict(exclude={"matches", "table", "format"}), "found": wanted.matches})


def board_out(board: Leaderboard, pool: str) -> LeaderboardOut:
    return LeaderboardOut(
        benchmark=str(board.benchmark),
        pool=cast(PoolName, pool),
        metric=board.metric,
        metrics=list(board.metrics),
        queries=board.queries,
        systems=[system_out(standing) for standing in board.standings],
        differences=[difference_out(one) for one in board.differences],
        unmeasured=board.unmeasured,
    )


def system_out(standing: SystemStanding) -> SystemOut:
    run = standing.run
    return SystemOut(
        run=run.pk,
        system=run.system,
        text_option=run.text_option,
        second_stage=second_stage_out(run),
        figures={metric: figure_out(figure) for metric, figure in standing.figures.items()},
        helped_to_mine=standing.helped_to_mine,
        less_judged=standing.less_judged,
    )


def second_stage_out(run: Run) -> SecondStageOut | None:
    note = second_stage_of(run)
    told = {name: note[name] for name in SecondStageOut.model_fields if name in note}
    return SecondStageOut(**told) if note else None


def figure_out(figure: Figure) -> SystemFigureOut:
    low, high = ends_of(figure.interval)
    return SystemFigureOut(
        value=figure.value, low=low, high=high, judged=figure.judged, condensed=figure.condensed
    )


def ends_of(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)


def difference_out(found: PairedDifference) -> DifferenceOut:
    low, high = ends_of(found.interval)
    return DifferenceOut(
        better=found.better.pk, other=found.other.pk, value=found.value, low=low, high=high, p=found.p
    )


def versions_out(found: BenchmarkComparison) -> VersionsOut:
    told = as_value(found)
    systems = [
        MovedOut(
            system=moved.system,
            first=moved.first,
            second=moved.second,
            difference=moved.difference,
            low=ends_of(moved.interval)[0],
            high=ends_of(moved.interval)[1],
            same_lists=moved.same_lists,
        )
        for moved in found.systems
    ]
    return VersionsOut(
        first=str(found.first),
        second=str(found.second),
        labels=told["labels"],
        queries=told["queries"],
        metric=found.metric,
        systems=systems,
        kendall_tau=found.tau,
    )
