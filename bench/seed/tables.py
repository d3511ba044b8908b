"""Many rows at once: COPY on PostgreSQL, one statement for all on SQLite. Checks of keys come afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any, Final

from django.apps import apps
from django.core.management.color import no_style
from django.db import OperationalError, ProgrammingError, connection, models, transaction
from django.db.models.expressions import DatabaseDefault

Row = tuple[Any, ...]
Rows = Mapping[str, Sequence[Row]]
"""Rows by table: the columns are those of `VARYING`, in that order."""

MOMENT: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""When everything happened: nothing that is seeded depends on the day."""
BLOB: Final = ("digest", "size", "data")
VARYING: Final[Mapping[str, tuple[str, ...]]] = {
    "retrieval.TextBody": BLOB,
    "retrieval.Text": ("id", "body_id", "head", "size"),
    "retrieval.QueryText": ("text_id", "folded"),
    "retrieval.Member": ("collection_id", "text_id", "position", "source_id", "rules"),
    "retrieval.Pair": ("id", "query_id", "snippet_id"),
    "retrieval.Candidate": ("id", "mining_id", "pair_id", "query_id", "rank", "score", "scores"),
    "retrieval.Label": ("pair_id", "annotator_id", "round", "value", "assisted", "source"),
    "annotation.SystemText": BLOB,
    "annotation.RequestText": BLOB,
    "annotation.ReplyText": BLOB,
    "annotation.ProgramText": BLOB,
    "annotation.ReportText": BLOB,
    "annotation.LLMCall": (
        "id",
        "digest",
        "status",
        "agent",
        "model",
        "provider",
        "build_id",
        "system_id",
        "request_id",
        "reply_id",
        "input_tokens",
        "output_tokens",
        "price_id",
        "bound",
        "cost",
        "latency",
        "answered_by",
        "stop_reason",
        "error",
        "finished_at",
    ),
    "annotation.TestProgram": ("id", "pair_id", "source_id", "reading", "annotator_id"),
    "annotation.Execution": (
        "id",
        "program_hash",
        "candidate_hash",
        "dependencies_hash",
        "image",
        "limits",
        "backend",
        "outcome",
        "ran",
        "asserted",
        "touched",
        "seconds",
        "report_id",
    ),
    "annotation.Case": (
        "id",
        "build_id",
        "candidate_id",
        "pair_id",
        "query_id",
        "annotator_id",
        "rank",
        "score",
        "stage",
        "label",
        "reason",
        "cause",
        "left_stage",
        "program_id",
        "execution_id",
        "step_count",
        "seconds",
        "updated_at",
    ),
    "annotation.Step": (
        "case_id",
        "number",
        "before",
        "event",
        "after",
        "note",
        "call_id",
        "program_id",
        "execution_id",
        "seconds",
    ),
    "annotation.Review": (
        "id",
        "pair_id",
        "case_id",
        "rater_id",
        "revision",
        "label",
        "agent_label",
        "reason",
        "evidence",
    ),
}


def model_of_label(label: str) -> type[models.Model]:
    return apps.get_model(label)


def bulk_insert_tables(rows: Rows) -> int:
    """Insert them, the referred first; says how many there were."""
    for label in VARYING:
        if found := rows.get(label):
            insert_rows(model_of_label(label), VARYING[label], found)
    return sum(map(len, rows.values()))


def insert_rows(model: type[models.Model], varying: Sequence[str], rows: Iterable[Row]) -> None:
    """Rows that name the columns `varying`; the others have their defaults."""
    constants = {
        field.column: column_default(field)
        for field in model._meta.concrete_fields
        if is_constant_column(field, varying)
    }
    names = ", ".join(f'"{name}"' for name in (*varying, *constants))
    tail = tuple(constants.values())
    whole = (row + tail for row in rows)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f'COPY "{model._meta.db_table}" ({names}) FROM STDIN') as copy:
                for row in whole:
                    copy.write_row(row)
            return
        marks = ", ".join("?" * (len(varying) + len(tail)))
        connection.connection.executemany(
            f'INSERT INTO "{model._meta.db_table}" ({names}) VALUES ({marks})', map(convert_sqlite_row, whole)
        )


def is_constant_column(field: models.Field[Any, Any], varying: Sequence[str]) -> bool:
    """Whether the column is the same in all rows; keys that are not named are given by the database."""
    return field.column not in varying and not field.primary_key


def column_default(field: models.Field[Any, Any]) -> object:
    if isinstance(field, models.DateTimeField):
        return None if field.null else MOMENT
    value = field.get_default()
    if isinstance(value, DatabaseDefault):
        value = value.expression.value  # type: ignore[attr-defined]  # its stubs know no attribute
    return "[]" if isinstance(field, models.JSONField) else value


def convert_sqlite_row(row: Row) -> Row:
    """As SQLite keeps moments: text without a zone."""
    return tuple(
        value.replace(tzinfo=None).isoformat(" ", "microseconds") if isinstance(value, datetime) else value
        for value in row
    )


@contextmanager
def bulk_load_transaction() -> Iterator[None]:
    """One transaction without checks of keys, where the database lets us; then counters and statistics.

    What is half written is thrown away, so nothing has to be safe. The connection is as before afterwards:
    PostgreSQL's go back to a pool.
    """
    if connection.vendor == "sqlite":
        set_sqlite_pragmas("foreign_keys=OFF", "synchronous=OFF", "cache_size=-1000000")
        # Only who has the file alone may change its journal; with one, filling it takes a little longer.
        with suppress(OperationalError):
            set_sqlite_pragmas("journal_mode=OFF")
    try:
        with transaction.atomic():
            skip_key_checks()
            yield
            reset_sequences()
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    finally:
        if connection.vendor == "sqlite":
            set_sqlite_pragmas("foreign_keys=ON")
        connection.close()


def set_sqlite_pragmas(*pragmas: str) -> None:
    with connection.cursor() as cursor:
        for pragma in pragmas:
            cursor.execute(f"PRAGMA {pragma}")


def skip_key_checks() -> None:
    """For the rest of this transaction PostgreSQL checks no keys, and its end doesn't wait for the disk."""
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = off")
    # Who is no superuser has each key checked, which takes longer.
    with suppress(ProgrammingError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")


def reset_sequences() -> None:
    """The database goes on counting after the keys that were given."""
    every = [model for model in apps.get_models() if model._meta.managed]
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), every):
            cursor.execute(statement)


def list_orphan_references() -> list[str]:
    """References that lead nowhere, as `table.column: number`."""
    keys = [
        (model_of_label(label), field)
        for label in VARYING
        for field in model_of_label(label)._meta.concrete_fields
        if isinstance(field, models.ForeignKey)
    ]
    counts = ((model, field, count_dangling_keys(model, field)) for model, field in keys)
    return [f"{model._meta.label}.{field.column}: {count}" for model, field, count in counts if count]


def count_dangling_keys(model: type[models.Model], field: models.ForeignKey[Any, Any]) -> int:
    """How many references of `field` have no row; by SQL, as the ORM trusts the keys."""
    own, other, target = connection.ops.quote_name, field.related_model._meta, field.target_field
    statement = (
        f"SELECT count(*) FROM {own(model._meta.db_table)} a LEFT JOIN {own(other.db_table)} b "
        f"ON a.{own(str(field.column))} = b.{own(str(target.column))} "
        f"WHERE a.{own(str(field.column))} IS NOT NULL AND b.{own(str(target.column))} IS NULL"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return int(cursor.fetchone()[0])
