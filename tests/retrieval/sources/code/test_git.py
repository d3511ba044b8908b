"""A Git repository at a revision: read from its objects, with links, and nothing of it is run."""

import os
import subprocess
from pathlib import Path

import pytest

from retrieval.disk_space import is_full_disk
from retrieval.sources import Problem, Record
from retrieval.sources.code.git import split_git_place, without_secret
from retrieval.sources.code.python_source import read_python_functions

OLD, NEW = "def f(a): return a", "def f(a):\n    return a + 1"


def git(folder: Path, *arguments: str) -> str:
    settings = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    surroundings = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-C", str(folder), *settings, *arguments]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, env=surroundings
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    (root / "pkg").mkdir(parents=True)
    git(root, "init", "--quiet")
    (root / "pkg" / "m é.py").write_text(OLD)
    (root / "LICENSE").write_text("Apache License\nVersion 2.0")
    (root / "link.py").symlink_to("/etc/passwd")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "one")
    git(root, "tag", "v1")
    (root / "pkg" / "m é.py").write_text(NEW)
    git(root, "commit", "--quiet", "-am", "two")
    (root / "pkg" / "m é.py").write_text("def not_committed(a): return a")
    return root


def test_functions_of_a_revision_with_licence_and_origin(repository: Path) -> None:
    commit = git(repository, "rev-parse", "v1^{commit}")
    (problem, record) = read_python_functions(f"git+{repository}@v1")
    assert record == Record(OLD, "pkg/m é.py::f", f"work@{commit[:12]}", "Apache-2.0")
    assert "link.py: is a link or a submodule" in str(problem)


def test_the_newest_commit_and_the_link_of_its_lines(repository: Path) -> None:
    git(repository, "remote", "add", "origin", "https://user:secret@github.com/a/b.git")
    commit = git(repository, "rev-parse", "HEAD")
    (record,) = (found for found in read_python_functions(f"git+{repository}") if isinstance(found, Record))
    assert (record.text, record.origin) == (
        NEW,
        f"https://github.com/a/b/blob/{commit}/pkg/m%20%C3%A9.py#L1-L2",
    )


def test_a_url_is_cloned_and_leaves_nothing(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    records = [
        found for found in read_python_functions(f"git+file://{repository}@v1") if isinstance(found, Record)
    ]
    assert [record.text for record in records] == [OLD]
    assert not list(scratch.iterdir())


def test_what_a_repository_names_is_not_run(repository: Path, tmp_path: Path) -> None:
    """A monitor, a hook and a text conversion of the repository's own would each leave a file."""
    trap = f"touch {tmp_path}/was-run;"
    git(repository, "config", "core.fsmonitor", trap)
    git(repository, "config", "filter.x.smudge", trap)
    git(repository, "config", "diff.x.textconv", trap)
    (repository / ".gitattributes").write_text("*.py filter=x diff=x export-ignore\n")
    assert len(list(read_python_functions(f"git+{repository}@v1"))) == 2
    assert not (tmp_path / "was-run").exists()


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("@nowhere", "git rev-parse failed: there is no nowhere"),
        ("@--help", "there is no --help"),
        ("/gone", "there is no repository"),
    ],
)
def test_what_is_not_there_is_one_problem(repository: Path, place: str, said: str) -> None:
    (problem,) = read_python_functions(f"git+{repository}{place}")
    assert isinstance(problem, Problem)
    assert said in problem.message


@pytest.mark.parametrize(
    ("gone", "said"),
    [("HEAD:b", "git ls-tree failed: of "), ("HEAD:b/m.py", "is missing; is the clone a partial")],
)
def test_what_a_damaged_repository_lacks_is_told(tmp_path: Path, gone: str, said: str) -> None:
    git(tmp_path, "init", "--quiet")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.py").write_text(f"def {name}(x): return x")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "one")
    name = git(tmp_path, "rev-parse", gone)
    (tmp_path / ".git" / "objects" / name[:2] / name[2:]).unlink()
    record, problem = read_python_functions(f"git+{tmp_path}")
    assert isinstance(record, Record) and record.source_id == "a/m.py::a"
    assert said in str(problem)


def test_a_helper_of_the_url_is_refused(tmp_path: Path) -> None:
    (problem,) = read_python_functions(f"git+ext::sh -c touch% {tmp_path}/was-run/@x")
    assert isinstance(problem, Problem)
    (problem,) = read_python_functions(f"git+ext://sh -c touch% {tmp_path}/was-run/@x")
    assert "git clone failed" in str(problem)
    assert not (tmp_path / "was-run").exists()


def test_without_git_the_message_says_so(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    (problem,) = read_python_functions(f"git+{repository}")
    assert "install git" in str(problem)


def test_nobody_is_told_a_token() -> None:
    (problem,) = read_python_functions("git+https://me:token@127.0.0.1:1/a/b@v1")
    assert "token" not in str(problem) and str(problem).startswith(
        "git+https://127.0.0.1:1/a/b@v1: git clone failed"
    )
    assert without_secret("https://a@b/c") == "https://a@b/c", "a folder may be called so"


def test_revisions_come_after_the_path() -> None:
    assert split_git_place("git+https://h/o/r@v1") == ("https://h/o/r", "v1")
    assert split_git_place("git+ssh://git@h/o/r") == ("ssh://git@h/o/r", "HEAD")
    assert split_git_place("git+git@h:o/r@main") == ("git@h:o/r", "main")
    assert split_git_place("git+/a/b@feature/x") == ("/a/b", "feature/x")


def test_a_clone_on_a_full_disk_is_no_missing_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "git"
    script.write_text("#!/bin/sh\necho 'fatal: write error: No space left on device' >&2\nexit 128\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(OSError, match="No space left on device") as why:
        list(read_python_functions("git+https://example.org/a/b"))
    assert is_full_disk(why.value)
