"""Functions and methods out of Python source, wherever it lies (`retrieval.sources.code.places`).

A snippet is a function's own text from `def` to its last line, moved to the left margin. Decorators are left
out, as in CodeSearchNet. The source id is `path/in/the/source.py::Class.name`; a name that is defined again
in one file gets `#2`, `#3`.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from retrieval.filters import Function, Unreadable, ast_lines, parse_snippet
from retrieval.sources import Problem, Record
from retrieval.sources.code import notebooks
from retrieval.sources.code.files import SPDX, SourceFile, find_first_group
from retrieval.sources.code.other_versions import FoundFunction, find_functions_by_grammar
from retrieval.sources.code.places import iterate_source_files
from retrieval.sources.readers.compression import UTF_8, encoding_of
from sandbox.candidate.syntax import FILE


def read_python_functions(place: Path | str) -> Iterator[Record | Problem]:
    """Yield the functions of a place, in order of path and line."""
    for file in iterate_source_files(place, (".py", notebooks.ENDING)):
        if isinstance(file, Problem):
            yield file
        elif file.name.endswith(notebooks.ENDING):
            yield from _functions_of_notebook(file)
        else:
            yield from functions_of(file)


def _functions_of_notebook(file: SourceFile) -> Iterator[Record | Problem]:
    """Yield the functions of a notebook's cells, of which each is read by itself."""
    seen = Counter[str]()
    for cell in notebooks.code_cells_of(file):
        if isinstance(cell, Problem):
            yield cell
            continue
        number, code = cell
        part = replace(
            file, content=code.encode("utf-8", "replace"), origin=file.link or file.origin, link=""
        )
        for found in functions_of(part, seen):
            if isinstance(found, Problem):
                found = replace(found, file=f"{found.file}, cell {number}")
            yield found


def functions_of(file: SourceFile, seen: Counter[str] | None = None) -> Iterator[Record | Problem]:
    """Yield the functions of one source file, or a `Problem` whose record is the line that cannot be read.

    A file for another Python is read by the grammar. `seen` counts the names that other parts had before.
    """
    try:
        code = _decoded(file.content)
        found = _functions_of_code(code)
    except Unreadable as error:
        yield Problem(f"{file.origin}: {file.name}", error.lineno, f"is not readable Python: {error.msg}")
        return
    licence = find_first_group(SPDX, code[:2000]) or file.licence  # what is taken from others says so itself
    seen = Counter[str]() if seen is None else seen
    for name, start, end, text in found:
        if text is None:
            message = f"{name} is not readable as Python of any version: it is left out"
            yield Problem(f"{file.origin}: {file.name}", start, message)
            continue
        seen[name] += 1
        again = f"#{seen[name]}" if seen[name] > 1 else ""
        place = f"{file.link}#L{start}-L{end}" if file.link else file.origin
        yield Record(text, f"{file.name}::{name}{again}", place, licence, "path and name")


def _functions_of_code(code: str) -> Iterable[FoundFunction]:
    """The functions of some code, in order. Raises `Unreadable`."""
    try:
        statements = parse_snippet(code, FILE)
    except Unreadable:
        found = find_functions_by_grammar(code)
        if found is None:
            raise
        return found
    lines = ast_lines(code)
    return (
        FoundFunction(name, node.lineno, node.end_lineno or node.lineno, _own_text(node, lines))
        for name, node in _functions(statements)
    )


class Cut(NamedTuple):
    """A function's own text, and the line on which it ends in its file."""

    text: str
    end: int


def in_utf8(content: bytes) -> bytes:
    """A source file as grammars read it, whatever encoding it declares; as it is where it can't be read."""
    try:
        return _decoded(content).encode()
    except (Unreadable, UnicodeEncodeError):
        return content


def cuts_of(content: bytes) -> dict[tuple[int, str], Cut]:
    """The functions of a source file by first line and name; none of one that Python can't parse."""
    try:
        code = _decoded(content)
        statements = parse_snippet(code, FILE)
    except Unreadable:
        return {}
    lines = ast_lines(code)
    return {
        (found.lineno, found.name): Cut(_own_text(found, lines), found.end_lineno or found.lineno)
        for _, found in _functions(statements)
    }


def _functions(statements: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, Function]]:
    """Find functions at the top and in classes, also under `if`, `for` and the like, not inside functions."""
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + statement.name, statement
        elif isinstance(statement, ast.ClassDef):
            yield from _functions(statement.body, f"{prefix}{statement.name}.")
        elif inside := _branches(statement):
            yield from _functions(inside, prefix)


def _branches(statement: ast.stmt) -> list[ast.stmt]:
    """The statements inside another one, in all of its branches; a simple one has none."""
    parts = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
    parts += [part.body for name in ("handlers", "cases") for part in getattr(statement, name, [])]
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
    """Decode a source file by its mark of byte order, or as it declares (PEP 263). Raises `Unreadable`."""
    try:
        marked = encoding_of(content[:4])
        encoding = tokenize.detect_encoding(io.BytesIO(content).readline)[0] if marked == UTF_8 else marked
        return content.decode(encoding).removeprefix("\ufeff")
    except (SyntaxError, LookupError, UnicodeError) as error:  # a codec may be none of texts, as rot13 is
        line = content.count(b"\n", 0, error.start) + 1 if isinstance(error, UnicodeDecodeError) else 1
        raise Unreadable(line, f"bad encoding: {error}; convert the file to UTF-8") from error
