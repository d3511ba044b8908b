"""`manage.py restore FOLDER`: put a backup into a new home."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from cosqa_site.backup.home import restore_backup
from cosqa_site.backup.manifest import BadBackup
from cosqa_site.dump.folder import BadFolder, find_folder
from cosqa_site.service.applied_migrations import DatabaseNotReady
from cosqa_site.service.server import AlreadyServing, only_server
from cosqa_site.service.startup import prepare_database
from retrieval.disk_space import is_full_disk
from retrieval.management.light import LightCommand
from retrieval.texts.plurals import count_noun


class Command(LightCommand):
    help = "Put a backup into a home that has no database yet. Its sha256 are compared first."
    reads_foreign_files = True
    refusals = (AlreadyServing, BadBackup, BadFolder, DatabaseNotReady)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", metavar="FOLDER", help="what `backup` wrote")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with only_server():
                manifest = restore_backup(find_folder(options["folder"]), settings.COSQA_HOME)
                prepare_database(with_backup=False)  # it has just come out of one
        except OSError as why:
            if is_full_disk(why):
                raise
            raise CommandError(f"The backup can't be put back: {why}.") from why
        self.stdout.write(f"{count_noun(len(manifest.files), 'file')} restored into {settings.COSQA_HOME}.")
