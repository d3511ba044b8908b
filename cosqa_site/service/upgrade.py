"""A database of an older release: a backup first, then its migrations, and a word about both."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder

from cosqa_site.backup.home import make_backup
from cosqa_site.service.applied_migrations import DatabaseNotReady, names_of_migrations

FOLDER: Final = "backups"


def upgrade_database() -> None:
    """Back the home up, then migrate. Raises DatabaseNotReady, where nothing was changed."""
    lacking = sorted(names_of_migrations() - MigrationRecorder(connection).applied_migrations().keys())
    sys.stderr.write("This release changes the database. It is backed up first …\n")
    folder = back_up_home()
    sys.stderr.write(f"Backup: {folder}. It holds secrets; delete it once you do not need it.\n")
    call_command("migrate", verbosity=0, interactive=False)
    named = ", ".join(".".join(key) for key in lacking)
    sys.stderr.write(f"The database is up to date now ({named}).\n")


def back_up_home() -> Path:
    """A new folder with all that `restore` needs. Raises DatabaseNotReady."""
    folder = settings.COSQA_HOME / FOLDER / f"{datetime.now(UTC):%Y-%m-%dT%H%M%S}"
    try:
        make_backup(settings.COSQA_HOME, folder)
    except (OSError, DatabaseError) as why:
        raise DatabaseNotReady(
            f"The database was not changed, because the backup before that failed: {why}. Make room or put "
            "right what it names, then start again. Or take a backup of your own and run "
            "'cosqa admin migrate'."
        ) from why
    return folder
