"""`manage.py export everything DIR`, beside the formats in which retrieval writes a benchmark."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import CommandError

from cosqa_site.dump.folder import BadFolder, find_new_folder
from cosqa_site.dump.manifest import Manifest
from cosqa_site.dump.writer import write_dump
from retrieval.exporting.files import why_unwritten
from retrieval.management.bars import open_bar
from retrieval.management.commands import export
from retrieval.management.failures import add_json_option
from retrieval.texts.plurals import count_noun

EVERYTHING: Final = "everything"
INTERRUPTED: Final = 130
"""The exit status of what was stopped with Ctrl-C."""


class Command(export.Command):
    help = (
        f"{export.Command.help} `everything` writes the whole home instead, for another home or release "
        "(docs/running.md)."
    )

    def add_formats(self, formats: Any) -> None:
        super().add_formats(formats)
        title = "everything that this home knows, for `import everything` in another home or release"
        parser = formats.add_parser(
            EVERYTHING,
            help=title,
            description=f"Write {title}. Passwords, API tokens and sessions are left out. Workers may run on "
            "meanwhile; what they do after the start is not in it.",
        )
        parser.add_argument("folder", metavar="DIR", help="a new folder, which only you can read")
        add_json_option(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["format"] == EVERYTHING:
            self.export_everything(options["folder"])
        else:
            super().handle(*args, **options)

    def export_everything(self, name: str) -> None:
        began = time.monotonic()
        try:
            folder = find_new_folder(name)
            with open_bar(unit=" rows", unit_scale=True, desc="exporting") as bar:
                manifest = write_dump(settings.COSQA_HOME, folder, bar)
        except BadFolder as why:
            raise CommandError(str(why)) from why
        except OSError as why:
            raise CommandError(why_unwritten(why, name)) from why
        except KeyboardInterrupt:
            self.stderr.write("Stopped; nothing was kept.")
            sys.exit(INTERRUPTED)
        self.tell_people(describe_dump(manifest, folder))
        facts = {"folder": folder, "rows": manifest.rows, "tables": len(manifest.tables)}
        self.print_json({**facts, "files": len(manifest.files)})
        self.stderr.write(f"{time.monotonic() - began:,.1f} s")


def describe_dump(manifest: Manifest, folder: Path) -> str:
    rows, tables = count_noun(manifest.rows, "row"), count_noun(len(manifest.tables), "table")
    files = count_noun(len(manifest.files), "file")
    return f"{rows} of {tables}, and {files} of the home, in {folder}"
