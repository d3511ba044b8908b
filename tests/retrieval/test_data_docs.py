"""docs/data.md's examples are whole: its files, imported by its commands, print and write what it says."""

from __future__ import annotations

import ast
import io
import pickle
import re
import shlex
import tarfile
import zipfile
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from cosqa.verbs import NAMED
from retrieval.evaluation.merge_rule import merge_rule_words
from retrieval.exporting.export_run import FORMATS as EXPORTS
from retrieval.management.formats import FORMATS
from retrieval.management.light import REFUSED_STATUS
from retrieval.models import Basis, Label, Member
from retrieval.sources.web import download
from tests.retrieval.sources.code.test_git import git

pytestmark = pytest.mark.django_db
DOC = Path(__file__).parents[2] / "docs" / "data.md"
KINDS = "file|pickle|console|written|archive|repository|web"
BLOCK = re.compile(rf"^```({KINDS}) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROMPT = "$ cosqa "


def test_every_example_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    web: dict[str, str] = {}
    monkeypatch.setattr(download, "_receive", lambda url, part, *rest: part.write_text(web[url], "utf-8"))
    commands = []
    for kind, name, content in BLOCK.findall(DOC.read_text("utf-8")):
        if kind == "console":
            for command, wanted in given(content):
                ended = performed(command)
                printed = [*capsys.readouterr().out.splitlines(), *ended]
                assert not ended or ended[0] in wanted, command
                assert [line for line in wanted if line not in printed] == [], command
                commands.append(command)
        elif kind == "written":
            lines = (tmp_path / name).read_text("utf-8").splitlines()
            assert [line for line in content.splitlines() if line not in lines] == [], name
        elif kind == "web":
            web[name] = content
        else:
            written(tmp_path, name, kind, content)
    before = Member.objects.count(), Label.objects.count()
    for command in commands:
        performed(command)
    assert (Member.objects.count(), Label.objects.count()) == before


def performed(command: str) -> list[str]:
    """What a command says at its end where it refuses a record."""
    try:
        call_command(*shlex.split(command))
    except CommandError as refused:
        if refused.returncode != REFUSED_STATUS:
            raise
        return [f"cosqa: {refused}"]
    return []


def test_every_basis_is_documented() -> None:
    section = DOC.read_text("utf-8").split("### How labels came about\n")[1].split("\n### ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == ["basis", *Basis.values]


def given(console: str) -> list[tuple[str, list[str]]]:
    """The application's commands of a block, each with the lines that it prints."""
    commands = (each.splitlines() for each in console.split(PROMPT) if each)
    return [(command_of(typed), wanted) for typed, *wanted in commands]


def command_of(typed: str) -> str:
    """What manage.py gets where this follows `cosqa`."""
    verb, _, rest = typed.partition(" ")
    return rest if verb == "admin" else " ".join([*NAMED[verb].command, rest]).strip()


def written(root: Path, name: str, kind: str, content: str) -> None:
    """A file as it stands, a pickle of what stands there, or files of before, packed or under Git."""
    path = root / name.partition(" ")[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pickle":
        path.write_bytes(pickle.dumps(ast.literal_eval(content), 2))
    elif kind in ("archive", "repository"):
        files = dict(line.split(" = ") for line in content.splitlines())
        held = {inside: (root / file).read_text("utf-8") for inside, file in files.items()}
        packed(path, held) if kind == "archive" else committed(path, name.partition(" ")[2], held)
    else:
        path.write_text(content, "utf-8")


def packed(path: Path, held: dict[str, str]) -> None:
    if path.suffix == ".gz":
        with tarfile.open(path, "w:gz") as sdist:
            for name, text in held.items():
                about = tarfile.TarInfo(name)
                about.size = len(text.encode())
                sdist.addfile(about, io.BytesIO(text.encode()))
    else:
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in held.items():
                archive.writestr(name, text)


def committed(path: Path, tag: str, held: dict[str, str]) -> None:
    path.mkdir()
    for name, text in held.items():
        (path / name).write_text(text, "utf-8")
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "one"], ["tag", tag]):
        git(path, *command)


def test_the_merge_rule_has_the_steps_of_the_code() -> None:
    """In its order, each told by the first words of its source."""
    steps = re.findall(r"^([1-5])\. (.+)$", DOC.read_text("utf-8").split("**merge rule**")[1], re.MULTILINE)
    beginnings = [one.partition(". ")[2] for one in merge_rule_words().partition(": ")[2].split("; ")]
    assert [text.startswith(start[:17]) for (_, text), start in zip(steps, beginnings, strict=True)] == [
        True
    ] * 5


def test_every_format_has_an_example() -> None:
    typed = re.findall(rf"^{re.escape(PROMPT)}(.+)$", DOC.read_text("utf-8"), re.MULTILINE)
    commands = map(command_of, typed)
    told = {tuple(command.split()[:2]) for command in commands}
    imports = {("import", name) for name in ("cosqa", "python", "qrels", "release", *FORMATS)}
    assert imports <= told
    assert {("export", name) for name in EXPORTS} <= told
    assert {"download", "extract", "evaluate", "ncs-report"} <= {command for command, _ in told}
