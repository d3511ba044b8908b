"""The scripts of docs/examples against a real server: by REST alone, and by `cosqa.Client` alone."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e import workbench
from tests.site.test_serve import ROOT, folder

EXAMPLES = ROOT / "docs" / "examples"
PATIENCE = 600.0


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, str]]:
    """The address of a server, and the token of an admin."""
    with folder() as home:
        workbench.manage(home, "account", "ada", "--role", "admin")
        with workbench.serving(home) as running:
            yield running.url, running.manage("token", "ada", "--name", "tests").strip()


def run(script: str, server: tuple[str, str], to: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / script), *server, str(to)],
        env=workbench.environment(to) | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(("script", "name"), [("rest.py", "mine"), ("client.py", "own")])
def test_a_table_becomes_a_leaderboard_and_an_export(
    server: tuple[str, str], tmp_path: Path, script: str, name: str
) -> None:
    said = run(script, server, tmp_path)
    assert said[:2] == ["imported 8", "build done"], "four queries and four functions"
    assert said[2].startswith("bm25   "), said
    assert 0 < float(said[2].split()[1]) <= 1
    assert said[-1] == f"exported {name}.zip"
    if script == "client.py":
        assert "pinned again True" in said
    with zipfile.ZipFile(tmp_path / f"{name}.zip") as archive:
        assert "corpus.jsonl" in archive.namelist()
