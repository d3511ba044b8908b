"""`manage.py download PLACE DIR [--sha256 SUM]`: a data set's file, to be imported afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from retrieval.management.bars import open_bar
from retrieval.management.light import LightCommand
from retrieval.sources.web.download import PLACES, NotDownloaded, address_of, download_file, sum_of


class Command(LightCommand):
    help = "Download a file. The same command continues what was cut off; the file's sha256 is printed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("place", help=PLACES)
        parser.add_argument("folder", type=Path, help="where the file is put")
        parser.add_argument("--sha256", default="", help="refuse the file if it has another sum")

    def handle(self, *args: Any, **options: Any) -> None:
        with open_bar(unit="B", unit_scale=True, desc="downloading") as bar:

            def tick(there: int, of: int | None) -> None:
                bar.total = of
                bar.update(there - bar.n)

            try:
                was_there = (options["folder"] / address_of(options["place"])[1]).exists()
                file = download_file(options["place"], options["folder"], options["sha256"], tick)
            except NotDownloaded as why:
                raise CommandError(f"{why}.") from why
        if was_there:  # of another revision, perhaps, or of another place
            self.stderr.write(f"{file} was there and was not asked for again; move it away for a new one.")
        self.stdout.write(f"{file}  sha256 {sum_of(file)}")
