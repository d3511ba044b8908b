"""Our packages come before others of the same names, or it is said that they can't be loaded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cosqa import application

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of packages as an installation has it, with others of our names beside ours."""
    site = tmp_path / "site"
    shutil.copytree(ROOT / "cosqa", site / "cosqa", ignore=shutil.ignore_patterns("__pycache__"))
    (site / "cosqa" / "_app").symlink_to(ROOT)
    for name in application.MODULES:
        (site / name).mkdir()
        (site / name / "__init__.py").write_text("FOREIGN = True\n")
    return site


def run_python(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Python in that folder, which is thus first on its path."""
    services = {"DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL", "PYTHONPATH"}
    kept = {k: v for k, v in os.environ.items() if not k.startswith("COSQA_") and k not in services}
    return subprocess.run(
        [sys.executable, *words],
        cwd=site,
        env=kept | {"COSQA_HOME": str(site.parent / "home"), "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("words", [("status", "--json"), ("admin", "prices", "list")])
def test_a_command_loads_our_packages_though_others_are_first_on_the_path(
    site: Path, words: tuple[str, ...]
) -> None:
    done = run_python(site, "-m", "cosqa", *words)
    assert done.returncode == 0, done.stderr


def test_celery_loads_our_packages_though_it_looks_into_the_working_directory(site: Path) -> None:
    done = run_python(site, "-m", "cosqa", "admin", "celery", "report")
    assert done.returncode == 0, done.stderr
    assert "drain_llm" in done.stdout


def test_children_load_our_packages_too(site: Path) -> None:
    code = (
        "from cosqa.application import enter_application; enter_application(); import subprocess, sys\n"
        "child = 'import sandbox, retrieval; print(hasattr(sandbox, \"FOREIGN\"), retrieval.__file__)'\n"
        "print(subprocess.run([sys.executable, '-c', 'import sys; sys.path.pop(0)\\n' + child],"
        " capture_output=True, text=True, check=True).stdout)"
    )
    done = run_python(site, "-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("False"), done.stdout


@pytest.mark.parametrize("name", application.MODULES)
def test_a_foreign_package_that_is_loaded_already_is_named(site: Path, name: str) -> None:
    code = f"import {name}; from cosqa.application import enter_application as enter; enter()"
    done = run_python(site, "-c", code)
    assert done.returncode == 1
    assert f"ForeignPackage: Another package called '{name}' is loaded ({site / name}" in done.stderr


def test_a_notebook_keeps_its_path(site: Path) -> None:
    code = (
        "import json, sys; before = list(sys.path); from cosqa.application import application_first\n"
        "with application_first(): import sandbox\n"
        "print(json.dumps([sys.path == before, hasattr(sandbox, 'FOREIGN')]))"
    )
    done = run_python(site, "-c", code)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [True, False]


def test_a_module_without_a_file_is_placed_by_its_folder(tmp_path: Path) -> None:
    class Bare:
        __file__ = None
        __path__ = [str(tmp_path)]

    assert application.place_of(Bare()) == str(tmp_path)
    assert application.is_inside(Bare(), tmp_path)
    assert not application.is_inside(Bare(), tmp_path / "other")
