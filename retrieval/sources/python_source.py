"""Functions and methods out of Python source: files, folders, wheels, zips, and the standard library.

A snippet is a function's own text from `def` to its last line, moved to the left margin. Decorators are left
out, as in CodeSearchNet. The source id is `path/in/the/source.py::Class.name`; a name that is defined again
in one file gets `#2`, `#3`.
"""

from __future__ import annotations

import ast
import io
import os
import re
import sysconfig
import tokenize
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from retrieval.filters import Function, Unreadable, ast_lines, parse
from retrieval.sources import Problem, Record

STDLIB = "stdlib"
STDLIB_LICENCE = "PSF-2.0"
FILE_LIMIT = 4 * 2**20
"""Bytes in one source file; longer ones are generated tables."""

ARCHIVES = (".whl", ".zip")
NO_SOURCE = frozenset({"__pycache__", "site-packages", "dist-packages", "node_modules"})
STDLIB_TESTS = frozenset({"test", "tests", "idle_test"})
SPDX = re.compile(r"SPDX-License-Identifier:[ \t]*([\w.+() -]+)")
METADATA_LICENCE = re.compile(r"^(?:License-Expression|License):[ \t]*(\S[^\r\n]{0,99})\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One source file as bytes; `name` is its path inside the source, with forward slashes."""

    name: str
    content: bytes
    origin: str
    licence: str


def read(place: Path | str) -> Iterator[Record | Problem]:
    """Yield the functions of a file, folder, wheel or zip, or of "stdlib", in order of path and line."""
    if str(place) == STDLIB:
        files = _folder(Path(sysconfig.get_paths()["stdlib"]), _python_name(), STDLIB_LICENCE, STDLIB_TESTS)
    else:
        files = _files(Path(place))
    for file in files:
        if isinstance(file, Problem):
            yield file
        else:
            yield from functions_of(file)


def functions_of(file: SourceFile) -> Iterator[Record | Problem]:
    """Yield the functions of one source file, or a `Problem` whose record is the line that cannot be read."""
    try:
        code = _decoded(file.content)
        statements = parse(code)
    except Unreadable as error:
        yield Problem(f"{file.origin}: {file.name}", error.lineno, f"is not readable Python: {error.msg}")
        return
    licence = file.licence or _first(SPDX, code[:2000])
    lines, seen = ast_lines(code), Counter[str]()
    for name, function in _functions(statements):
        seen[name] += 1
        again = f"#{seen[name]}" if seen[name] > 1 else ""
        yield Record(_own_text(function, lines), f"{file.name}::{name}{again}", file.origin, licence)


def _functions(statements: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, Function]]:
    """Find functions at the top and in classes, also under `if`, `try` and `with`, not inside functions."""
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + statement.name, statement
        elif isinstance(statement, ast.ClassDef):
            yield from _functions(statement.body, f"{prefix}{statement.name}.")
        elif isinstance(statement, ast.If | ast.Try | ast.TryStar | ast.With):
            yield from _functions(_branches(statement), prefix)


def _branches(statement: ast.If | ast.Try | ast.TryStar | ast.With) -> list[ast.stmt]:
    parts = [statement.body, getattr(statement, "orelse", []), getattr(statement, "finalbody", [])]
    parts += [handler.body for handler in getattr(statement, "handlers", [])]
    return [inner for part in parts for inner in part]


def _own_text(function: Function, lines: list[str]) -> str:
    """Cut a function out and take its indent away, except inside strings, whose value would change."""
    start, end = function.lineno - 1, function.end_lineno or function.lineno
    indent = lines[start][: len(lines[start]) - len(lines[start].lstrip(" \t"))]
    kept = _lines_in_strings(function)
    own = (
        line if number in kept else line.removeprefix(indent)
        for number, line in enumerate(lines[start:end], start + 1)
    )
    return "".join(own).rstrip()


def _lines_in_strings(function: Function) -> set[int]:
    """Number the lines that begin inside a string that is not the docstring."""
    docstring = function.body[0].value if isinstance(function.body[0], ast.Expr) else None
    strings = (
        node
        for node in ast.walk(function)
        if isinstance(node, ast.JoinedStr | ast.Constant) and node is not docstring
    )
    return {line for node in strings for line in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)}


def _decoded(content: bytes) -> str:
    """Decode a source file by its own declaration (PEP 263). Raises `Unreadable`."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return content.decode(encoding)
    except (SyntaxError, UnicodeDecodeError) as error:
        line = content.count(b"\n", 0, error.start) + 1 if isinstance(error, UnicodeDecodeError) else 1
        raise Unreadable(line, f"bad encoding: {error}") from error


def _files(place: Path) -> Iterator[SourceFile | Problem]:
    if place.is_dir():
        yield from _folder(place, place.resolve().name, "")
    elif place.suffix in ARCHIVES and place.is_file():
        yield from _archive(place)
    elif place.suffix == ".py" and place.is_file():
        yield _one_file(place, place.name, place.name, "")
    else:
        known = "a folder, a .py file, a .whl or .zip, or the word stdlib"
        yield Problem(
            str(place), 0, f"is not {known}" if place.exists() else f"does not exist; expected {known}"
        )


def _folder(
    root: Path, origin: str, licence: str, left_out: frozenset[str] = frozenset()
) -> Iterator[SourceFile | Problem]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in NO_SOURCE | left_out and not f.startswith("."))
        for name in sorted(names):
            if name.endswith(".py"):
                path = Path(folder, name)
                yield _one_file(path, path.relative_to(root).as_posix(), origin, licence)


def _one_file(path: Path, name: str, origin: str, licence: str) -> SourceFile | Problem:
    try:
        with path.open("rb") as stream:
            content = stream.read(FILE_LIMIT + 1)
    except OSError as error:
        return Problem(str(path), 0, f"cannot be read: {error.strerror or error}")
    return _within_limit(SourceFile(name, content, origin, licence))


def _within_limit(file: SourceFile) -> SourceFile | Problem:
    if len(file.content) > FILE_LIMIT:
        return Problem(
            f"{file.origin}: {file.name}", 0, f"is longer than {FILE_LIMIT:,} bytes and is skipped"
        )
    return file


def _archive(path: Path) -> Iterator[SourceFile | Problem]:
    try:
        with zipfile.ZipFile(path) as archive:
            licence = _archive_licence(archive)
            for info in sorted(archive.infolist(), key=lambda info: info.filename):
                if info.filename.endswith(".py"):
                    yield _member(archive, info, path.name, licence)
    except (OSError, zipfile.BadZipFile) as error:
        yield Problem(str(path), 0, f"is not a readable zip or wheel: {error}")


def _member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, origin: str, licence: str
) -> SourceFile | Problem:
    try:
        with archive.open(info) as stream:  # a zip bomb is read to the limit, whatever size it states
            content = stream.read(FILE_LIMIT + 1)
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        return Problem(f"{origin}: {info.filename}", 0, f"cannot be unpacked: {error}")
    return _within_limit(SourceFile(info.filename, content, origin, licence))


def _archive_licence(archive: zipfile.ZipFile) -> str:
    """Read what a wheel's METADATA states; empty for other zips."""
    for info in archive.infolist():
        path = PurePosixPath(info.filename)
        if path.name == "METADATA" and path.parent.suffix == ".dist-info":
            file = _member(archive, info, archive.filename or "", "")
            return (
                ""
                if isinstance(file, Problem)
                else _first(METADATA_LICENCE, file.content.decode("utf-8", "replace"))
            )
    return ""


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1].strip() if match else ""


def _python_name() -> str:
    return f"Python {sysconfig.get_python_version()} standard library"
