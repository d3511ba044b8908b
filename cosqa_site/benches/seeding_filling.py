"""Making the rows of a build in processes side by side, and having them in the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import get_context
from typing import Final

import django
from django.db import connection, transaction

from cosqa_site.benches import seeding_rows
from cosqa_site.benches.scratch import use_only
from cosqa_site.benches.seeding_indexes import bare
from cosqa_site.benches.seeding_plan import Keys, Plan, Stretch
from cosqa_site.benches.seeding_tables import VARYING, hurry, loading, table, write

PROCESSES: Final = 2
STRETCH: Final = 50
SNIPPETS_A_STRETCH: Final = 1000
Work = Callable[[], Stretch]


def fill(plan: Plan, keys: Keys) -> Stretch:
    """Write all rows of the plan's build; gives its figures, without the rows."""
    work, total = works(plan, keys), Stretch()
    if plan.queries <= STRETCH:
        with loading():
            for one in work:
                total.count(written(one))
        return total
    with bare([table(label)._meta.db_table for label in VARYING]):
        for made in at_once(work):
            total.count(made)
    tidy()
    return total


def tidy() -> None:
    """What PostgreSQL does by itself to a table that was filled: pages show what can be read from indexes."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM (ANALYZE)")


def works(plan: Plan, keys: Keys) -> list[Work]:
    """All that is to be made, in stretches."""
    of_snippets = [partial(seeding_rows.of_snippets, plan, keys, *ends) for ends in pool_of(plan)]
    queries = ranges(plan.queries, STRETCH)
    return [*of_snippets, *(partial(seeding_rows.of_queries, plan, keys, *ends) for ends in queries)]


def pool_of(plan: Plan) -> list[tuple[int, int]]:
    return ranges(plan.snippets, SNIPPETS_A_STRETCH)


def ranges(end: int, width: int) -> list[tuple[int, int]]:
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
        with loading():
            for made in processes.imap(run, work):
                write(made.rows)
                yield made


def run(work: Work) -> Stretch:
    return work()


def written_in(database: str, work: Work) -> Stretch:
    """Make and write a stretch in a process of its own."""
    if connection.settings_dict["NAME"] != database:
        use_only(database)
        hurry()
    with transaction.atomic():
        return written(work)


def written(work: Work) -> Stretch:
    """Make and write a stretch; gives its figures alone."""
    made = work()
    write(made.rows)
    made.rows = {}
    return made
