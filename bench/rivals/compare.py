"""`python bench/rivals/compare.py`: Label Studio, doccano, Potato and the workbench, the same rows, one run.

Installs each rival into a throw-away environment, starts it on 127.0.0.1, loads the rows, times every
operation in turns, and prints a table of ratios. A rival that can't be installed or started is said so in the
table. All is removed at the end.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from bench.rivals.measure import Found

ROOT: Final = Path(__file__).resolve().parents[2]
NAMES: Final = ("label-studio", "doccano", "potato")
MOST_ROWS: Final = 50_000
SAID: Final = """How many times as much as ours: processor time of the server's processes, then what a client
waits (median). Above 1, ours takes less."""
NOT_PASSED_ON: Final = (
    *("REDIS_URL", "CELERY_BROKER_URL", "ANTHROPIC_API_KEY"),
    *("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"),
)
"""Services, and what would have every process of ours compile its modules anew: the rivals' are kept, too."""


def parser() -> argparse.ArgumentParser:
    said, _, more = (__doc__ or "").partition("\n\n")
    found = argparse.ArgumentParser(prog="bench/rivals/compare.py", description=said, epilog=more)
    found.add_argument("--rows", type=rows, default=5_000, help=f"100 to {MOST_ROWS:,} (default: 5,000)")
    found.add_argument(
        "--only", nargs="+", choices=NAMES, default=list(NAMES), metavar="NAME", help=f"of {', '.join(NAMES)}"
    )
    found.add_argument("--decisions", type=int, default=60, help="how many at each tool (default: 60)")
    found.add_argument("--page", type=Path, help="also write the table into this page, between its markers")
    found.add_argument(
        "--environments", type=Path, metavar="FOLDER", help="keep the environments here, for another run"
    )
    found.add_argument(
        "--postgres", action="store_true", help="ours in PostgreSQL, that of DATABASE_URL, and not in SQLite"
    )
    return found


def rows(given: str) -> int:
    """A number of rows. Raises ArgumentTypeError."""
    count = int(given.replace(",", "").replace("_", "")) if given else 0
    if not 100 <= count <= MOST_ROWS:
        raise argparse.ArgumentTypeError(f"expected 100 to {MOST_ROWS:,}")
    return count


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that all is ended and removed then, too
    began = time.time()
    with tempfile.TemporaryDirectory(prefix="cosqa-rivals-") as folder:
        enter(Path(folder) / "ours", postgres=options.postgres)
        from bench.rivals import measure

        busy = os.getloadavg()[0]
        kept = options.environments.resolve() if options.environments else None
        found = measure.measure_tools(options.only, options.rows, options.decisions, Path(folder), kept)
    text = report(found, circumstances(options, began, busy))
    sys.stdout.write(text + "\n")
    if options.page:
        from bench.rivals.table import put_between

        options.page.write_text(put_between(options.page.read_text(), text))
    return 0


def enter(home: Path, *, postgres: bool) -> None:
    """Make this process one of ours: a data folder of its own, no settings but those of the database."""
    home.mkdir(parents=True)
    for name in [name for name in os.environ if name.startswith("COSQA_") or name in NOT_PASSED_ON]:
        del os.environ[name]
    if not postgres:
        os.environ.pop("DATABASE_URL", None)
    os.environ |= {
        "COSQA_HOME": str(home),
        "DJANGO_SETTINGS_MODULE": "cosqa_site.settings",
        "PYTHONPYCACHEPREFIX": str(home / "bytecode"),
    }
    import django

    django.setup()


def circumstances(options: argparse.Namespace, began: float, busy: float) -> Mapping[str, Any]:
    """When, where and how."""
    from django.db import connection

    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(began)),
        "machine": f"{processor()}, {os.cpu_count()} cores, {memory()} GiB, {platform.system()} "
        f"{platform.release()}, Python {platform.python_version()}",
        "rows": f"{options.rows:,}",
        "database": "SQLite everywhere"
        if connection.vendor == "sqlite"
        else "PostgreSQL for ours, whose processor time is not counted; SQLite or files for the rivals",
        "load average": load(busy, os.getloadavg()[0], os.cpu_count() or 1),
    }


def load(before: float, after: float, cores: int) -> str:
    """What was there before the run is of others: the run is part of what is there at its end."""
    said = f"{before:.1f} when it began, {after:.1f} at its end, partly its own"
    if before < cores / 4:
        return said
    return f"{said}. The machine was not quiet: trust processor times more than waits"


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown"
    )


def memory() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


def report(found: Found, told: Mapping[str, str]) -> str:
    """All that is printed."""
    from bench.rivals import table
    from bench.rivals.ours import Workbench

    ours, rivals = Workbench.name, [name for name in found.versions if name != Workbench.name]
    versions = ", ".join(f"{name} {version}" for name, version in found.versions.items())
    resident = ", ".join(f"{name} {value:,.0f}" for name, value in found.memory.items())
    parts = [
        "\n".join(f"- {name}: {value}" for name, value in {**told, "versions": versions}.items()),
        SAID,
        table.ratios(found.samples, ours, rivals),
        "Milliseconds: wait, median / p95 · processor time, mean.",
        table.times(found.samples, ours, rivals),
        f"Times done: {table.counts(found.samples, ours)}.",
        f"Memory of the processes after the exports, MiB: {resident}.",
        table.notes(found.reasons, found.absent),
    ]
    return "\n\n".join(part for part in parts if part)


if __name__ == "__main__":
    sys.path[0] = str(ROOT)  # this folder's own files are no modules of the top
    sys.exit(main(sys.argv[1:]))
