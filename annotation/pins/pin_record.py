"""A pin: figures as plain JSON, what was asked, what they rest on, and the hash of it all."""

from __future__ import annotations

import hashlib
import json
import math
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np
from django.contrib.auth.models import User
from django.db.models import Max, Model, QuerySet

from annotation.models import Build, BuildEvent
from annotation.studies.report.formats import convert_cell_to_json
from annotation.studies.report.table import Table
from retrieval.evaluation.runs.system_run import code_version
from retrieval.models import Benchmark, Pin, Run

SHORTEST: Final = 6
TOLERANCE: Final = 1e-9
"""Relative: machines differ in the last bits of a sum, and in nothing that a table prints."""
SOURCES: Final = ("stats/**/*.py", "studies/**/*.py", "web/corpus/*.py")


class NothingToPin(ValueError):
    """There is no figure yet; the message says what is missing."""


class NoSuchPin(LookupError):
    """No pin, or more than one, has this name."""


def store_pin(
    kind: Pin.Kind,
    title: str,
    subject: dict[str, Any],
    value: dict[str, Any],
    ground: dict[str, Any],
    by: User | None,
) -> Pin:
    """Store it, unless the same was pinned before: who was first stays."""
    timeless = {**ground, "last": {**ground.get("last", {}), "at": ""}, "event": ""}
    whole = {"kind": kind.value, "subject": subject, "value": value, "ground": timeless}
    digest = hashlib.sha256(json.dumps(whole, sort_keys=True, allow_nan=False).encode()).hexdigest()
    made, _ = Pin.objects.get_or_create(
        digest=digest,
        defaults={
            "kind": kind,
            "title": title[:300],
            "subject": subject,
            "value": value,
            "ground": ground,
            "created_by": by,
        },
    )
    return made


def find_pin_by_hash(name: str) -> Pin:
    """The pin whose hash begins with `name`, at least six digits. Raises NoSuchPin."""
    if len(name) < SHORTEST or not set(name) <= set("0123456789abcdef"):
        raise NoSuchPin(f"A pin is named by at least {SHORTEST} digits of its hash, not by {name[:40]!r}.")
    found = list(Pin.objects.filter(digest__startswith=name)[:2])
    if len(found) != 1:
        many = "More than one pin begins" if found else "No pin begins"
        raise NoSuchPin(f"{many} with {name[:64]}; 'cosqa admin pin --list' shows those that there are.")
    return found[0]


@dataclass(frozen=True, slots=True)
class Change:
    """One place of the tree, such as `figures/12/mrr/value`; None where a side has nothing there."""

    where: str
    before: Any
    now: Any


def find_leaf_changes(before: Any, now: Any, where: str = "") -> list[Change]:
    """Every leaf that differs, in the order of `before`; numbers within `TOLERANCE` are the same."""
    return [
        Change(place.lstrip("/"), one, other)
        for place, one, other in _leaves(before, now, where)
        if not is_same_leaf(one, other)
    ]


def is_same_leaf(one: Any, other: Any) -> bool:
    """Whether two leaves say the same. A truth value is no number."""
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in (one, other)]
    if all(numbers):
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=1e-12)
    return type(one) is type(other) and bool(one == other)


def _leaves(before: Any, now: Any, where: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for key in [*before, *(key for key in now if key not in before)]:
            yield from _leaves(before.get(key), now.get(key), f"{where}/{key}")
    elif is_row(before) and is_row(now):
        for place in range(max(len(before), len(now))):
            one, other = (side[place] if place < len(side) else None for side in (before, now))
            yield from _leaves(one, other, f"{where}/{place}")
    else:
        yield where, before, now


def is_row(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


@cache
def collect_code_versions() -> dict[str, str]:
    """The versions of all that computes: our sources by their hashes, Python and NumPy by their names."""
    folder = Path(__file__).resolve().parents[1]
    whole = hashlib.sha256()
    for path in sorted(path for pattern in SOURCES for path in folder.glob(pattern)):
        whole.update(f"{path.relative_to(folder)}\n".encode() + path.read_bytes())
    return {
        "workbench": version("cosqa-workbench"),
        "retrieval": code_version(),
        "annotation": f"annotation {whole.hexdigest()[:16]}",
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def last_benchmark_event(benchmark: Benchmark) -> str:
    """The newest event of the builds whose labels the benchmark may have; else its publication."""
    builds = Build.objects.filter(mining__isnull=False, mining=benchmark.mining_id)
    event = BuildEvent.objects.filter(build__in=builds).order_by("-pk").first()
    published = f"published {benchmark.published_at.isoformat(timespec='seconds')}"
    return f"{event.pk}: {event.event}" if event else published


def benchmark_with(digest: str, name: str) -> Benchmark | None:
    """By its content; of several with the same, the one of that name (`name@version`)."""
    same = Benchmark.objects.filter(digest=digest)
    named = [benchmark for benchmark in same if str(benchmark) == name]
    return named[0] if named else same.first()


def last_row_id(rows: QuerySet[Any, Any] | QuerySet[Model]) -> int:
    """The last id; 0 where there is none."""
    found: int | None = rows.order_by().aggregate(last=Max("pk"))["last"]
    return found or 0


def find_pinned_run(runs: QuerySet[Run], pool: str, told: Mapping[str, str]) -> Run | None:
    """The run that a pin tells of by its system, text and lists, among these; None where it is gone."""
    found = runs.filter(pool=pool, digest=told["digest"], system=told["system"])
    return found.filter(text_option=told["text"]).first()


def note_altered_runs(digests: Mapping[Run, str]) -> dict[str, Any]:
    """A ground of its own where the lists of runs have not got the hash any more that the runs say."""
    changed = {format_run_identity(run): digest for run, digest in digests.items() if digest != run.digest}
    return {"lists": changed} if changed else {}


def identify_run(run: Run, **more: str) -> dict[str, str]:
    """A run as a pin tells of it: by its lists, which another database has too."""
    return {"system": run.system, "text": run.text_option, "digest": run.digest, **more}


def format_run_identity(run: Run) -> str:
    """A run by its system and its lists."""
    text = f", {run.text_option}" if run.text_option else ""
    return f"{run.system}{text} [{run.digest[:12]}]"


def serialize_tables(of: Iterable[Table]) -> dict[str, Any]:
    """Tables by their keys."""
    return {
        table.key: {
            "title": table.title,
            "columns": list(table.columns),
            "rows": [[convert_cell_to_json(cell) for cell in row] for row in table.rows],
        }
        for table in of
    }
