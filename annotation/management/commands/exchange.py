"""`manage.py exchange export|import`: annotate a build by any model, through files and without a key."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser

from annotation import exchanging
from annotation.models import Build
from retrieval.management.light import LightCommand

MOST_PARTS: Final = 500
"""All files are open at once."""


class Command(LightCommand):
    help = (
        "Exchange requests and replies by file. 'export' writes every request that waits, one JSON object a "
        "line (id, agent, model, system, messages, schema), with --parts into several files; 'import' takes "
        "lines (id, reply) of one file or several. "
        "Run 'manage.py work --until-idle' in between, until nothing waits."
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
            help="write N files (FILE-1 to FILE-N), none with two requests about one query, so that whoever "
            "answers a file never sees two candidates side by side",
        )
        take = actions.add_parser("import", help="take replies")
        take.add_argument("build", help="name or id of the build")
        take.add_argument("files", type=Path, nargs="+", metavar="FILE", help="files of reply lines")

    def handle(self, *args: Any, **options: Any) -> None:
        build = find(options["build"])
        if options["action"] == "import":
            self.take(build, options["files"])
        elif options["parts"] is None:
            self.export(build, options["out"])
        else:
            self.export_parts(build, options["out"], options["parts"])

    def export(self, build: Build, out: str) -> None:
        if out == "-":
            written = exchanging.export(build, sys.stdout.buffer)
        else:
            with Path(out).open("wb") as stream:
                written = exchanging.export(build, stream)
        self.tell(written)

    def export_parts(self, build: Build, out: str, count: int) -> None:
        if out == "-" or not 1 <= count <= MOST_PARTS:
            raise CommandError(f"--parts takes a number of files, 1 to {MOST_PARTS}, and --out their name.")
        try:
            parts = exchanging.parts_of(build, count)
        except exchanging.TooFewParts as why:
            raise CommandError(f"{why} Nothing was written.") from why
        paths = [Path(out).with_stem(f"{Path(out).stem}-{number}") for number in range(1, count + 1)]
        with ExitStack() as stack:
            streams = [stack.enter_context(path.open("wb")) for path in paths]
            written = exchanging.export_parts(build, parts, streams)
        for path, lines in zip(paths, written, strict=True):
            self.stdout.write(f"{path}: {lines:,} requests")
        self.tell(sum(written))

    def tell(self, written: int) -> None:
        hint = "" if written else " (nothing waits: is the build mined, and has 'work --until-idle' run?)"
        self.stderr.write(f"{written:,} requests{hint}", str)  # plain: it is no error

    def take(self, build: Build, paths: list[Path]) -> None:
        found = [self.taken(build, path) for path in paths]
        taken, known, moved = (
            sum(getattr(one, name) for one in found) for name in ("taken", "known", "moved")
        )
        refused = sum(len(one.problems) for one in found)
        self.stdout.write(
            f"{taken:,} replies taken, {known:,} known already, {refused:,} refused; {moved:,} cases go on"
        )
        if refused and not taken and not known:
            raise CommandError("No reply could be taken; the lines above say why.")

    def taken(self, build: Build, path: Path) -> exchanging.Imported:
        """What one file gave, its problems told."""
        try:
            with path.open("rb") as stream:
                done = exchanging.take(build, stream)
        except OSError as error:
            raise CommandError(f"{path} can't be read: {error}") from error
        for problem in done.problems:
            self.stderr.write(f"{path}: {problem}")
        return done


def find(name: str) -> Build:
    """The build with this name or id."""
    rows = Build.objects.select_related("tally")
    build = rows.filter(name=name).first() or (rows.filter(pk=name).first() if name.isdigit() else None)
    if build is None:
        known = ", ".join(Build.objects.values_list("name", flat=True)[:20]) or "none yet"
        raise CommandError(f"There is no build {name!r}; builds are: {known}.")
    return build
