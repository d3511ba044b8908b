"""Making the rows of a build in processes side by side, and having them in the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import get_context
from typing import Final

import django
from django.db import connection, transaction

from bench.measure.scratch_database import use_only
from bench.seed import rows
from bench.seed.indexes import suspend_table_indexes
from bench.seed.plan import Keys, SeedingPlan, Stretch
from bench.seed.tables import (
    VARYING,
    bulk_insert_tables,
    bulk_load_transaction,
    model_of_label,
    skip_key_checks,
)

PROCESSES: Final = 2
STRETCH: Final = 50
SNIPPETS_A_STRETCH: Final = 1000
Work = Callable[[], Stretch]


def fill_build_rows(plan: SeedingPlan, keys: Keys) -> Stretch:
    """Write all rows of the plan's build; gives its figures, without the rows."""
    work, total = list_filling_work(plan, keys), Stretch()
    if plan.queries <= STRETCH:
        with bulk_load_transaction():
            for one in work:
                total.count(write_filled_stretch(one))
        return total
    with suspend_table_indexes([model_of_label(label)._meta.db_table for label in VARYING]):
        for made in at_once(work):
            total.count(made)
    vacuum_filled_tables()
    return total


def vacuum_filled_tables() -> None:
    """What PostgreSQL does by itself to a table that was filled: pages show what can be read from indexes."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM (ANALYZE)")


def list_filling_work(plan: SeedingPlan, keys: Keys) -> list[Work]:
    """All that is to be made, in stretches."""
    of_snippets = [partial(rows.of_snippets, plan, keys, *ends) for ends in pool_of(plan)]
    queries = split_into_ranges(plan.queries, STRETCH)
    return [*of_snippets, *(partial(rows.of_queries, plan, keys, *ends) for ends in queries)]


def pool_of(plan: SeedingPlan) -> list[tuple[int, int]]:
    return split_into_ranges(plan.snippets, SNIPPETS_A_STRETCH)


def split_into_ranges(end: int, width: int) -> list[tuple[int, int]]:
    """From 1 to `end`, in stretches of `width`."""
    return [(first, min(first + width - 1, end)) for first in range(1, end + 1, width)]


def at_once(work: list[Work]) -> Iterator[Stretch]:
    """Several processes: with PostgreSQL they write, too; SQLite has one writer, which is this process."""
    # Not forked: a child that ends would close this process's connection to the database.
    with get_context("spawn").Pool(PROCESSES, initializer=django.setup) as processes:
        if connection.vendor == "postgresql":
            yield from processes.imap_unordered(
                partial(written_in, str(connection.settings_dict["NAME"])), work
            )
            return
        with bulk_load_transaction():
            for made in processes.imap(run_filling_work, work):
                bulk_insert_tables(made.rows)
                yield made


def run_filling_work(work: Work) -> Stretch:
    return work()


def written_in(database: str, work: Work) -> Stretch:
    """Make and write a stretch in a process of its own."""
    if connection.settings_dict["NAME"] != database:
        use_only(database)
    with transaction.atomic():
        skip_key_checks()
        return write_filled_stretch(work)


def write_filled_stretch(work: Work) -> Stretch:
    """Make and write a stretch; gives its figures alone."""
    made = work()
    bulk_insert_tables(made.rows)
    made.rows = {}
    return made
