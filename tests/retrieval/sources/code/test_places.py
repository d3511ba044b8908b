"""Folders: links that lead out and what is no file are refused; the licence at the root is known."""

import errno
import os
from pathlib import Path

import pytest

from retrieval.filters.steps import Refusals
from retrieval.sources import Problem, Record
from retrieval.sources.code import extraction, python_source
from retrieval.sources.code.files import SourceFile
from retrieval.sources.code.places import is_path, iterate_source_files


def test_links_inside_are_followed_and_those_that_lead_out_are_not(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.py").write_text("x = 1")
    (root / "b.py").symlink_to("a.py")
    (tmp_path / "secret.py").write_text("password = 1")
    (root / "c.py").symlink_to("../secret.py")
    os.mkfifo(root / "d.py")
    (root / "COPYING.txt").write_text("Mozilla Public License\nVersion 2.0")
    first, second, out, pipe = iterate_source_files(root)
    assert [first, second] == [SourceFile(name, b"x = 1", "root", "MPL-2.0") for name in ("a.py", "b.py")]
    assert isinstance(out, Problem)
    assert "is a link out of the folder" in str(out)
    assert "is no regular file" in str(pipe)


def test_a_folder_that_is_a_link_out_is_told_and_one_inside_is_read_once(tmp_path: Path) -> None:
    root, other = tmp_path / "root", tmp_path / "other"
    (root / "own").mkdir(parents=True)
    other.mkdir()
    (root / "own/a.py").write_text("x = 1")
    (other / "b.py").write_text("x = 1")
    (root / "again").symlink_to("own")
    (root / "out").symlink_to(other)
    out, file = iterate_source_files(root)
    assert str(out) == f"{root}/out: is a link out of the folder and is skipped"
    assert isinstance(file, SourceFile) and file.name == "own/a.py"


def test_a_file_that_states_its_licence_is_under_that(tmp_path: Path) -> None:
    (tmp_path / "LICENSE").write_text("Mozilla Public License\nVersion 2.0")
    code = 'def f(a):\n    """Give it back here."""\n    b = a\n    return b\n'
    (tmp_path / "own.py").write_text(code)
    (tmp_path / "taken.py").write_text(f"# SPDX-License-Identifier: CC-BY-NC-4.0\n{code}")
    functions = [
        found for found in python_source.read_python_functions(tmp_path) if isinstance(found, Record)
    ]
    documented = list(extraction.extract_functions(tmp_path, "python", Refusals()))
    expected = ["MPL-2.0", "CC-BY-NC-4.0"]
    assert [found.licence for found in functions] == expected
    assert [found.licence for found in documented if not isinstance(found, Problem)] == expected


def test_a_folder_that_cannot_be_listed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shut").mkdir()
    (tmp_path / "open.py").write_text("x = 1")
    listed = os.scandir

    def refusing(path: str) -> object:
        if Path(path).name == "shut":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", refusing)
    file, problem = iterate_source_files(tmp_path)
    assert isinstance(file, SourceFile) and file.name == "open.py"
    assert str(problem) == f"{tmp_path}/shut: cannot be read: Permission denied"


def test_places_that_are_no_paths() -> None:
    assert [is_path(place) for place in ("stdlib", "git+https://h/r", "src", Path("git"))] == [
        False,
        False,
        True,
        True,
    ]
