"""`manage.py import everything DIR`, beside the formats in which retrieval reads collections and labels."""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.db import DatabaseError

from cosqa_site.dump.folder import BadFolder, find_folder
from cosqa_site.dump.loader import HomeInUse, load_dump
from cosqa_site.dump.manifest import Manifest
from cosqa_site.dump.reader import BadDump
from retrieval.management.bars import open_bar
from retrieval.management.failures import add_json_option
from retrieval.texts.plurals import count_noun

EVERYTHING: Final = "everything"
imports: Any = import_module("retrieval.management.commands.import")  # its name is a keyword


class Command(imports.Command):  # type: ignore[misc]  # as it can't be imported by a statement
    help = (
        f"{imports.Command.help} `everything` loads a whole home instead, which `export everything` wrote "
        "(docs/running.md)."
    )

    def add_formats(self, formats: Any) -> None:
        super().add_formats(formats)
        title = "all that `export everything` wrote, into a home that is new"
        parser = formats.add_parser(
            EVERYTHING,
            help=title,
            description=f"Load {title}: all of it, or nothing where something is wrong. Accounts come "
            "without passwords.",
        )
        parser.add_argument("folder", metavar="DIR", help="what `export everything` wrote")
        add_json_option(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["format"] == EVERYTHING:
            self.import_everything(options["folder"])
        else:
            super().handle(*args, **options)

    def import_everything(self, name: str) -> None:
        began = time.monotonic()
        try:
            with open_bar(unit=" rows", unit_scale=True, desc="importing") as bar:
                manifest = load_dump(find_folder(name), settings.COSQA_HOME, bar)
        except (BadDump, BadFolder, HomeInUse) as why:
            raise CommandError(str(why)) from why
        except DatabaseError as why:
            raise CommandError(f"Nothing was loaded, as the database refuses a row: {why}") from why
        except OSError as why:
            raise CommandError(f"Nothing was loaded: {why}") from why
        self.tell_people(describe_load(manifest))
        tables = {name: table.rows for name, table in manifest.tables.items()}
        self.print_json({"rows": manifest.rows, "tables": tables, "files": len(manifest.files)})
        self.stderr.write(f"{time.monotonic() - began:,.1f} s")


def describe_load(manifest: Manifest) -> str:
    """Each table that has rows, what it comes to, and how people get in again."""
    tables = [f"{table.rows:>13,}  {name}" for name, table in manifest.tables.items() if table.rows]
    files = [f"{file.bytes:>13,}  bytes of {path}" for path, file in manifest.files.items()]
    rows = f"{count_noun(manifest.rows, 'row')} loaded, all checked against the dump"
    return "\n".join([*tables, *files, rows, *describe_accounts(User.objects.count())])


def describe_accounts(accounts: int) -> list[str]:
    if not accounts:
        return []
    who = f"{count_noun(accounts, 'account')} without a password"
    return [f"{who}; a new one for each: cosqa admin account NAME --new-password"]
