"""Names that a snippet lacks: marked in the highlighted code, listed by kind."""

from __future__ import annotations

import re

import pytest

from annotation.web.cases.code import code_of
from annotation.web.cases.names import mark_missing_names, names_of_snippet, names_view
from retrieval.filters.newer_syntax import format_version
from tests import factories

TEXT = """def f(self, x):
    é = np.zeros(x < 1) & os.x; y = "np"
    return self.size + f"{np} {helper}" + unicode(os)
"""


def lines(text: str) -> list[str]:
    return [str(line.html) for line in mark_missing_names(code_of(text, "Candidate", "c"), text).lines]


def test_each_place_is_marked_and_nothing_else() -> None:
    found = [
        re.findall(r'<span class="lacks ([\w-]+)" title="([^"]*)">(\w+)</span>', line) for line in lines(TEXT)
    ]

    assert found == [
        [],
        [("is-distribution", "known distribution: numpy", "np"), ("is-standard", "standard library", "os")],
        [
            ("is-self", "self attribute", "size"),
            ("is-distribution", "known distribution: numpy", "np"),
            ("is-project", "project name", "helper"),
            ("is-gone", "of Python 2, or removed since: str", "unicode"),
            ("is-standard", "standard library", "os"),
        ],
    ]


def test_marking_changes_no_character() -> None:
    plain = [re.sub(r"<[^>]*>", "", str(line.html)) for line in code_of(TEXT, "Candidate", "c").lines]

    assert [re.sub(r"<[^>]*>", "", line) for line in lines(TEXT)] == plain


def test_hostile_text_stays_escaped_and_unseen_characters_stay_visible() -> None:
    text = "def f():\n    return '<script>', evil, '\u202e', a\u200b\n"
    shown = "".join(lines(text))

    assert "<script>" not in shown
    assert "⟨U+202E⟩" in shown


def test_names_are_listed_by_kind_with_their_lines() -> None:
    view = names_view(TEXT)

    assert [kind["title"] for kind in view.kinds] == [
        "Standard library",
        "Known distributions",
        "Python 2 only, or removed since",
        "Project names",
        "Attributes of self",
    ]
    first = view.kinds[1]["names"][0]
    assert (first["name"], first["source"], first["lines"]) == ("np", "numpy", [(2, "#c-2"), (3, "#c-3")])
    assert (view.total, view.needs_project, view.said) == (5, True, True)


def test_what_lacks_nothing_says_nothing() -> None:
    assert not names_view("def f(x):\n    return x\n").said


def test_python_2_is_said_and_its_names_are_marked() -> None:
    text = "def f(x):\n    print os.path\n"

    assert "It was read as Python 2" in names_view(text).problem
    assert 'title="standard library">os<' in lines(text)[1]


def test_a_newer_python_is_called_one() -> None:
    """Not *Not Python 3*: a newer server reads it."""
    view = names_view("def f[T](x: T) -> T:\n    return x\n")

    assert view.heading == "Python 3.12 or newer" and view.looked_at
    assert view.problem == (
        f"It needs Python 3.12 or newer; {format_version()} runs here. Its names can't be checked."
    )


def test_exceptions_without_parentheses_may_be_of_two_pythons() -> None:
    view = names_view("def f():\n    try:\n        g()\n    except A, B:\n        return 1\n")

    assert view.heading == "Python 2, or Python 3.14 or newer"
    assert "Python 2, or needs Python 3.14 or newer" in view.problem


def test_what_no_python_reads_is_not_the_python_here() -> None:
    view = names_view("def f(:\n")

    assert view.heading == f"Not {format_version()}"
    assert view.problem.startswith(f"It is no {format_version()} (line 1")


def test_a_line_that_is_cut_keeps_the_marks_before_the_cut() -> None:
    text = "def f():\n    return os.x, " + "a, " * 800 + "zz\n"

    assert "is-standard" in lines(text)[1]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("source_id", "is_said"), [("a/b/m.js::f", False), ("a/b/m.py::f", True), ("17", True)]
)
def test_a_function_of_another_language_is_not_said_to_be_no_python(source_id: str, is_said: bool) -> None:
    made = factories.snippets(["function f(x) { return x.y; }"])
    made.members.update(source_id=source_id)
    assert names_of_snippet(made.members.get().text).said is is_said
