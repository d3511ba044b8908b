"""CodeSearchNet's pickles of all functions and of licences, and what of a folder is not read."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from retrieval.sources import GivenLabel, Problem, Query, Snippet
from retrieval.sources.formats.codesearchnet import read_codesearchnet
from retrieval.sources.formats.codesearchnet_places import find_skipped_files, read_licences

MIT = "The MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy"
APACHE = "Apache License\n Version 2.0, January 2004"


def definition(name: str = "f", **more: Any) -> dict[str, Any]:
    """A record as CodeSearchNet's process.py writes it."""
    return {
        "nwo": "a/b",
        "sha": "1",
        "path": "m.py",
        "language": "python",
        "identifier": name,
        "parameters": "(x)",
        "argument_list": "",
        "return_statement": "",
        "docstring": "",
        "docstring_summary": "",
        "docstring_tokens": [],
        "function": f"def {name}(x):\n    return x",
        "function_tokens": ["def", name, "(", "x", ")", ":", "return", "x"],
        "url": "https://github.com/a/b/blob/1/m.py#L1-L2",
        "score": 0.5,
        **more,
    }


def saved(path: Path, value: object, protocol: int = 3) -> Path:
    path.write_bytes(pickle.dumps(value, protocol))
    return path


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_functions_without_documentation_are_read_too(tmp_path: Path, protocol: int) -> None:
    told = definition("g", docstring="Return the x itself.\n\nMore.")
    path = saved(tmp_path / "python_dedupe_definitions_v2.pkl", [definition(), told], protocol)
    url = "https://github.com/a/b/blob/1/m.py#L1-L2"
    code = "def g(x):\n    return x"
    assert list(read_codesearchnet([path], True)) == [
        Snippet("def f(x):\n    return x", "a/b/m.py::f", url),
        Snippet(code, "a/b/m.py::g", url),
        Query("Return the x itself.", "a/b/m.py::g", url),
        GivenLabel("Return the x itself.", code, 1),
    ]


def test_licences_of_a_folder_stand_with_all_its_functions(tmp_path: Path) -> None:
    texts = [("a/b/docs/LICENSE", APACHE), ("a/b/LICENSE", MIT), ("a/b/LICENSE.txt", MIT)]
    saved(tmp_path / "python_licenses.pkl", {"a/b": texts, "c/d": [("c/d/COPYING", "ask us")]})
    saved(tmp_path / "python_dedupe_definitions_v2.pkl", [definition(), definition("h", nwo="c/d")])
    line = {"repo": "a/b", "path": "n.py", "func_name": "n", "language": "python", "code": "def n(): ..."}
    (tmp_path / "python_test_0.jsonl").write_text(json.dumps(line))
    found = [
        (item.source_id, item.licence) for item in read_codesearchnet([tmp_path]) if isinstance(item, Snippet)
    ]
    assert found == [("a/b/m.py::f", "MIT"), ("c/d/m.py::h", ""), ("a/b/n.py::n", "MIT")]


def test_several_licences_of_a_repository_all_have_to_hold(tmp_path: Path) -> None:
    licences: dict[str, str] = {}
    path = saved(tmp_path / "go_licenses.pkl", {"a/b": [("LICENSE.md", MIT), ("COPYING", APACHE)]})
    assert not list(read_licences(path, licences))
    assert licences == {"a/b": "MIT AND Apache-2.0"}


def test_what_a_folder_skips_is_named(tmp_path: Path) -> None:
    saved(tmp_path / "python_dedupe_definitions_v2.pkl", [definition()])
    for name in ("saved_model.pkl", "more.csv", "README.md"):
        (tmp_path / name).touch()
    problem, snippet = read_codesearchnet([tmp_path])
    assert isinstance(snippet, Snippet)
    assert isinstance(problem, Problem) and problem.message.startswith(
        "2 files not read: more.csv, saved_model.pkl. Functions are read from"
    )
    assert find_skipped_files(tmp_path / "more.csv") == []


def test_bad_records_and_damage_are_told_and_the_others_kept(tmp_path: Path) -> None:
    path = saved(tmp_path / "x_definitions.pkl", ["text", definition(language="cobol"), definition()])
    first, second, third = read_codesearchnet([path])
    assert "record 1: expected a dict of a function, found 'text'" in str(first)
    assert "\"language\" is 'cobol'" in str(second)
    assert isinstance(third, Snippet)
    path.write_bytes(path.read_bytes()[:-9])
    (cut,) = read_codesearchnet([path])
    assert "cannot be read beyond record 0: is a damaged pickle: EOFError" in str(cut)
    licences = saved(tmp_path / "x_licenses.pkl", [1, 2])
    assert "expected a repository with a list" in str(next(read_licences(licences, {})))
