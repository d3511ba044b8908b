"""The harness as one file: all of it is there, loads in its order, and is apart from the program's names."""

import marshal
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.backends.interpreter import harness_files
from sandbox.harness.bundle import pack

LOADED = """
import builtins, marshal, sys
load, parts = marshal.loads(open(sys.argv[1], "rb").read())
exec(load, {"parts": parts})
from sandbox.harness.child import run
from sandbox.harness.recorder import Recorder
for function in (run, Recorder.begin):
    assert function.__builtins__ is run.__builtins__ is not vars(builtins)
    assert function.__builtins__["len"] is len
print(run.__code__.co_filename)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sandbox").mkdir()
    (tmp_path / "sandbox" / "__init__.py").write_text("")
    for name, text in harness_files().items():
        path = tmp_path / "sandbox" / "harness" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    pack(str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("entry", ["supervisor", "fork_server"])
def test_a_bundle_has_what_its_entry_needs_and_nothing_else(entry: str, folder: Path) -> None:
    _, parts = marshal.loads((folder / "sandbox" / f"{entry}.bundle").read_bytes())
    names = [name for name, _ in parts]
    assert names[:2] == ["sandbox", "sandbox.harness"] and names[-1] == f"sandbox.harness.{entry}"
    assert len(set(names)) == len(names)
    assert "sandbox.harness.trace.tracer" in names and "sandbox.harness.bundle" not in names
    assert ("sandbox.harness.fork_server" in names) is (entry == "fork_server")


def test_what_is_loaded_looks_up_built_in_names_in_a_place_of_its_own(folder: Path) -> None:
    bundle = folder / "sandbox" / "supervisor.bundle"
    command = [sys.executable, "-I", "-S", "-c", LOADED, str(bundle)]
    told = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    assert told.stdout == "/harness/sandbox/harness/child.py\n"
