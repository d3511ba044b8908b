"""`python -m tests.e2e.ordered BUILD OTHER`: orders of every state on four pages; prints ids to be opened.

No worker takes them up: the lease of one that runs is long, and none waits.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import django

if TYPE_CHECKING:
    from annotation.models import Build
    from retrieval.models import Benchmark

NAME = "published"


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cosqa_site.settings")
    django.setup()
    from annotation.builds.results import publication
    from annotation.derived import unjudged_results
    from annotation.models import Build

    build, other = (Build.objects.select_related("mining").get(pk=int(pk)) for pk in sys.argv[1:3])
    made = publication.publish_benchmark(publication.Wish(NAME, build.mining, build))
    run = evaluated(made)
    filling = unjudged_results.queue_holes_for_experts(
        unjudged_results.Fill(run, f"{NAME}, for experts", depth=1)
    )
    publishing(build, {"state": "running", **far()})
    publishing(other, {"state": "failed", "message": "None of its pairs has a label that counts."})
    done = {"state": "done", "result": {"benchmark": made.pk, "title": f"{made.name}, version 1"}}
    publishing(other, done)
    publishing(filling, done, fills=True)
    publishing(filling, {"state": "running", **far()}, fills=True)
    uploads(made)
    filters(made)
    scores(made)
    print(json.dumps({"published": made.pk, "training": training(made), "table": table(), **audited()}))


def audited() -> dict[str, int]:
    """A build of given pairs, of whose labels it upholds some and could not judge one."""
    import tempfile
    from pathlib import Path

    from django.db import transaction

    from tests import given

    # Other processes see it once it is done, so that no worker takes its cases up.
    with tempfile.TemporaryDirectory() as folder, transaction.atomic():
        pairs = given.pair_list(Path(folder), name="a benchmark with a long name")
        build = given.judged(pairs, 1, 1, None, 0, 1, name="audited")
    return {"audited": build.pk, "given_list": pairs.pk}


def far() -> dict[str, Any]:
    """Columns of a job that is half done, and stays so."""
    from django.utils import timezone

    return {"done": 6_200, "total": 20_604, "lease_until": timezone.now() + timedelta(days=1)}


def evaluated(benchmark: Benchmark) -> Any:
    from django.core.management import call_command

    call_command("evaluate", benchmark.name, "--encoder", "bow", stdout=sys.stderr, verbosity=0)
    return benchmark.runs.get()


def publishing(build: Build, columns: dict[str, Any], *, fills: bool = False) -> None:
    from annotation.derived.publish_job import PublishOrder
    from retrieval.models import Pool
    from tests import factories

    factories.job(PublishOrder(name=NAME, pool=Pool.COLLECTION, fills=fills), build.pk, **columns)


def uploads(benchmark: Benchmark) -> None:
    from retrieval.evaluation.runs.jobs import RunOrder
    from retrieval.models import Pool
    from tests import factories

    refused = "a-long-name-of-a-file-with-a-run.trec, line 412: expected 6 columns"
    result = {"run": benchmark.runs.get().pk, "notes": ["mine is scored on 24 queries."]}
    states: list[dict[str, Any]] = [
        {"state": "done", "result": result},
        {"state": "failed", "message": refused},
        {"state": "running", **far()},
    ]
    for number, columns in enumerate(states):
        order = RunOrder(
            system="a system with a long name of several words",
            source="a-long-name-of-a-file-with-a-run.trec",
            pool=Pool(benchmark.pool),
            sha256=f"{number:064x}",
        )
        factories.job(order, benchmark.pk, **columns)


def scores(benchmark: Benchmark) -> None:
    """Orders for the leaderboard: done, failed, cancelled and half done."""
    from retrieval.evaluation.runs.score_jobs import ScoreOrder
    from tests import factories

    missing = (
        "qwen3-embedding: its weights are not on this machine; download them with 'cosqa admin encoders get'"
    )
    of_system = {"what": "system", "system": "bm25+qwen3-embedding", "text_option": "without docstring"}
    options = {"metric": "ndcg@10", "found": "", "errors": "0.061"}
    result = {"run": benchmark.runs.get().pk, "notes": ["bow is scored on 24 queries."]}
    states: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (of_system, {"state": "done", "result": result}),
        (of_system, {"state": "failed", "message": missing}),
        ({"what": "figures", "options": options}, {"state": "cancelled"}),
        ({"what": "without", "options": options}, {"state": "done"}),
        (of_system, {"state": "running", "message": "encode with qwen3-embedding", **far()}),
    ]
    for wanted, columns in states:
        order = ScoreOrder.model_validate({**wanted, "pool": benchmark.pool})
        factories.job(order, benchmark.pk, **columns)


def training(benchmark: Benchmark) -> int:
    """A training that is half done, with curves."""
    from retrieval.training.training_job import TrainOrder
    from tests import factories

    loss = [[step, 3.0 / step] for step in range(1, 40)]
    dev = [{"epoch": epoch, "ndcg@10": 0.1 * epoch, "mrr": 0.08 * epoch} for epoch in range(1, 6)]
    order = TrainOrder(system="nbow", settings={"seed": 1, "shuffles_labels": True}, minutes=30)
    columns = {"message": "training", "result": {"curves": {"loss": loss, "dev": dev}}}
    stopped = TrainOrder(system="cnn")
    factories.job(stopped, benchmark.pk, state="cancelled")
    return int(factories.job(order, benchmark.pk, state="running", **columns, **far()).pk)


def filters(benchmark: Benchmark) -> None:
    """Collections of what passes filters: done, failed and half done."""
    from retrieval.collections.filter_job import FilterOrder
    from tests import factories

    snippets, chosen = benchmark.snippets, ("testable", "python", "codesearchnet", "distinct")
    result = {"collection": snippets.pk, "title": f"{snippets.name}, version {snippets.version}"}
    states: list[dict[str, Any]] = [
        {"state": "done", "result": result},
        {"state": "failed", "message": f"Nothing of {snippets} passes {', '.join(chosen)}."},
        {"state": "running", "message": "read: 1,204 members a second", **far()},
    ]
    for number, columns in enumerate(states):
        order = FilterOrder(name=f"a-collection-with-a-long-name-{number}", filters=chosen)
        factories.job(order, snippets.pk, **columns)


def table() -> int:
    """A table whose columns nobody chose yet, and an import that failed."""
    from django.core.files.base import ContentFile

    from tests import factories

    rows = b"question,answer,judged\nsort a list,def f(x):,1\na-long-word-without-blanks-in-a-cell,x,0\n"
    why = {
        "result": {"read": 1, "stored": 0, "unreadable": 1, "problems": ["a.zip: is not a readable zip"]},
        "message": "Nothing could be read: see the problems.",
    }
    factories.import_job(name="failed", format="beir", state="failed", file="", **why)
    file = ContentFile(rows, name="pairs.csv")
    return int(factories.import_job(name="a table", format="table", state="columns", file=file).pk)


if __name__ == "__main__":
    main()
