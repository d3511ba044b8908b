"""`filters`: what each step keeps and refuses of a collection, with examples."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from retrieval.collections.import_report import Options
from retrieval.collections.importer import import_items
from retrieval.models import Collection
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


def test_an_id_that_is_no_path_tells_of_no_tests(capsys: pytest.CaptureFixture[str]) -> None:
    named = {"test-12": LONG, "tests/m.py::total": LONG.replace("month", "week"), "a/test.py": LONG + "#"}
    import_items([Snippet(text, name) for name, text in named.items()], "here", "ids", Options())
    call_command("filters", "ids", "--json")
    found = json.loads(capsys.readouterr().out)["codesearchnet"]
    assert (found["kept"], found["steps"]["test in the path"]["refused"]) == (1, 2)


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
    assert "  0 may be passed on by their licence; refused:\n    5 no stated licence\n" in said
    assert "    1 yield without return of a value\n      a.py::each: def each(xs):\n" in said
    assert "    a.py::total = b.py::total\n" in said


def test_nothing_is_announced_that_does_not_follow(capsys: pytest.CaptureFixture[str]) -> None:
    import_items([Snippet("def add(x):\n    return x", "a.py::add")], "here", "one", Options())
    call_command("filters", "one")
    said = capsys.readouterr().out.splitlines()
    assert "  1 are Python that works on its own" in said
    assert "  1 without duplicates; 0 groups of more than one" in said


def test_a_collection_that_is_not_there() -> None:
    with pytest.raises(CommandError, match="no collection of functions called 'none'"):
        call_command("filters", "none")


def made(name: str, filters: str, **more: str) -> Collection:
    call_command("filters", more.pop("of", "small"), make=name, names=filters, **more)
    return Collection.objects.filter(name=name).latest("version")


def sources(found: Collection) -> list[str]:
    return list(found.members.order_by("position").values_list("source_id", flat=True))


def test_what_passes_becomes_a_collection_that_says_what_was_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = made("tested", "distinct,testable,python")
    assert sources(found) == ["a.py::total"]
    assert list(found.members.values_list("rules", flat=True)) == [
        Collection.objects.get(name="small").members.get(position=0).rules
    ]
    assert capsys.readouterr().out == (
        "tested (functions, version 1): 1 of 5 of small (functions, version 1)\n"
        "  3 refused: testable\n  0 refused: python\n  1 refused: distinct\n"
    )
    assert found.source == "what passes testable, python, distinct of small (functions, version 1)"
    assert Collection.objects.get(name="small").size == 5


def test_what_may_be_passed_on_becomes_a_collection(capsys: pytest.CaptureFixture[str]) -> None:
    licences = ("The MIT License (MIT)", "CC-BY-NC-4.0", "", "Apache 2.0")
    items = [
        Snippet(f"def f{place}(x):\n    return x", str(place), "", one) for place, one in enumerate(licences)
    ]
    import_items(items, "here", "licensed", Options())
    found = made("free", "testable,redistributable", of="licensed")
    assert (sources(found), (found.filtered or {})["refused"]) == (
        ["0", "3"],
        {"testable": 0, "redistributable": 2},
    )
    call_command("filters", "licensed", "--json")
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["redistributable"] == {
        "kept": 2,
        "steps": {
            "a licence that is not known to allow passing on": {
                "refused": 1,
                "examples": ["CC-BY-NC-4.0 1: def f1(x):"],
            },
            "no stated licence": {"refused": 1, "examples": ["2: def f2(x):"]},
        },
    }


def test_codesearchnets_rules_alone_keep_both_duplicates() -> None:
    assert sources(made("documented", "codesearchnet")) == ["a.py::total", "b.py::total"]


def test_made_again_it_is_the_same_and_a_cut_off_one_is_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrieval.collections.derivation.MEMBERS_A_TIME", 1)
    first = made("more", "testable_in_any_sense")
    assert (first.size, sources(first)) == (4, ["a.py::total", "b.py::total", "a.py::name", "a.py::each"])
    first.members.filter(position__gte=2).delete()
    Collection.objects.filter(pk=first.pk).update(size=2)
    again = made("more", "testable_in_any_sense")
    assert (again.pk, again.size, sources(again)) == (first.pk, 4, sources(again))
    import_items([Snippet("def f(x):\n    return x", "new")], "here", "small", Options())
    assert (made("more", "testable_in_any_sense").version, made("more", "testable").version) == (2, 3)


def test_queries_become_a_collection_too() -> None:
    asked = ("python sort lists", "sort a list", "tf.sort", "wie kann ich eine liste sortieren")
    import_items([Query(text, text) for text in asked], "here", "asked", Options())
    found = made("chosen", "english,no_identifier,distinct", of="asked", kind="queries")
    assert sources(found) == ["python sort lists"]
    assert found.filtered is not None
    assert found.filtered["refused"] == {"english": 1, "no_identifier": 1, "distinct": 1}


@pytest.mark.parametrize(
    ("name", "filters", "why"),
    [
        ("tested", "best", "no filter is called best"),
        ("small", "testable", "imported collection called 'small'"),
        ("", "testable", "--make NAME and --pass FILTERS together"),
        ("x" * 121, "testable", "1 to 120 characters"),
        ("none", "codesearchnet,testable_with_yield,python", "Nothing of"),
    ],
)
def test_what_can_not_be_made_is_said(name: str, filters: str, why: str) -> None:
    if why == "Nothing of":
        Collection.objects.get(name="small").members.filter(position__lt=2).delete()
    with pytest.raises(CommandError, match=why):
        call_command("filters", "small", make=name, names=filters)


def test_nothing_is_imported_into_what_was_filtered(tmp_path: Path) -> None:
    made("tested", "testable")
    (tmp_path / "more.py").write_text("def f(x):\n    return x\n")
    with pytest.raises(CommandError, match="holds what passed filters"):
        call_command("import", "python", str(tmp_path / "more.py"), name="tested")
