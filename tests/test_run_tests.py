"""What the targets of tests hand to pytest, told by a pytest that only notes it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests import conftest
from tests.annotation import conftest as annotation

ROOT = Path(__file__).resolve().parents[1]
NOTES = """#!/bin/sh
case "$*" in *nothing*) exit 5;; esac
echo "$@" >>notes
case "$*" in *broken*) exit 1;; esac
"""


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """The scripts in a repository without tests."""
    for name in ("run-tests", "browser-tests"):
        (tmp_path / "scripts").mkdir(exist_ok=True)
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts" / name)
    for name, text in {"scripts/need-chromium": "#!/bin/sh\n", ".venv/bin/pytest": NOTES}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def run(scripts: Path, *arguments: str) -> tuple[int, list[list[str]]]:
    """The status, and by call of pytest the paths that it was given."""
    command = [str(scripts / "scripts/run-tests"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    notes = scripts / "notes"
    lines = notes.read_text().splitlines() if notes.exists() else []
    calls = [line.replace("--ignore tests", "--ignore=tests").replace("./", "").split() for line in lines]
    return done.returncode, [[word for word in call if word.startswith("tests")] for call in calls]


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        ((), [["tests"], ["tests/e2e"]]),
        (("-k", "budget"), [["tests"], ["tests/e2e"]]),
        (("tests/",), [["tests"], ["tests/e2e"]]),
        (("tests/retrieval",), [["tests/retrieval"]]),
        (("./tests/retrieval/test_index.py::test_a", "-x"), [["tests/retrieval/test_index.py::test_a"]]),
        (("tests/e2e/test_live.py",), [["tests/e2e/test_live.py"]]),
        (("tests/site", "tests/e2e"), [["tests/site"], ["tests/e2e"]]),
        (("--quick",), [["tests"]]),
        (("--quick", "tests/site"), [["tests/site"]]),
        (("--postgres",), [["tests/annotation", "tests/bench", "tests/retrieval", "tests/site"]]),
        (("--postgres", "tests/annotation/builds"), [["tests/annotation/builds"]]),
    ],
)
def test_only_what_is_named_runs(scripts: Path, arguments: tuple[str, ...], paths: list[list[str]]) -> None:
    assert run(scripts, *arguments) == (0, paths)


def test_a_failure_of_one_part_fails_it_after_the_other_has_run(scripts: Path) -> None:
    status, found = run(scripts, "tests/site/broken.py", "tests/e2e")
    assert (status, len(found)) == (1, 2)


def test_a_part_without_a_test_is_no_failure_and_nothing_at_all_is_one(scripts: Path) -> None:
    assert run(scripts, "tests/nothing.py", "tests/e2e") == (0, [["tests/e2e"]])
    (scripts / "notes").unlink()
    assert run(scripts, "-k", "nothing") == (5, [])


@pytest.mark.parametrize(
    ("folder", "names"),
    [
        ("tests", conftest.LONGEST_FIRST),
        ("tests", conftest.PROCESSES),
        ("tests/annotation", annotation.OWN_SQL),
    ],
)
def test_what_is_put_in_order_or_left_out_by_name_is_there(folder: str, names: str) -> None:
    paths = [ROOT / folder / name for name in names.split()]
    assert [path for path in paths if not (path.is_dir() or path.with_suffix(".py").exists())] == []
