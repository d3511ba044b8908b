"""`manage.py backup FOLDER`: the whole home, as it is at one moment, while others work."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from cosqa_site.backup.home import make_backup
from cosqa_site.dump.folder import BadFolder, find_new_folder
from cosqa_site.service.applied_migrations import DatabaseNotReady
from cosqa_site.service.startup import explain_faults
from retrieval.disk_space import is_full_disk
from retrieval.exporting.files import why_unwritten
from retrieval.management.light import LightCommand
from retrieval.texts.plurals import count_noun


class Command(LightCommand):
    help = "Back up the database, the files of the home and the secret key, while the server runs."
    refusals = (BadFolder, DatabaseNotReady)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", metavar="FOLDER", help="a new folder, which only you can read")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            folder = find_new_folder(options["folder"])
            with explain_faults():
                made = make_backup(settings.COSQA_HOME, folder)
        except OSError as why:
            if is_full_disk(why):
                raise
            raise CommandError(why_unwritten(why, options["folder"])) from why
        told = f"{count_noun(len(made.files), 'file')}, {made.bytes / 10**6:,.1f} MB"
        self.stdout.write(f"{told}, in {folder}. It holds secrets: keep it as safe as the home.")
