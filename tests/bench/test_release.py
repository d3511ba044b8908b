"""`bench release`: a made-up release goes in, comes out and goes in again, by the commands themselves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench import release

ROOT = Path(__file__).resolve().parents[2]
SMALL = """
import django, json
django.setup()
from bench import release
release.PAIRS = {"small": 200}
print(json.dumps(release.measure_release("small")))
"""


def test_it_measures_each_way_of_a_small_release(tmp_path: Path) -> None:
    """In a process of its own: a bench leaves the database that it finds for a scratch one."""
    known = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    known |= {"COSQA_HOME": str(tmp_path), "DJANGO_SETTINGS_MODULE": "cosqa_site.settings"}
    done = subprocess.run(
        [sys.executable, "-c", SMALL], cwd=ROOT, env=known, capture_output=True, check=False, timeout=400
    )
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    assert found["pairs"] == 200
    for way in ("import", "export", "import_of_export"):
        assert found[way]["seconds"] > 0 and 20 < found[way]["peak_mb"] < 2_000
    assert set(found["ratios"]) == {"import_over_json", "export_over_json"}
    assert not list((tmp_path / "bench").glob("*"))


def test_a_command_that_fails_is_told_with_what_it_said() -> None:
    with pytest.raises(release.BenchFailed, match=r"(?s)export nothing: .*invalid choice"):
        release.run_release_command(["export", "nothing"], dict(os.environ))
