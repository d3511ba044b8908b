"""Trainings on the matches of a benchmark."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Path, Query, Router, Status

from annotation.accounts.roles import Role, benchmarks_visible_to
from annotation.api.benchmarks.benchmarks import visible_benchmark
from annotation.api.project.jobs import job_out
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.api.shared.form_refusals import form_values, refuse_invalid
from annotation.api.shared.names import find_benchmark
from annotation.api.shared.tables import answer_tables
from annotation.jobs.wake_up import wake_workers
from annotation.schemas.benchmarks.training import TrainedQuery, TrainIn
from annotation.schemas.project.jobs import JobOut
from annotation.web.training.form import TrainForm
from annotation.web.training.page import trained_tables
from retrieval.schemas import Id

router = Router(tags=["benchmarks"])


@router.post("/{int:pk}/trainings", response={201: list[JobOut]}, auth=signed_in(Role.ADMIN))
def train_system(request: HttpRequest, pk: Path[Id], wanted: TrainIn) -> Status[list[JobOut]]:
    """Have a worker train a system on its matches: a job for each seed. For admins.

    The job's `result` has loss and dev curves while it runs, then the encoder's name and the card.
    """
    benchmark, user = visible_benchmark(request, pk), visible.caller(request)
    named = {
        name: [find_benchmark(user, ref).pk for ref in getattr(wanted, name)]
        for name in ("without", "score_on")
    }
    values = wanted.dict() | named | {"seeds": ", ".join(map(str, wanted.seeds)), "other": wanted.system}
    del values["system"]
    form = TrainForm(benchmark, benchmarks_visible_to(user), form_values(values))
    refuse_invalid(form, other="system")
    jobs = form.order(user)
    refuse_invalid(form)
    assert jobs, "a form without errors has ordered its jobs"
    wake_workers("training")
    return Status(201, [job_out(job) for job in jobs])


@router.get("/{int:pk}/trained", response=dict[str, Any])
def get_trained_systems(
    request: HttpRequest, pk: Path[Id], wanted: Query[TrainedQuery]
) -> dict[str, Any] | HttpResponse:
    """Systems before and after training, by what they learned: all tables, or one as a file."""
    benchmark = visible_benchmark(request, pk)
    tables = trained_tables(benchmark, wanted.pool or "", wanted.metric)
    return answer_tables(tables, wanted, f"benchmark-{benchmark.pk}")
