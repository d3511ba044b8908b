"""Documented functions of Python and Java, by CodeSearchNet's rules."""

import ast
from pathlib import Path

import pytest
import tree_sitter
from hypothesis import given
from hypothesis import strategies as st

from retrieval.filters.steps import Refusals
from retrieval.sources import GivenLabel, Problem, Query, Snippet
from retrieval.sources.code.documentation import first_paragraph
from retrieval.sources.code.extraction import (
    Function,
    _grammar,
    find_broken_rule,
    functions_of,
    read_documented_functions,
)
from retrieval.sources.code.files import SourceFile
from retrieval.sources.code.languages import LANGUAGES

PYTHON = '''
import functools

@functools.cache
def add(a, b):
    # before
    """Add two "numbers" é.

    Longer story.
    """
    total = a + b
    return total

class Pet:
    """Not a function's."""

    @property
    def name(self):
        """The name that it has.

        :param x: none
        """
        text = """
        stays
    here"""
        return text

    def __len__(self):
        """The length of a pet."""
        x = 1
        return x

    class Inner:
        def deep(self):
            """Not looked at at all."""
            x = 1
            return x

def test_add():
    """Adds two numbers well."""
    x = 1
    assert x

def short(a):
    """Give back the argument."""
    return a

def few(a):
    """Two words."""
    b = a
    return b

def nothing(a):
    """Does nothing at all."""

def gives_up(a):
    """Does nothing at all, loudly."""
    raise NotImplementedError
    return

def silent(a):
    b = a
    return b

def add(a):
    f"""Not a {a} docstring."""
    b = a
    return b
'''
RETURNED = '''def texts_of(request):
    """What is sent: rules and schema."""
    schema = 1
    return request.system, *(turn.text for turn in request.messages), schema
'''
JAVA = """
package a;
/** Of the class. */
public class Box<T> {
    /**
     * Puts a {@link Thing} <b>into</b> the box.
     * <p>More.
     * @param thing what
     */
    @Override
    public void put(T thing) {
        this.thing = thing;
        count++;
    }
    /** Makes a box of nothing. */
    public Box() { count = 0; }
    /** The text of the box. */
    public String toString() {
        String text = "";
        return text;
    }
    // A line is no documentation.
    int silent() {
        int x = 1;
        return x;
    }
}
enum Kind { A; /** The next kind of all. */ int next() {
    int x = 1;
    return x;
} }
"""


def source(text: str, name: str = "m.py") -> SourceFile:
    return SourceFile(name, text.encode(), "here", "MIT")


def kept(text: str, language: str, name: str = "m.py") -> dict[str, Function]:
    found = functions_of(source(text, name), language)
    return {function.qualified_name: function for function in found if not find_broken_rule(function)}


def why(text: str, language: str) -> dict[str, str | None]:
    return {
        function.qualified_name: find_broken_rule(function)
        for function in functions_of(source(text), language)
    }


def test_documented_python_functions() -> None:
    found = kept(PYTHON, "python")
    assert list(found) == ["add", "Pet.name"]
    assert (found["add"].question, found["add"].start, found["add"].end) == ('Add two "numbers" é.', 5, 12)
    assert found["add"].text.startswith("def add(a, b):\n    # before\n")
    assert found["Pet.name"].question == "The name that it has."
    assert found["Pet.name"].text.endswith('text = """\n        stays\n    here"""\n    return text')


def test_why_python_functions_are_refused() -> None:
    assert why(PYTHON, "python") == {
        "add": None,
        "Pet.name": None,
        "Pet.__len__": "special method",
        "test_add": "test in the name",
        "short": "fewer than 3 lines",
        "few": "fewer than 3 words of documentation",
        "nothing": "empty body",
        "gives_up": "empty body",
        "silent": "no documentation",
        "add#2": "no documentation",
    }
    assert not kept(PYTHON, "python", "tests/m.py")


def test_documented_java_methods_without_constructors() -> None:
    found = kept(JAVA, "java")
    assert {name: function.question for name, function in found.items()} == {
        "Box.put": "Puts a Thing into the box.",
        "Kind.next": "The next kind of all.",
    }
    assert found["Box.put"].text == (
        "@Override\npublic void put(T thing) {\n    this.thing = thing;\n    count++;\n}"
    )
    assert why(JAVA, "java") == {
        "Box.put": None,
        "Box.toString": "special method",
        "Box.silent": "no documentation",
        "Kind.next": None,
    }


def test_functions_with_an_error_are_refused_and_the_others_kept() -> None:
    text = PYTHON.replace("x = 1\n    assert x", "x = = (1") + "\ndef (:\n"
    assert list(kept(text, "python"))[:2] == ["add", "Pet.name"]
    assert why(text, "python")["test_add"] == "does not parse"


def test_valid_python_that_the_grammar_refuses_is_kept_as_pythons_parser_reads_it() -> None:
    text = '''class Request:
    def texts(self, schema):
        """What is sent to the model."""
        kept = """
    stays"""
        return (
            self.system, *(turn.text for turn in self.messages), kept
        )

    def after(self):
        """Follows the other one."""
        x = 1
        return self.system, *(x for x in self.turns), x
'''
    assert tree_sitter.Parser(_grammar("python")).parse(RETURNED.encode()).root_node.has_error
    found = kept(text + RETURNED, "python")
    assert list(found) == ["Request.texts", "Request.after", "texts_of"]
    assert [(one.start, one.end) for one in found.values()] == [(2, 8), (10, 13), (14, 17)]
    assert found["texts_of"].text == RETURNED.rstrip()
    assert found["Request.texts"].text.startswith('def texts(self, schema):\n    """What')
    assert '\n    stays"""\n    return (\n' in found["Request.texts"].text
    assert why(text + "print 1\n", "python")["Request.after"] == "does not parse", "no part of a valid file"


@pytest.mark.parametrize("codec", ["latin-1", "utf-8-sig"])
def test_a_file_is_read_in_the_encoding_that_it_declares(codec: str) -> None:
    code = 'def café(a):\n    """Give é back here."""\n    b = a\n    return b'
    declared = "" if codec == "utf-8-sig" else f"# coding: {codec}\n"
    (found,) = functions_of(SourceFile("m.py", (declared + code).encode(codec), "", ""), "python")
    assert (found.text, found.name, found.documentation) == (code, "café", "Give é back here.")


def test_reading_gives_labelled_pairs_and_counts_refusals(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(PYTHON)
    (tmp_path / "Box.java").write_text(JAVA)
    (tmp_path / "gone.py").symlink_to("nowhere.py")
    refusals = Refusals()
    items = list(read_documented_functions(tmp_path, "python", refusals))
    assert [type(item) for item in items] == [Problem, *[Query, Snippet, GivenLabel] * 2]
    query, snippet, label = items[1:4]
    assert label == GivenLabel('Add two "numbers" é.', snippet.text, 1)  # type: ignore[union-attr]
    assert query.source_id == snippet.source_id == "m.py::add"  # type: ignore[union-attr]
    step = refusals.steps["no documentation"]
    assert (step.refused, step.examples) == (2, ["m.py::silent", "m.py::add#2"])
    assert "  1 refused: special method (such as m.py::Pet.__len__)" in refusals.lines()
    assert len(list(read_documented_functions(tmp_path, "java", Refusals()))) == 6


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("B.java", "class B {\n  @@@ int g() { return 2; }\n  int h() { return 3; }\n}\n", "B.java, line 2"),
        ("m.py", "def f(a):\n    return a\n<<<<<<< HEAD\ndef g(a):\n    return a\n", "m.py, line 3"),
    ],
)
def test_what_does_not_parse_outside_of_functions_is_told(
    tmp_path: Path, name: str, text: str, told: str
) -> None:
    (tmp_path / name).write_text(text)
    refusals = Refusals()
    assert list(read_documented_functions(tmp_path, "java" if name == "B.java" else "python", refusals)) == []
    assert refusals.steps["part of a file that does not parse"].examples == [told]


@pytest.mark.parametrize("language", LANGUAGES)
@given(text=st.text(st.sampled_from("defclas (){}:;\n\t\"'/*@#\\x{é")))
def test_no_text_breaks_the_extraction(language: str, text: str) -> None:
    for function in functions_of(source(text), language):
        find_broken_rule(function)


def test_nesting_without_end_is_survived() -> None:
    deep = 'def f(a):\n    """Nested very deeply indeed."""\n    x = ' + "(" * 20_000 + "\n    return x\n"
    assert [function.name for function in functions_of(source(deep), "python")] in ([], ["f"])


@pytest.mark.parametrize("filling", ["*", " ", "{@a", "{@" + "a" * 1000, "<", "\n", "@", "/**"])
def test_hostile_comments_take_no_longer(filling: str) -> None:
    """Half a megabyte of what a careless expression would try in every way ends at once."""
    comment = "/** x " + filling * (500_000 // len(filling)) + " y */"
    list(functions_of(source(f"class A {{ {comment} int f() {{ return 1; }} }}"), "java"))
    first_paragraph(comment)


def test_moved_python_is_the_same_function() -> None:
    (moved,) = (f.text for f in functions_of(source(PYTHON), "python") if f.name == "name")
    original = next(
        n for n in ast.walk(ast.parse(PYTHON)) if isinstance(n, ast.FunctionDef) and n.name == "name"
    )
    function = ast.parse(moved).body[0]
    assert isinstance(function, ast.FunctionDef)
    assert [ast.dump(s) for s in function.body[1:]] == [ast.dump(s) for s in original.body[1:]]
