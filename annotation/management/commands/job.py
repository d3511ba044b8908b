"""`manage.py job ID`: carry out one order in this process; the workers start it as a child."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser
from django.utils.module_loading import import_string

from retrieval.jobs import close_job
from retrieval.management import leash
from retrieval.management.light import LightCommand
from retrieval.management.memory_limit import OutOfMemory, bound_import_memory
from retrieval.models import Job

PERFORMERS: Final[Mapping[str, str]] = {
    Job.Kind.IMPORT: "retrieval.uploads.import_job.perform_import_job",
    Job.Kind.FILTER: "retrieval.collections.filter_job.perform_filter_job",
    Job.Kind.EXPORT: "retrieval.exporting.jobs.export_job.perform_export_job",
    Job.Kind.RUN: "retrieval.evaluation.runs.jobs.perform_run_job",
    Job.Kind.SCORE: "retrieval.evaluation.runs.score_jobs.perform_score_job",
    Job.Kind.REPRODUCE: "annotation.management.reproduce_job.perform_reproduce_job",
    Job.Kind.PUBLISH: "annotation.derived.publish_job.perform_publish_job",
    Job.Kind.BUGS: "annotation.management.distractor_job.perform_distractor_job",
    Job.Kind.SIMILAR: "annotation.derived.similarity.job.perform_similarity_job",
    Job.Kind.LEAKS: "retrieval.training.contamination_job.perform_contamination_job",
    Job.Kind.TRAIN: "retrieval.training.training_job.perform_train_job",
}
"""By name, so that a child loads what its own kind needs."""
FILES_OF_OTHERS: Final = (Job.Kind.IMPORT, Job.Kind.RUN)
"""What is read within COSQA_IMPORT_MB of memory."""
AFTERWARDS: Final[Mapping[str, str]] = {
    Job.Kind.RUN: "retrieval.evaluation.runs.jobs.precompute_boards",
    Job.Kind.SCORE: "retrieval.evaluation.runs.jobs.precompute_boards",
    Job.Kind.PUBLISH: "annotation.derived.publish_job.keep_figures",
}
"""What is done once the job has ended, so that nobody waits for it."""


class Command(LightCommand):
    help = "Carry out one order that somebody gave on a page."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("job", type=int, help="its id")
        leash.add_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        leash.end_with_parent(options)
        job = Job.objects.select_related("created_by").filter(pk=options["job"]).first()
        if job is None:
            raise CommandError(f"There is no job {options['job']}.")
        try:
            with bound_import_memory() if job.kind in FILES_OF_OTHERS else nullcontext():
                import_string(PERFORMERS[job.kind])(job)
        except OutOfMemory as why:
            close_job(job, Job.State.FAILED, str(why))
        if job.kind in AFTERWARDS:
            import_string(AFTERWARDS[job.kind])(job)
