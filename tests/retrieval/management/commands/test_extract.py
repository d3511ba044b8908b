"""`extract`: what CodeSearchNet gave with a function, from folders, wheels, sdists, zips and repositories."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from retrieval.collections.import_report import Options
from retrieval.collections.importer import import_items
from retrieval.models import Member
from retrieval.sources.formats import codesearchnet

CODE = '''def addTwo(first, second):
    """Add two numbers.

    Longer.
    """
    total = first + second
    return total
'''
METADATA = "Metadata-Version: 2.1\nName: small\nVersion: 1.0\nLicense: MIT\n"


def lines(capsys: pytest.CaptureFixture[str], *places: str) -> list[dict[str, object]]:
    call_command("extract", *places)
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_function_with_all_that_codesearchnet_gives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.py").write_text(f"# SPDX-License-Identifier: MIT\n{CODE}\ndef bare(x):\n    return x\n")
    call_command("extract", str(tmp_path))
    said = capsys.readouterr()
    (found,) = (json.loads(line) for line in said.out.splitlines())
    assert (found["path"], found["func_name"], found["licence"]) == ("m.py", "addTwo", "MIT")
    assert found["code"] == CODE.rstrip()
    assert found["code_tokens"][:4] == ["def", "addTwo", "(", "first"]
    assert found["identifier_subtokens"][:3] == ["def", "add", "two"]
    assert found["docstring_tokens"] == ["Add", "two", "numbers", "."]
    assert "1 refused: no documentation (such as m.py::bare)" in said.err


@pytest.mark.django_db
def test_what_is_extracted_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(CODE)
    out = tmp_path / "out.jsonl"
    call_command("extract", str(tmp_path / "m.py"), out=out)
    done = import_items(
        codesearchnet.read_codesearchnet([out], documentation=True), "here", "again", Options()
    )
    assert done.others is not None
    assert (done.others.labels, done.others.unreadable) == (1, 0)
    assert Member.objects.get(collection__kind="snippets").text.text == CODE.rstrip()


def test_half_an_emoji_in_a_docstring_is_marked(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(CODE.replace("Add two", r"Add \ud83d two"))
    out = tmp_path / "out.jsonl"
    call_command("extract", str(tmp_path / "m.py"), out=out)
    assert json.loads(out.read_text("utf-8"))["docstring"].startswith("Add ⟨U+D83D⟩ two numbers.")


def packed(kind: str, folder: Path) -> str:
    """The module in a wheel, an sdist, a zip or a repository, with its licence."""
    if kind == "wheel":
        path = folder / "small-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr("small/m.py", CODE)
            wheel.writestr("small-1.0.dist-info/METADATA", METADATA)
        return str(path)
    if kind == "sdist":
        path = folder / "small-1.0.tar.gz"
        with tarfile.open(path, "w:gz") as sdist:
            for name, text in (("small-1.0/small/m.py", CODE), ("small-1.0/PKG-INFO", METADATA)):
                entry = tarfile.TarInfo(name)
                entry.size = len(text.encode())
                sdist.addfile(entry, io.BytesIO(text.encode()))
        return str(path)
    if kind == "zip":
        path = folder / "small.zip"
        with zipfile.ZipFile(path, "w") as plain:
            plain.writestr("small/m.py", f"# SPDX-License-Identifier: MIT\n{CODE}")
        return str(path)
    return repository(folder)


def repository(folder: Path) -> str:
    (folder / "small").mkdir()
    (folder / "small" / "m.py").write_text(f"# SPDX-License-Identifier: MIT\n{CODE}")
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (
        ["init", "-q"],
        ["remote", "add", "origin", "https://github.com/a/small.git"],
        ["add", "."],
        [*who, "commit", "-qm", "x"],
    ):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    return f"git+{folder}"


@pytest.mark.parametrize("kind", ["wheel", "sdist", "zip", "git"])
def test_licence_and_origin_come_along(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = lines(capsys, packed(kind, tmp_path))
    assert found["licence"] == "MIT"
    assert "small" in str(found["url"])
    assert str(found["path"]).endswith("small/m.py")


def test_a_place_that_is_not_there() -> None:
    with pytest.raises(CommandError, match="There is no /nowhere"):
        call_command("extract", "/nowhere")


def test_what_was_written_is_counted_and_nothing_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.py").write_text(CODE)
    call_command("extract", str(tmp_path))
    assert capsys.readouterr().err == "1 function extracted\n"
    with pytest.raises(CommandError, match="no documented function of java"):
        call_command("extract", str(tmp_path), language="java")


def test_a_file_that_can_not_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"--out .*/out\.jsonl: No such file"):
        call_command("extract", str(tmp_path), out=tmp_path / "nowhere/out.jsonl")
