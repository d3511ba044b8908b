"""`manage.py export-runs FORMAT BENCHMARK FILE`: ranked lists of systems as files that others read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser

from retrieval.evaluation.content import NoSuchBenchmark, find_named_benchmark
from retrieval.evaluation.leaderboard import find_newest_runs
from retrieval.exporting.run_files import (
    NotWritable,
    write_predictions,
    write_score_sheet,
    write_trec_run,
)
from retrieval.management.light import LightCommand
from retrieval.models import Pool, Run
from retrieval.sources import Problem, Snippet
from retrieval.sources.formats.ncs import read_questions
from retrieval.texts.plurals import count_noun

SINGLE: Final[Mapping[str, Callable[[Run], Iterator[str]]]] = {
    "trec": write_trec_run,
    "predictions": write_predictions,
}
SHEET: Final = "score-sheet"


class Command(LightCommand):
    help = (
        "Write the newest run of a system: trec (query Q0 function rank score tag, named as export qrels "
        "does), or predictions (CodeSearchNet's language, query, identifier, url). score-sheet writes the "
        "rank of the first match of every system, or of those named, as Neural Code Search does."
    )
    refusals = (NoSuchBenchmark, NotWritable)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("format", choices=[*SINGLE, SHEET], help="what others read")
        parser.add_argument("benchmark", help="its name, or name@version")
        parser.add_argument("file", type=Path, metavar="FILE", help="is replaced where it is there")
        parser.add_argument("--system", action="append", default=[], help="its name on the leaderboard")
        parser.add_argument(
            "--answers",
            type=Path,
            metavar="FILE",
            help="of score-sheet: 287_android_questions.json; a result counts if its code is similar to the "
            "answer (Aroma's features, at least 0.25), not by the benchmark's labels",
        )
        parser.add_argument("--pool", choices=Pool.values, help="what was searched (default: either)")

    def handle(self, *args: Any, **options: Any) -> None:
        runs = find_chosen_runs(options)
        if options["answers"] and options["format"] != SHEET:
            raise CommandError("--answers belongs to score-sheet.")
        if options["format"] == SHEET:
            lines = write_score_sheet(runs, read_answers(options["answers"]) if options["answers"] else None)
        elif len(runs) == 1:
            lines = SINGLE[options["format"]](runs[0])
        else:
            raise CommandError(f"{options['format']} takes a single run: {name_systems(runs)}")
        written = write_whole_file(options["file"], lines)
        self.stdout.write(f"{count_noun(written, 'line')} in {options['file']}")


def read_answers(path: Path) -> dict[str, str]:
    """The code of each question's answer, by the question's id. Raises CommandError."""
    if not path.exists():
        raise CommandError(f"There is no {path}.")
    items = list(read_questions(path, answers=True))
    if problem := next((item for item in items if isinstance(item, Problem)), None):
        raise CommandError(str(problem))
    return {item.source_id: item.text for item in items if isinstance(item, Snippet)}


def find_chosen_runs(options: Mapping[str, Any]) -> list[Run]:
    """The newest runs, of the systems that are named. Raises CommandError."""
    benchmark = find_named_benchmark(options["benchmark"])
    pools = [options["pool"]] if options["pool"] else Pool.values
    runs = [run for pool in pools for run in find_newest_runs(benchmark, pool)]
    wanted = options["system"]
    found = [run for run in runs if not wanted or run.title in wanted or run.system in wanted]
    if missing := [name for name in wanted if not any(name in (run.title, run.system) for run in runs)]:
        raise CommandError(f"There is no run of {missing[0]!r} on {benchmark}; {name_systems(runs)}")
    if not found:
        raise CommandError(f"{benchmark} has no run: evaluate a system first.")
    return found


def name_systems(runs: list[Run]) -> str:
    """Which systems can be named."""
    named = ", ".join(f"{run.title!r} ({run.pool})" for run in runs) or "none"
    return f"choose with --system and --pool out of {named}."


def write_whole_file(path: Path, lines: Iterator[str]) -> int:
    """Write lines to a file, in the place of an earlier one once all are written. Returns their number."""
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("w", encoding="utf-8") as file:
            count = sum(1 for line in lines if file.write(line))
        part.replace(path)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}.") from error
    finally:
        part.unlink(missing_ok=True)
    return count
