"""Functions in the code cells of notebooks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.sources import Problem, Record
from retrieval.sources.code.files import SourceFile
from retrieval.sources.code.notebooks import code_cells_of
from retrieval.sources.code.python_source import read_python_functions


def cell(source: str | list[str], kind: str = "code") -> dict[str, Any]:
    return {"cell_type": kind, "source": source}


def saved(folder: Path, *cells: dict[str, Any]) -> Path:
    path = folder / "a.ipynb"
    path.write_text(json.dumps({"cells": cells, "nbformat": 4}))
    return path


def test_functions_of_code_cells_are_read_and_a_bad_cell_costs_the_others_nothing(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        cell("# def not_code(x): return x", "markdown"),
        cell(["%matplotlib inline\n", "!pip install x\n", "def f(x):\n", "    return x\n", "f?\n", "?f"]),
        cell("def broken(:"),
        cell("%%bash\nls def"),
        cell("%%time\ndef f(y):\n    return y % 2 if y else 'why?'\n"),
    )
    found = list(read_python_functions(path))
    assert [record.source_id for record in found if isinstance(record, Record)] == [
        "a.ipynb::f",
        "a.ipynb::f#2",
    ]
    assert [record.text for record in found if isinstance(record, Record)] == [
        "def f(x):\n    return x",
        "def f(y):\n    return y % 2 if y else 'why?'",
    ]
    (problem,) = (str(one) for one in found if isinstance(one, Problem))
    assert problem.startswith("a.ipynb: a.ipynb, cell 3, record 1: is not readable Python")


def test_a_string_that_looks_like_a_magic_stays(tmp_path: Path) -> None:
    code = 'def f(x):\n    """\n    Why?\n    %d items\n    """\n    return x'
    (record,) = read_python_functions(saved(tmp_path, cell(code)))
    assert isinstance(record, Record)
    assert record.text == code


def test_notebooks_lie_beside_other_sources(tmp_path: Path) -> None:
    saved(tmp_path, cell("def f(x): return x"))
    (tmp_path / "b.py").write_text("def g(x): return x")
    names = [one.source_id for one in read_python_functions(tmp_path) if isinstance(one, Record)]
    assert names == ["a.ipynb::f", "b.py::g"]


def test_older_notebooks_have_worksheets(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    code = {"cell_type": "code", "input": "def f(x): return x"}
    more = [{"cell_type": "code", "input": "def g(x): return x"}]
    path.write_text(json.dumps({"worksheets": [{"cells": [code]}, {"cells": more}]}))
    assert [one.text for one in read_python_functions(path) if isinstance(one, Record)] == [
        "def f(x): return x",
        "def g(x): return x",
    ]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"cells": 1}', '{"cells": [1]}', "[" * 100_000])
def test_what_is_no_notebook_is_told(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(content)
    (problem,) = read_python_functions(path)
    assert "is not a readable notebook: save it again in Jupyter" in str(problem)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.sampled_from(["cells", "cell_type", "source"]), inner)
        ),
    )
)
def test_any_json_is_read_or_told(value: object) -> None:
    file = SourceFile("a.ipynb", json.dumps(value).encode(), "a", "")
    assert all(isinstance(found, Problem | tuple) for found in code_cells_of(file))
