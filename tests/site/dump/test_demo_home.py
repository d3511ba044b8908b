"""The demo's home, moved into a new one by the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.packages import share

ROOT = Path(__file__).resolve().parents[3]


def manage(home: Path, *arguments: str) -> str:
    """What the command prints. It ends well."""
    unset = {"DATABASE_URL", "REDIS_URL", "ANTHROPIC_API_KEY"}
    names = {name: value for name, value in os.environ.items() if name not in unset}
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=names | {"COSQA_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def tables_of(dump: Path) -> dict[str, Any]:
    tables: dict[str, Any] = json.loads((dump / "everything.json").read_text())["tables"]
    return tables


def test_a_moved_demo_is_the_same_to_the_last_byte(tmp_path: Path) -> None:
    first, second, dump, again = (tmp_path / name for name in ("first", "second", "dump", "again"))
    first.mkdir()
    share(first)
    manage(first, "demo", "--no-serve")
    manage(first, "export", "everything", str(dump))
    assert tables_of(dump)["annotation.case"]["rows"] == 192
    told = manage(second, "import", "everything", str(dump))
    assert "192  annotation.case" in told
    manage(second, "export", "everything", str(again))
    assert tables_of(again) == tables_of(dump)
