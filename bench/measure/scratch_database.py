"""Databases for benches alone: made once, kept by the hash of what is in them, copied before they are used.

With SQLite a folder under `COSQA_HOME/bench`, with PostgreSQL a database beside the configured one. One under
construction has another name until it is whole, so that half of one is never used.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections

FILE: Final = "workbench.sqlite3"
PREFIX: Final = "cosqa_bench_"
NAME: Final = re.compile("[0-9a-z_]{1,40}")


@dataclass(frozen=True)
class Scratch:
    """One scratch database by its name: the hash of its content, or a word for a copy."""

    name: str

    @property
    def home(self) -> Path:
        """The data folder of processes that work in it."""
        return Path(settings.COSQA_HOME) / "bench" / self.name

    @property
    def database(self) -> str:
        """What the database itself is called."""
        if not NAME.fullmatch(self.name):
            raise ValueError(f"no name of a scratch database: {self.name!r}")
        return PREFIX + self.name if connection.vendor == "postgresql" else str(self.home / FILE)

    def exists(self) -> bool:
        if connection.vendor != "postgresql":
            return (self.home / FILE).exists()
        found = execute_server_statement("SELECT 1 FROM pg_database WHERE datname = %s", self.database)
        return bool(found)

    def is_used(self) -> bool:
        """Whether somebody is connected to it, where that can be known."""
        if connection.vendor != "postgresql":
            return False
        return bool(
            execute_server_statement("SELECT 1 FROM pg_stat_activity WHERE datname = %s", self.database)
        )

    def drop(self) -> None:
        """Remove it and its folder, if they are there."""
        if connection.vendor == "postgresql":
            execute_server_statement(f'DROP DATABASE IF EXISTS "{self.database}" WITH (FORCE)')
        shutil.rmtree(self.home, ignore_errors=True)

    def make(self, fill: Callable[[], None]) -> bool:
        """Have `fill` write it, unless it is there; says whether it was written."""
        if self.exists():
            return False
        drop_left_behind()
        draft = Scratch(f"{self.name}_part_{os.getpid()}")
        draft.drop()
        try:
            draft.begin()
            with draft.entered():
                call_command("migrate", verbosity=0, interactive=False)
                fill()
            draft.become(self)
        except BaseException:
            draft.drop()
            raise
        return True

    def begin(self) -> None:
        """An empty database."""
        self.home.mkdir(parents=True)
        if connection.vendor == "postgresql":
            execute_server_statement(f'CREATE DATABASE "{self.database}" TEMPLATE template0')

    def become(self, whole: Scratch) -> None:
        shutil.rmtree(whole.home, ignore_errors=True)
        self.home.rename(whole.home)
        if connection.vendor == "postgresql":
            execute_server_statement(f'ALTER DATABASE "{self.database}" RENAME TO "{whole.database}"')

    def copy(self, name: str) -> Scratch:
        """Another one with the same content; one of that name is replaced."""
        drop_left_behind()
        copy = Scratch(name)
        copy.drop()
        copy.home.mkdir(parents=True)
        if connection.vendor == "postgresql":
            execute_server_statement(
                f'CREATE DATABASE "{copy.database}" TEMPLATE "{self.database}" STRATEGY FILE_COPY'
            )
        else:
            shutil.copyfile(self.database, copy.database)
        return copy

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Every connection of this process leads here until the block ends; nothing else may be at work."""
        configured = connections.settings["default"]
        before = configured["NAME"]
        switch_database(configured, self.database)
        try:
            yield
        finally:
            switch_database(configured, before)

    def environment(self, **others: str) -> dict[str, str]:
        """Of a process that works in it."""
        given = {**os.environ, "COSQA_HOME": str(self.home), **others}
        if connection.vendor == "postgresql":
            given["DATABASE_URL"] = build_database_url(connections.settings["default"], self.database)
        else:
            given.pop("DATABASE_URL", None)
        return given

    def bytes(self) -> int:
        """Its size; to be asked from within."""
        if connection.vendor != "postgresql":
            return Path(self.database).stat().st_size
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_database_size(current_database())")
            return int(cursor.fetchone()[0])


def drop_left_behind() -> None:
    """Remove the drafts and copies of processes of this machine that are gone.

    Their names end with the process's number. With PostgreSQL one that somebody is connected to stays: it may
    be another machine's.
    """
    for name in list_scratch_databases():
        number = name.rpartition("_")[2]
        left = Scratch(name)
        if number != name and number.isdecimal() and not is_process_alive(int(number)) and not left.is_used():
            left.drop()


def list_scratch_databases() -> list[str]:
    """The names of all scratch databases, whole or not."""
    if connection.vendor == "postgresql":
        rows = execute_server_statement(
            "SELECT datname FROM pg_database WHERE starts_with(datname, %s)", PREFIX
        )
        return [str(name).removeprefix(PREFIX) for (name,) in rows]
    folder = Path(settings.COSQA_HOME) / "bench"
    return [path.name for path in folder.iterdir()] if folder.is_dir() else []


def is_process_alive(process: int) -> bool:
    return Path(f"/proc/{process}").exists()


def use_only(database: str) -> None:
    """This process works in another database from now on."""
    switch_database(connections.settings["default"], database)


def switch_database(configured: dict[str, Any], database: str) -> None:
    """Close what is open and go on in another database."""
    connection.close()
    if connection.vendor == "postgresql":
        connection.close_pool()  # type: ignore[attr-defined]  # of this vendor alone
    configured["NAME"] = connection.settings_dict["NAME"] = database


def build_database_url(configured: dict[str, Any], database: str) -> str:
    """The DATABASE_URL of another database on the configured server."""
    user = ":".join(quote(str(configured[key]), safe="") for key in ("USER", "PASSWORD") if configured[key])
    place = f"{configured['HOST'] or ''}{':' + str(configured['PORT']) if configured['PORT'] else ''}"
    return f"postgres://{user + '@' if user else ''}{place}/{database}"


def execute_server_statement(statement: str, *values: str) -> list[tuple[Any, ...]]:
    """Run a statement about databases, which stands in no transaction and in none of them."""
    import psycopg

    parameters = {
        key: value for key, value in connection.get_connection_params().items() if key in CONNECTING
    }
    with psycopg.connect(**{**parameters, "dbname": "postgres"}, autocommit=True) as server:
        found = server.execute(statement.encode(), values or None)
        return found.fetchall() if found.description else []


CONNECTING: Final = ("host", "port", "user", "password", "sslmode")
