"""A command that comes and goes loads what it needs: seen by the modules that are there at its end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

ROOT = Path(__file__).resolve().parents[2]
WHOLE = {"bench", "check", "demo", "migrate", "record_sample", "serve", "work"}
"""Commands that perform all system checks, which load every page and the API."""
ROOMS = {"annotation", "cosqa_site", "retrieval"}
PAGES = {"annotation.admin", "annotation.urls", "cosqa_site.urls"}
HEAVY = """
    anthropic bm25s celery channels.layers docker faiss kombu magika markdown_it ninja numpy openai pydantic
    redis scipy sentence_transformers torch transformers uvicorn
"""
ENDING = """
import json, sys
import manage
try:
    manage.main()
finally:
    print(json.dumps(sorted(sys.modules)))
"""


def loaded(home: Path, *command: str) -> set[str]:
    """The modules that are loaded when the command ends well."""
    services = {"DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL"}
    kept = {k: v for k, v in os.environ.items() if not k.startswith("COSQA_") and k not in services}
    ended = subprocess.run(
        [sys.executable, "-c", ENDING, *command],
        cwd=ROOT,
        env=kept | {"COSQA_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return set(json.loads(ended.stdout.splitlines()[-1]))


def heavy() -> set[str]:
    return PAGES | set(HEAVY.split())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data folder whose tables are there; making them is what a first command does besides."""
    loaded(tmp_path, "migrate", "--verbosity", "0", "--skip-checks")
    return tmp_path


def test_rows_are_imported_without_what_computes_serves_or_asks(home: Path) -> None:
    rows = home / "rows.jsonl"
    rows.write_text('{"query": "double a number", "code": "def double(x):\\n    return 2 * x"}\n')
    columns = "--query", "query", "--snippet", "code"
    there = loaded(home, "import", "table", str(rows), *columns, "--name", "mine")
    assert there & heavy() == set()
    assert "django.db.migrations.executor" not in there, "no migration was left to apply"


def test_a_run_is_scored_without_what_serves_or_asks(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "run").write_text("q1 Q0 d1 1 0.5 mine\n")
    files = "--qrels", str(tmp_path / "qrels"), "--run", str(tmp_path / "run")
    assert loaded(tmp_path, "evaluate-files", *files) & heavy() == {"numpy"}


def test_a_check_looks_at_every_page_and_table(tmp_path: Path) -> None:
    there = loaded(tmp_path, "check")
    assert there >= PAGES
    assert "scipy" not in there, "a server starts 150 ms sooner without what figures alone need"


def test_only_what_serves_or_works_performs_all_checks() -> None:
    own = {
        name: app for name, app in get_commands().items() if app in {"annotation", "cosqa_site", "retrieval"}
    }
    commands = {name: load_command_class(app, name) for name, app in own.items()}
    assert {name for name, one in commands.items() if one.requires_system_checks == "__all__"} <= WHOLE
