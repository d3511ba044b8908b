"""`filters`: what each step keeps and refuses of a collection, with examples."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from retrieval.importing import Options, import_items
from retrieval.sources import Query, Snippet

pytestmark = pytest.mark.django_db
LONG = '''def total(prices, rate, region, month, year, table, key, extra):
    """Add up the prices of a month."""
    sum = rate * prices + region
    print(month, year, table, key)
    return sum + extra
'''
SNIPPETS = {
    "a.py::total": LONG,
    "b.py::total": LONG.replace("month", "week"),
    "a.py::name": "def name(self):\n    return self.x",
    "a.py::each": "def each(xs):\n    yield xs",
    "a.py::old": "def old(x):\n    print x",
}


@pytest.fixture(autouse=True)
def small() -> None:
    snippets = [Snippet(text, name) for name, text in SNIPPETS.items()]
    import_items(snippets, "here", "small", Options())


def test_each_step_with_counts_and_examples(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("filters", "small", "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["snippets"] == 5
    kept = {name: one["kept"] for name, one in found["testable"].items()}
    assert (kept["testable"], kept["testable with self"], kept["testable in any sense"]) == (2, 3, 4)
    assert found["not testable"]["self alone as input"] == {
        "refused": 1,
        "examples": ["a.py::name: def name(self):"],
    }
    assert found["codesearchnet"]["kept"] == 2
    assert found["codesearchnet"]["steps"]["does not parse"]["refused"] == 1
    assert found["duplicates"] == {
        "kept": 4,
        "refused": 1,
        "groups": 1,
        "examples": [["a.py::total", "b.py::total"]],
    }


def test_what_is_no_python_has_its_step(capsys: pytest.CaptureFixture[str]) -> None:
    items = [Snippet("<form>\n</form>", "1"), Snippet("x = f(10 PM)", "2"), Snippet("plt.plot(xs)", "3")]
    import_items(items, "here", "blocks", Options())
    call_command("filters", "blocks", "--json")
    found = json.loads(capsys.readouterr().out)["python"]
    assert found["kept"] == 0
    assert found["steps"]["other language"] == {"refused": 1, "examples": ["1: <form>"]}
    assert found["steps"]["incomplete snippet"]["refused"] == 2


def test_queries_have_filters_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("sort a list", "python sort lists", "tf.sort", "wie kann ich eine liste sortieren")
    import_items([Query(text, text) for text in asked], "here", "asked", Options())
    call_command("filters", "asked", "--kind", "queries", "--json")
    assert json.loads(capsys.readouterr().out) == {
        "collection": "asked (queries, version 1)",
        "queries": 4,
        "kept": 1,
        "steps": {
            "not English": {"refused": 1, "examples": ["wie kann ich eine liste sortieren"]},
            "bare identifier": {"refused": 1, "examples": ["tf.sort"]},
            "near-same as an earlier one": {"refused": 1, "examples": ["python sort lists"]},
        },
    }
    call_command("filters", "asked", "--kind", "queries")
    assert "  1 pass; refused:\n    1 not English\n" in capsys.readouterr().out


def test_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("filters", "small")
    said = capsys.readouterr().out
    assert "  3 are testable with self\n" in said
    assert "    1 yield without return of a value\n      a.py::each: def each(xs):\n" in said
    assert "    a.py::total = b.py::total\n" in said


def test_a_collection_that_is_not_there() -> None:
    with pytest.raises(CommandError, match="no collection of snippets called 'none'"):
        call_command("filters", "none")
