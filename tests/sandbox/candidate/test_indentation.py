"""An indent is taken off of a whole text or not at all, and never out of a string."""

from __future__ import annotations

import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.candidate.indentation import strip_code, take_off_indent

LINES = (
    "x = 1",
    "# note",
    "",
    "if x:\n{}y = 2",
    "for y in (1,\n      2):\n{}pass",
    "z = '''kept\n    {}as it is\n'''",
    'w = f"""{x}\n  kept"""',
    "v = 'a\\\n   b'",
    "@staticmethod\ndef inner(a):\n{}'''Say.\n\n{}More.'''\n{}return a",
    "u = x + \\\n  1",
)


@st.composite
def functions(draw: st.DrawFn) -> str:
    """A function that compiles, with strings of many lines, decorators and comments."""
    step = draw(st.sampled_from(["    ", "  ", "\t"]))
    chosen = draw(st.lists(st.sampled_from(LINES), max_size=5))
    body = [line.replace("{}", step).replace('f"""\t', 'f"""') for line in chosen]
    statements = "\n".join([*body, "return 1"])
    head = draw(st.sampled_from(["", "# first\n", "@property\n"])) + "def f(x):\n"
    return head + _indented(statements, step)


def _indented(code: str, indent: str) -> str:
    """`code` in a block: lines that begin inside a string stay, as an author would write them."""
    inside = {
        line
        for node in ast.walk(ast.parse(f"def _():\n{textwrap.indent(code, ' ')}"))
        if isinstance(node, ast.Constant | ast.JoinedStr)
        for line in range(node.lineno, node.end_lineno or 0)
    }
    lines = code.split("\n")
    return "\n".join(line if n in inside or not line else indent + line for n, line in enumerate(lines, 1))


def _meaning(code: str) -> str:
    """The tree of some code; docstrings count by their words."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = " ".join(str(node.value.value).split())
    return ast.dump(tree)


@given(
    code=functions(),
    indent=st.sampled_from(["    ", "\t", "  ", "\t    "]),
    tail=st.sampled_from(["", "\n", " \n\n"]),
)
def test_a_function_means_the_same_at_the_margin_and_indented_as_a_whole(
    code: str, indent: str, tail: str
) -> None:
    whole = _indented(code, indent) + tail
    for text in (code, "\n" + whole, whole):
        stored = strip_code(text)
        assert _meaning(stored) == _meaning(code)
        assert strip_code(stored) == stored


@given(st.text(alphabet="ab #'\"\\\t\r\n\f:=("))
def test_what_compiled_compiles(text: str) -> None:
    try:
        compile(text, "text", "exec")
    except (SyntaxError, ValueError):
        return
    compile(strip_code(text), "text", "exec")
    assert strip_code(strip_code(text)) == strip_code(text)


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("    @property\n    def a(self):\n        return 1\n", "@property\ndef a(self):\n    return 1"),
        ("\t@wraps\n\tdef f(x):\n\t\treturn x\n", "@wraps\ndef f(x):\n\treturn x"),
        ("    # note\n    def f(x):\n        return x", "# note\ndef f(x):\n    return x"),
        ("# note\n    def f(x):\n        return x", "# note\ndef f(x):\n    return x"),
        ("    def f(x):\n  # less\n        return x", "def f(x):\n  # less\n    return x"),
        ("    print 'old'\n    print x", "print 'old'\nprint x"),
        ("    if (a) {\n      b();\n    }", "if (a) {\n  b();\n}"),
        ("    cut(\n      off", "cut(\n  off"),
        ("  a question\nof two lines", "a question\nof two lines"),
        ("  how to sort ", "how to sort"),
        ("        a question\n    of two lines", "a question\nof two lines"),
        ("    s = '''cut\n    off", "    s = '''cut\n    off"),
        ("", ""),
        (" \n\t\n", ""),
    ],
)
def test_an_indent_goes_from_all_lines_or_from_none(text: str, stored: str) -> None:
    assert strip_code(text) == stored


def test_blank_lines_stay_where_only_the_indent_is_taken_off() -> None:
    assert take_off_indent("\n\n    x = 1\n    y = 2\n") == "\n\nx = 1\ny = 2\n"
