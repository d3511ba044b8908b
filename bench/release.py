"""A release in and out: the commands as people give them, in processes of their own, beside bare JSON.

The release is made up: the paper's shares of queries, functions and pairs (20 to a query), functions of about
300 characters that all parse. `small` is a tenth of it.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from django.conf import settings

from bench.measure.scratch_database import Scratch

PAIRS: Final[Mapping[str, int]] = {"small": 41_208, "full": 412_080}
PAIRS_A_QUERY: Final = 20
SNIPPETS_A_PAIR: Final = 132_952 / 412_080
MATCHES: Final = 0.2
SEED: Final = 1
WORDS: Final = [
    "sort",
    "list",
    "file",
    "read",
    "path",
    "date",
    "parse",
    "string",
    "number",
    "count",
    "merge",
    "join",
    "split",
    "index",
    "value",
    "name",
]


class BenchFailed(RuntimeError):
    """A command did not end well; the message is what it said."""


def measure_release(size: str) -> Mapping[str, object]:
    """Seconds, pairs a second and MiB at most of import and export, and ratios to bare JSON of the pairs."""
    empty = Scratch(f"release_{os.getpid()}")
    empty.make(lambda: None)
    try:
        with TemporaryDirectory() as folder:
            return _measured(Path(folder), PAIRS[size], empty.environment())
    finally:
        empty.drop()


def _measured(folder: Path, pairs: int, environment: dict[str, str]) -> Mapping[str, object]:
    write_sample_release(folder / "in", pairs)
    taken_in = run_release_command(["import", "release", str(folder / "in"), "--name", "bench"], environment)
    taken_out = run_release_command(["export", "release", "bench", str(folder / "out")], environment)
    again = run_release_command(["import", "release", str(folder / "out"), "--name", "again"], environment)
    reading, writing = time_bare_json(folder / "in" / "pairs.json", folder / "bare.json")
    return {
        "pairs": pairs,
        "import": taken_in | {"pairs_per_second": round(pairs / taken_in["seconds"])},
        "export": taken_out | {"pairs_per_second": round(pairs / taken_out["seconds"])},
        "import_of_export": again,
        "ratios": {
            "import_over_json": round(taken_in["seconds"] / reading, 1),
            "export_over_json": round(taken_out["seconds"] / writing, 1),
        },
    }


def run_release_command(command: list[str], environment: dict[str, str]) -> dict[str, float]:
    """One command in a process of its own: its seconds, and MiB in memory at most."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, str(Path(settings.BASE_DIR) / "manage.py"), *command],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    told = process.stderr.read() if process.stderr else ""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.stderr:
        process.stderr.close()
    if process.returncode:
        raise BenchFailed(f"{' '.join(command)}: {told[-2000:]}")
    return {"seconds": round(time.perf_counter() - began, 2), "peak_mb": used.ru_maxrss // 1024}


def time_bare_json(source: Path, target: Path) -> tuple[float, float]:
    """Seconds in which the same pairs are only parsed, and only written."""
    began = time.perf_counter()
    rows = json.loads(source.read_text("ascii"))
    read = time.perf_counter() - began
    began = time.perf_counter()
    target.write_text(json.dumps(rows), "ascii")
    return read, time.perf_counter() - began


def write_sample_release(folder: Path, pairs: int) -> None:
    """A release of so many pairs."""
    folder.mkdir()
    chance = random.Random(SEED)
    queries = [
        f"how to {' '.join(chance.sample(WORDS, 4))} {number}" for number in range(pairs // PAIRS_A_QUERY)
    ]
    codes = [generate_random_function(number, chance) for number in range(round(pairs * SNIPPETS_A_PAIR))]
    save_release_rows(
        folder / "query.json", ({"query-idx": number, "query": text} for number, text in enumerate(queries))
    )
    save_release_rows(
        folder / "codebase.json", ({"code-idx": number, "code": text} for number, text in enumerate(codes))
    )
    save_release_rows(folder / "pairs.json", generate_labelled_pairs(queries, codes, chance))


def generate_labelled_pairs(
    queries: list[str], codes: list[str], chance: random.Random
) -> Iterator[dict[str, Any]]:
    for number, query in enumerate(queries):
        for place, code in enumerate(chance.sample(range(len(codes)), PAIRS_A_QUERY)):
            yield {
                "pair-idx": number * PAIRS_A_QUERY + place,
                "query-idx": number,
                "query": query,
                "code-idx": code,
                "code": codes[code],
                "label": int(chance.random() < MATCHES),
            }


def generate_random_function(number: int, chance: random.Random) -> str:
    """A function of some lines that parses and is like no other."""
    first, second, third = chance.sample(WORDS, 3)
    lines = [
        f"    {name}_{number} = {first}({chance.randrange(1000)}, {second})"
        for name in chance.sample(WORDS, 6)
    ]
    return "\n".join(
        [
            f"def {first}_{second}_{number}({first}, {second}=None):",
            *lines,
            f"    return {third}_{number}({first})",
        ]
    )


def save_release_rows(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    with path.open("w", encoding="ascii") as file:
        file.write("[")
        for number, row in enumerate(rows):
            file.write((",\n" if number else "") + json.dumps(row))
        file.write("]")
