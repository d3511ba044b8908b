"""Source files of a Git repository at a revision, by the `git` command: `git+PATH_OR_URL[@REVISION]`.

A repository is hostile input too: no hook, filter or helper that it names is run, nothing is checked out, and
its files are read from its objects.
"""

from __future__ import annotations

import errno
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import quote, urlsplit

from retrieval.disk_space import is_full_disk
from retrieval.sources import Problem
from retrieval.sources.code import files
from retrieval.sources.code.files import SourceFile, is_licence, licence_of

MARK = "git+"
REMOTE = re.compile(r"[a-z][a-z0-9+.-]*://|[\w.-]+@[\w.-]+:")
SECRET = re.compile(r"(?<=://)[^/@\s]+@")
LIKE_SSH = re.compile(r"[\w.-]+@([\w.-]+):(.+)")
SAFE = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "protocol.ext.allow=never", "core.pager=cat")
REGULAR = ("100644", "100755")
LONGEST_PATH = 65_536


class GitFailed(Exception):
    """`git` is missing or refused; the message is what it said."""


def read_git_files(place: str, endings: tuple[str, ...]) -> Iterator[SourceFile | Problem]:
    """Yield the files that end in one of `endings`, by path. A URL is cloned into a temporary folder."""
    repository, revision = split_git_place(place)
    try:
        with _local(repository) as folder:
            commit = _run_git(
                folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
            )
            yield from _files(folder, commit, _web(repository, folder), place, endings)
    except GitFailed as failed:
        yield Problem(without_secret(place), 0, str(failed), costs_labels=True)


def split_git_place(place: str) -> tuple[str, str]:
    """Repository and revision; an @ before the path belongs to the repository.

    >>> split("git+ssh://git@example.org/a/b@v1"), split("git+git@example.org:a/b")
    (('ssh://git@example.org/a/b', 'v1'), ('git@example.org:a/b', 'HEAD'))
    """
    whole = place.removeprefix(MARK)
    before, at, revision = whole.rpartition("@")
    has_path = "/" in before.split("://")[-1]
    return (before, revision) if at and revision and has_path else (whole, "HEAD")


def without_secret(place: str) -> str:
    """A place without the name and password, or token, of whoever may read it.

    >>> without_secret("git+https://me:token@example.org/a/b@v1")
    'git+https://example.org/a/b@v1'
    """
    return SECRET.sub("", place) if place.startswith(MARK) else place


@contextmanager
def _local(repository: str) -> Iterator[Path]:
    if not REMOTE.match(repository):
        if not Path(repository).is_dir():
            raise GitFailed(f"there is no repository {repository}")
        yield Path(repository)
        return
    with tempfile.TemporaryDirectory(prefix="cosqa-git-") as folder:
        _run_git(Path(folder), "clone", "--bare", "--quiet", "--", repository, folder)
        yield Path(folder)


def _files(
    folder: Path, commit: str, web: str, place: str, endings: tuple[str, ...]
) -> Iterator[SourceFile | Problem]:
    origin = f"{web or Path(split_git_place(place)[0]).name}@{commit[:12]}"
    with _running(folder, "cat-file", "--batch") as objects:
        licence = _licence(folder, commit, objects)
        for mode, name_of_object, size, name in _tree(folder, commit):
            if not name.endswith(endings):
                continue
            if mode not in REGULAR:
                yield Problem(f"{origin}: {name}", 0, "is a link or a submodule and is skipped")
            elif size > files.FILE_LIMIT:
                message = f"is longer than {files.FILE_LIMIT:,} bytes and is skipped"
                yield Problem(f"{origin}: {name}", 0, message)
            else:
                link = f"{web}/blob/{commit}/{quote(name)}" if web else ""
                yield SourceFile(name, _content(objects, name_of_object), origin, licence, link)


def _tree(folder: Path, commit: str, *paths: str) -> Iterator[tuple[str, str, int, str]]:
    """Yield (mode, object, bytes, path) of a commit's entries, as they come."""
    recursive = () if paths else ("-r",)
    with _running(folder, "ls-tree", *recursive, "-l", "-z", "--full-tree", commit, *paths) as process:
        assert process.stdout
        waiting = b""
        while chunk := process.stdout.read(LONGEST_PATH):
            *entries, waiting = (waiting + chunk).split(b"\0")
            for entry in entries:
                about, _, path = entry.partition(b"\t")
                mode, _, name, size = about.decode().split()  # "-" of a submodule, "BAD" of what is missing
                yield mode, name, int(size) if size.isdigit() else 0, path.decode("utf-8", "replace")
        if process.wait():
            raise GitFailed(
                f"git ls-tree failed: of {commit[:12]} not all is there; is the clone a partial one?"
            )


def _content(objects: subprocess.Popen[bytes], name: str) -> bytes:
    assert objects.stdin
    assert objects.stdout
    objects.stdin.write(f"{name}\n".encode())
    objects.stdin.flush()
    header = objects.stdout.readline().split()
    if len(header) != 3:
        raise GitFailed(f"object {name} is missing; is the clone a partial one?")
    return _exactly(objects.stdout, int(header[2]) + 1)[:-1]


def _exactly(stream: IO[bytes], size: int) -> bytes:
    content = stream.read(size)
    if len(content) < size:
        raise GitFailed("the repository ends too soon: is it damaged?")
    return content


def _licence(folder: Path, commit: str, objects: subprocess.Popen[bytes]) -> str:
    """Of the licence at the root."""
    for mode, name, size, path in _tree(folder, commit, "."):
        if mode in REGULAR and size <= files.FILE_LIMIT and is_licence(path):
            return licence_of(_content(objects, name).decode("utf-8", "replace"))
    return ""


def _web(repository: str, folder: Path) -> str:
    """Where people read the repository, without anybody's password; empty where nobody knows."""
    url = repository
    if not REMOTE.match(url):
        try:
            url = _run_git(folder, "config", "--get", "remote.origin.url")
        except GitFailed:
            return ""
    if ssh := LIKE_SSH.fullmatch(url):
        return f"https://{ssh[1]}/{ssh[2].removesuffix('.git')}"
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https", "ssh") or not parts.hostname:
        return ""
    return f"https://{parts.hostname}{parts.path.rstrip('/').removesuffix('.git')}"


def _command(folder: Path, *arguments: str) -> list[str]:
    return ["git", "-C", str(folder), *(part for setting in SAFE for part in ("-c", setting)), *arguments]


def _surroundings() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
        "LC_ALL": "C",
    }


def _run_git(folder: Path, *arguments: str) -> str:
    """What git prints. Raises GitFailed, and OSError where the disk is full."""
    try:
        done = subprocess.run(
            _command(folder, *arguments),
            check=False,
            capture_output=True,
            env=_surroundings(),
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise GitFailed(f"git cannot be run: {error.strerror or error}; install git") from error
    if done.returncode:
        if is_full_disk(OSError(done.stderr)):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
        why = done.stderr.strip().splitlines()[-1:] or [
            f"there is no {arguments[-1].removesuffix('^{commit}')}"
        ]
        raise GitFailed(f"git {arguments[0]} failed: {why[0][:300]}")
    return done.stdout.strip()


@contextmanager
def _running(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A `git` that is asked or listened to; it ends with the context."""
    process = subprocess.Popen(
        _command(folder, *arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_surroundings(),
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
