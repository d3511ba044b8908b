"""What a run of tests prints: lines of files, not dots."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = {
    "conftest.py": 'pytest_plugins = ["tests.progress"]\n',
    "test_good.py": "def test_a(): pass\n\ndef test_b(): pass\n",
    "test_bad.py": "import pytest\n\ndef test_c(): assert 1 == 2\n\n@pytest.mark.skip\ndef test_d(): pass\n",
}
PLAIN = "-p", "no:django", "-p", "no:randomly", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", "."
SECONDS = r" in \d+\.\d s"


def printed(folder: Path, *options: str) -> list[str]:
    """What pytest prints of these files before it sums up."""
    for name, text in FILES.items():
        (folder / name).write_text(text)
    command = [sys.executable, "-m", "pytest", *PLAIN, "-o", "console_output_style=classic", *options, "."]
    known = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=folder, env=known, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    lines = done.stdout.partition("= FAILURES")[0].splitlines()
    return [re.sub(SECONDS, "", line) for line in lines if re.search(r"test_\w+\.py", line)]


@pytest.mark.parametrize("workers", [(), ("-n", "2", "--dist", "loadfile")], ids=["alone", "workers"])
def test_each_file_has_one_line_when_it_is_over_and_a_failure_one_at_once(
    tmp_path: Path, workers: tuple[str, ...]
) -> None:
    found = printed(tmp_path, *workers)
    assert sorted(found) == [
        "FAILED test_bad.py::test_c",
        "test_bad.py 1 failed, 1 skipped",
        "test_good.py 2 passed",
    ]
    assert found.index("FAILED test_bad.py::test_c") < found.index("test_bad.py 1 failed, 1 skipped")


def test_asked_for_each_test_pytest_names_it_itself(tmp_path: Path) -> None:
    found = printed(tmp_path, "-v")
    assert any(line.startswith("test_good.py::test_a PASSED") for line in found)
    assert not any(re.fullmatch(r"test_good\.py 2 passed", line) for line in found)
