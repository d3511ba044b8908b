"""Which texts are the same code but for names, comments and docstrings."""

import ast
import json
import re
from pathlib import Path

import pytest

from sandbox.candidate.normal_form import LONGEST, normal_form

ADD = 'def add(a, b=1):\n    """Adds."""\n    total = a + b  # the sum\n    return total\n'


@pytest.mark.parametrize(
    "same",
    [
        "def plus(x, y=1):\n    r = x + y\n    return r\n",
        "def add(a, b=1):\n    # another comment\n\n    total = (a + b)\n    'a text'\n    return total",
    ],
)
def test_names_comments_and_docstrings_do_not_count(same: str) -> None:
    assert normal_form(same) == normal_form(ADD)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ADD, "def add(a, b=2):\n    total = a + b\n    return total\n"),
        (ADD, "def add(a, b=1):\n    total = b + a\n    return total\n"),
        (ADD, "def add(a, b=1):\n    total = a + b\n    return a\n"),
        ("def f(a):\n    return g(a)\n", "def f(a):\n    return h(a)\n"),
        ("def f(a):\n    return a.x\n", "def f(a):\n    return a.y\n"),
        ("def f():\n    return x + (lambda x: x)(1)\n", "def f():\n    return y + (lambda y: y)(1)\n"),
        ("def f(a):\n    return '%(a)s' % locals()\n", "def f(b):\n    return '%(a)s' % locals()\n"),
        ("class A:\n    x = 1\n    def f(self): pass\n", "class A:\n    y = 1\n    def f(self): pass\n"),
        ("def f():\n    global a\n    a = 1\n", "def f():\n    global b\n    b = 1\n"),
        ("def f(a, b):\n    return a\n", "def f(a, b):\n    return b\n"),
        ("def f():\n    import os as o\n    return o\n", "def f():\n    import re as o\n    return o\n"),
    ],
)  # fmt: skip
def test_what_means_something_else_differs(one: str, other: str) -> None:
    assert normal_form(one) != normal_form(other)


def test_a_name_counts_in_every_place_where_one_can_be() -> None:
    text = """
def f(a, *b, c=1, **d):
    def g():
        nonlocal a
        a = 1
    try:
        pass
    except ValueError as e:
        raise e
    match a:
        case [x, *y] as z:
            return x, y, z
        case {"k": k, **rest}:
            return k, rest
    import numpy as np
    return g, b, c, d, np
"""
    renamed = ast.unparse(ast.parse(text))
    for name in ("a", "b", "c", "d", "e", "f", "g", "x", "y", "z", "k", "rest", "np"):
        renamed = re.sub(rf"(?<!')\b{name}\b", f"{name}_", renamed)

    assert normal_form(renamed) == normal_form(text) is not None


@pytest.mark.parametrize(
    "text", ["print 1", "x = '\0'", "f(" * 5000, " + ".join(["a"] * 5000), "#" * (LONGEST + 1)]
)
def test_what_cannot_be_read_has_none(text: str) -> None:
    assert normal_form(text) is None


def test_an_empty_text_has_one() -> None:
    assert normal_form("") == normal_form("# nothing\n")


@pytest.mark.real_data
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::SyntaxWarning")
def test_few_real_functions_are_the_same(real_data: Path) -> None:
    """Of the 6,267 functions 20 have no form (Python 2), and 64 have that of another one."""
    forms = [normal_form(text) for text in json.loads((real_data / "cosqa" / "code_idx_map.txt").read_text())]
    known = [form for form in forms if form]

    assert len(forms) - len(known) == 20
    assert len(known) - len(set(known)) == 64
