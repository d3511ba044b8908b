"""`manage.py exchange export|import`: annotate a build by any model, through files and without a key."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser

from annotation.builds.pipeline import file_exchange
from annotation.management.lookups import find_build
from annotation.models import Build
from retrieval.management.bars import open_bar
from retrieval.management.failures import PartlyDone, add_json_option
from retrieval.management.light import REFUSED_STATUS, LightCommand
from retrieval.texts.plurals import count_noun

MOST_PARTS: Final = 500
"""All files are open at once."""
MAX_PROBLEMS_SHOWN: Final = 20
"""For each file: else a mistake in every line would hide the summary."""


class Command(LightCommand):
    reads_foreign_files = True
    help = (
        "Exchange requests and replies by file. 'export' writes every request that waits, one JSON object a "
        "line (id, agent, model, prompt, messages), after the prompts that they name (prompt, agent, system, "
        "schema), with --parts into several files; 'import' takes lines (id, reply) of one file or several, "
        "or the screener's table. Run 'cosqa admin work --until-idle' in between, until nothing waits. "
        "Exit status: 3 where a line was refused; the others are taken."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, parser_class=type(parser))
        export = actions.add_parser("export", help="write the requests that wait")
        export.add_argument("build", help="name or id of the build")
        export.add_argument("--out", default="-", help="file to write; - is standard output (default)")
        export.add_argument(
            "--parts",
            type=int,
            metavar="N",
            help="write N files (FILE-1 to FILE-N), none with two requests about one query, so that who "
            "answers a file never sees two functions side by side",
        )
        add_json_option(export)
        take = actions.add_parser("import", help="take replies")
        add_json_option(take)
        take.add_argument("build", help="name or id of the build")
        take.add_argument("--model", default="", help="the model that answered, where a line names none")
        take.add_argument("files", type=Path, nargs="+", metavar="FILE", help="files of reply lines")

    def handle(self, *args: Any, **options: Any) -> None:
        build = find_build(options["build"])
        if options["action"] == "import":
            self.take(build, options["files"], options["model"])
        elif options["parts"] is None:
            self.export(build, options["out"])
        else:
            self.export_parts(build, options["out"], options["parts"])

    def export(self, build: Build, out: str) -> None:
        if out == "-" and self.is_for_programs:
            raise CommandError("--json needs --out: the requests themselves would go to standard output.")
        if out == "-":
            written = file_exchange.export_waiting_requests(build, sys.stdout.buffer)
        else:
            with Path(out).open("wb") as stream:
                written = file_exchange.export_waiting_requests(build, stream)
        self.tell(build, written)
        self.print_json({"build": build.name, "requests": written, "files": {out: written}})

    def export_parts(self, build: Build, out: str, count: int) -> None:
        if out == "-" or not 1 <= count <= MOST_PARTS:
            raise CommandError(f"--parts takes a number of files, 1 to {MOST_PARTS}, and --out their name.")
        try:
            parts = file_exchange.split_waiting_calls(build, count)
        except file_exchange.TooFewParts as why:
            raise CommandError(f"{why} Nothing was written.") from why
        paths = [Path(out).with_stem(f"{Path(out).stem}-{number}") for number in range(1, count + 1)]
        with ExitStack() as stack:
            streams = [stack.enter_context(path.open("wb")) for path in paths]
            written = file_exchange.export_parts(build, parts, streams)
        for path, lines in zip(paths, written, strict=True):
            self.tell_people(f"{path}: {lines:,} requests")
        self.tell(build, sum(written))
        files = {str(path): lines for path, lines in zip(paths, written, strict=True)}
        self.print_json({"build": build.name, "requests": sum(written), "files": files})

    def tell(self, build: Build, written: int) -> None:
        why = "the build is over" if build.is_over else "is the build mined, and has 'work --until-idle' run?"
        hint = "" if written else f" (nothing waits: {why})"
        self.stderr.write(f"{written:,} requests{hint}", str)  # plain: it is no error

    def take(self, build: Build, paths: list[Path], model: str) -> None:
        found = [self.taken(build, path, model) for path in paths]
        taken, known, moved = (
            sum(getattr(file, name) for file in found) for name in ("taken", "known", "moved")
        )
        refused = sum(len(file.problems) for file in found)
        self.tell_people(
            f"{taken:,} replies taken, {known:,} known already, {refused:,} refused; {moved:,} cases continue"
        )
        if build.model == "any" and not build.answered_by:
            self.stderr.write("Nobody has said which model answered: --model NAME does.", str)
        facts = {"build": build.name, "taken": taken, "known": known, "refused": refused, "moved": moved}
        facts["problems"] = [
            {"file": str(path), "line": problem.line, "why": problem.message}
            for path, file in zip(paths, found, strict=True)
            for problem in file.problems[:MAX_PROBLEMS_SHOWN]
        ]
        if refused:
            others = "the others were known already" if known else "no reply could be taken"
            kept = "the others are taken" if taken else others
            told = f"Refused: {count_noun(refused, 'line')} (see above); {kept}."
            raise PartlyDone(told, facts, REFUSED_STATUS)
        self.print_json(facts)

    def taken(self, build: Build, path: Path, model: str) -> file_exchange.Imported:
        """What one file gave, its problems told."""
        try:
            with path.open("rb") as stream, open_bar(unit=" replies", desc="reading replies") as bar:
                done = file_exchange.import_replies(build, stream, model, lambda: bar.update())
        except OSError as error:
            raise CommandError(f"{path} can't be read: {error}") from error
        for problem in done.problems[:MAX_PROBLEMS_SHOWN]:
            self.stderr.write(f"{path}: {problem}")
        if (more := len(done.problems) - MAX_PROBLEMS_SHOWN) > 0:
            self.stderr.write(f"{path}: {count_noun(more, 'more line is', 'more lines are')} refused")
        return done
