"""The whole way in its smallest form: each step is taken, and pages read as much at ten times the size."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from bench.million.texts import generate_functions, generate_queries
from retrieval.encoders import find_encoder
from retrieval.index import mine_best_snippets

ROOT: Final = Path(__file__).resolve().parents[3]
SMALL: Final = """
import django, json
django.setup()
from bench.million import look, processes, way
from tests.bench.million.forks import load_all, make_by_copying, start_or_fork
load_all()
way.Scratch.make = make_by_copying(way.Scratch("empty"))
way.SIZES, look.LOOKS = {"small": (100, 1_000)}, 1
processes.start_python, processes.SECONDS_BETWEEN_LOOKS = start_or_fork(processes.start_python), 0.05
print(json.dumps(way.measure_million("small")))
"""
STEPS: Final = [
    *("import functions", "import queries", "launch", "mine", "open cases", "judge"),
    *("export release", "export qrels", "export beir"),
]


@pytest.mark.timeout(1200)
def test_a_small_way_takes_every_step_and_finds_what_one_search_finds(tmp_path: Path) -> None:
    known = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    known |= {"COSQA_HOME": str(tmp_path), "DJANGO_SETTINGS_MODULE": "cosqa_site.settings"}
    done = subprocess.run(
        [sys.executable, "-c", SMALL], cwd=ROOT, env=known, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    few, many = found["sizes"]
    assert list(few["steps"]) == list(many["steps"]) == STEPS
    assert few["digest"] == digest_of_one_search(few["functions"], few["queries"])
    assert many["digest"] == digest_of_one_search(many["functions"], many["queries"])
    for name, page in many["pages"].items():
        assert page["statements"] <= few["pages"][name]["statements"] + 2, name
    for size in found["sizes"]:
        folder = tmp_path / "bench" / f"million{size['functions']}x{size['queries']}"
        assert len((folder / "judged.qrels").read_text().splitlines()) == size["steps"]["judge"]["items"]


def digest_of_one_search(functions: int, queries: int) -> str:
    """What `digest` has to be, of a search of all texts in this process."""
    asked, code = (
        [text.strip() for text in made] for made in (generate_queries(queries), generate_functions(functions))
    )
    encoders = [find_encoder("bm25"), find_encoder("bow")]
    total = 0
    for number, hits in enumerate(mine_best_snippets(asked, code, encoders, 5)):
        for rank, hit in enumerate(hits, 1):
            row = (f"q{number}", rank, f"f{hit.index}", hit.score)
            total += int.from_bytes(hashlib.sha256(repr(row).encode()).digest(), "big")
    return f"{total % 2**256:064x}"
