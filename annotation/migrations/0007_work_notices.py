"""PostgreSQL tells idle workers of writes that may be work for them; SQLite's file is watched instead."""

from typing import ClassVar, Final

from django.db import migrations

from retrieval.migrations._at_once import RunOnNewToo

CHANNEL: Final = "cosqa_work"
FUNCTION: Final = "tell_of_work"
SELDOM: Final = {
    "annotation_batch": "INSERT OR UPDATE OF next_poll_at",
    "annotation_build": "INSERT OR UPDATE OF state, waits_for, next_probe_at, opened",
    "annotation_callrequest": "INSERT OR UPDATE OF state",
    "annotation_canary": "INSERT OR UPDATE OF decided_at",
    "annotation_connectiontest": "INSERT OR UPDATE OF state",
    "annotation_delivery": "INSERT OR UPDATE OF due_at",
    "annotation_driftcheck": "INSERT",
    "annotation_executionrequest": "INSERT OR UPDATE OF state",
    "annotation_extension": "INSERT OR UPDATE OF state",
    "annotation_filling": "INSERT",
    "annotation_merge": "INSERT OR UPDATE OF finished_at",
    "annotation_proposal": "INSERT OR UPDATE OF state, waiting_for_id",
    "annotation_trial": "INSERT OR UPDATE OF state",
    "retrieval_job": "INSERT OR UPDATE OF state",
    "retrieval_mining": "INSERT OR UPDATE OF state",
}
"""Tables that are seldom written to, and which writes may be work."""
OFTEN: Final = {
    "annotation_case": (
        "UPDATE OF stage, waiting_for_id",
        "NEW.waiting_for_id IS NULL AND (OLD.waiting_for_id IS NOT NULL OR OLD.stage = 'abandoned')",
    ),
    "annotation_llmcall": ("UPDATE OF status", "OLD.status = 'waiting' AND NEW.status <> 'waiting'"),
}
"""Tables that a running build writes to all the time, and which of these rows a sleeping worker waits for."""


def add_triggers(apps, schema_editor):
    if schema_editor.connection.vendor != "postgresql":
        return
    schema_editor.execute(
        f"CREATE FUNCTION {FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$BEGIN PERFORM pg_notify('{CHANNEL}', ''); RETURN NULL; END$$"
    )
    rows = {table: (moment, "TRUE") for table, moment in SELDOM.items()} | OFTEN
    for table, (moment, condition) in rows.items():
        # A trigger of the statement would also tell of chores that found nothing to change.
        schema_editor.execute(
            f"CREATE TRIGGER {FUNCTION} AFTER {moment} ON {table} "
            f"FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION {FUNCTION}()"
        )


def remove_triggers(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"DROP FUNCTION IF EXISTS {FUNCTION}() CASCADE")


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("annotation", "0006_token_expiry"),
        ("retrieval", "0001_initial"),
    ]

    operations: ClassVar = [RunOnNewToo(add_triggers, remove_triggers)]
