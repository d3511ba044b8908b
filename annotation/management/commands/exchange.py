"""`manage.py exchange export|import`: annotate a build by any model, through files and without a key."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation import exchanging
from annotation.models import Build
from retrieval.management.light import LightCommand


class Command(LightCommand):
    help = (
        "Exchange requests and replies by file. 'export' writes every request that waits, one JSON object a "
        "line (id, agent, model, system, messages, schema); 'import' takes lines (id, reply). "
        "Run 'manage.py work --until-idle' in between, until nothing waits."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, parser_class=type(parser))
        export = actions.add_parser("export", help="write the requests that wait")
        export.add_argument("build", help="name or id of the build")
        export.add_argument("--out", default="-", help="file to write; - is standard output (default)")
        take = actions.add_parser("import", help="take replies")
        take.add_argument("build", help="name or id of the build")
        take.add_argument("file", type=Path, help="file of reply lines")

    def handle(self, *args: Any, **options: Any) -> None:
        build = find(options["build"])
        if options["action"] == "export":
            self.export(build, options["out"])
        else:
            self.take(build, options["file"])

    def export(self, build: Build, out: str) -> None:
        if out == "-":
            written = exchanging.export(build, sys.stdout.buffer)
        else:
            with Path(out).open("wb") as stream:
                written = exchanging.export(build, stream)
        hint = "" if written else " (nothing waits: is the build mined, and has 'work --until-idle' run?)"
        self.stderr.write(f"{written:,} requests{hint}", str)  # plain: it is no error

    def take(self, build: Build, path: Path) -> None:
        try:
            with path.open("rb") as stream:
                done = exchanging.take(build, stream)
        except OSError as error:
            raise CommandError(f"{path} can't be read: {error}") from error
        for problem in done.problems:
            self.stderr.write(f"{path}: {problem}")
        self.stdout.write(
            f"{done.taken:,} replies taken, {done.known:,} known already, {len(done.problems):,} refused; "
            f"{done.moved:,} cases go on"
        )
        if done.problems and not done.taken and not done.known:
            raise CommandError("No reply could be taken; the lines above say why.")


def find(name: str) -> Build:
    """The build with this name or id."""
    rows = Build.objects.select_related("tally")
    build = rows.filter(name=name).first() or (rows.filter(pk=name).first() if name.isdigit() else None)
    if build is None:
        known = ", ".join(Build.objects.values_list("name", flat=True)[:20]) or "none yet"
        raise CommandError(f"There is no build {name!r}; builds are: {known}.")
    return build
