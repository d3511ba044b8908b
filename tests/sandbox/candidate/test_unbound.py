"""Which names a snippet uses and does not have, by kind, for Python 3 and for what is none."""

import json
from pathlib import Path

import pytest

from sandbox.candidate.unbound import LONGEST, MOST_NAMES, Kind, NamePlace, find_unbound_names

METHOD = '''def save(self, rows):
    """Save."""
    self.count = len(rows)
    self.total += self.count
    if not self.path:
        self.path = helper(rows)
    return super().save(os.path.join(self.path, cls_name))
'''
CLASS = """class A(Base):
    size = 1
    def f(self):
        self.x = self.size
        super().f()
    def g(self):
        return self.x + self.f() + self.y + self.__dict__
"""


def named(text: str) -> dict[str, Kind]:
    return {one.name: one.kind for one in find_unbound_names(text).names}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(x):\n    return os.path.join(x)\n", {"os": Kind.STANDARD}),
        ("def f(x):\n    return OrderedDict(x)\n", {"OrderedDict": Kind.STANDARD}),
        ("def f(x):\n    return np.zeros(x) + tf.ones(x)\n", dict.fromkeys(("np", "tf"), Kind.DISTRIBUTION)),
        ("def f(x: List[int]) -> Node:\n    pass\n", {"List": Kind.STANDARD, "Node": Kind.PROJECT}),
        ("def f(x):\n    return xrange(x), ttk.a\n", dict.fromkeys(("xrange", "ttk"), Kind.GONE)),
        ("@app.route('/')\ndef f(x=DEFAULT):\n    pass\n", dict.fromkeys(("app", "DEFAULT"), Kind.PROJECT)),
        ("def f(x):\n    log.info(x)\n    return logger\n", dict.fromkeys(("log", "logger"), Kind.PROJECT)),
        ("def f(x):\n    return log(x) + test(x)\n", {"log": Kind.STANDARD, "test": Kind.PROJECT}),
        ("from ..util import x\ndef f():\n    return x\n", {"..util": Kind.PROJECT}),
        (METHOD, {"os": Kind.STANDARD, "helper": Kind.PROJECT, "cls_name": Kind.PROJECT}
         | dict.fromkeys(("total", "path", "super()"), Kind.SELF)),
        (CLASS, {"Base": Kind.PROJECT, "y": Kind.SELF}),
    ],
)  # fmt: skip
def test_names_by_kind(text: str, names: dict[str, Kind]) -> None:
    assert named(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "def f(n):\n    return f(n - 1) if n else __name__\n",
        "def f(a, *b, c=1, **d):\n    e = [x for x in a if x]\n    return lambda y: (a, b, c, d, e, y)\n",
        "def f(rows):\n    if (n := len(rows)) and any((o := row) for row in rows):\n        return n, o\n",
        "def f():\n    global made\n    made = 1\ndef g():\n    return made\n",
        "def f(x):\n    import os.path, numpy as np\n    from json import loads\n    return os, np, loads\n",
        "def f(x):\n    try:\n        pass\n    except ValueError as why:\n        return why\n",
        "def f(x):\n    match x:\n        case {'a': a, **b}: b\n        case [c, *d] as e: e, d, a\n",
        "def f(x):\n    y: Tuple = x\n    return y\n",
        "def f(self):\n    self.a = 1\n    return self.a\n",
        "def f(x):\n    def g():\n        nonlocal x\n        x = 1\n    return {k: v for k, v in x}\n",
    ],
)
def test_what_is_bound_is_not_missing(text: str) -> None:
    assert find_unbound_names(text).names == ()


def test_a_name_of_a_class_is_not_seen_in_its_methods() -> None:
    assert named("class A:\n    size = 1\n    def f(self):\n        return size\n") == {"size": Kind.PROJECT}


def test_each_name_says_where_it_stands_and_where_it_comes_from() -> None:
    found = find_unbound_names("def f(x):\n    é = np.zeros(x); y = np.ones(self_.x)\n    return f'{np}'\n")

    assert [(one.name, one.source) for one in found.names] == [("np", "numpy"), ("self_", "")]
    assert found.names[0].places == (NamePlace(2, 8), NamePlace(2, 25), NamePlace(3, 14))
    assert find_unbound_names("def f(self):\n    return self.name\n").names[0].places == (NamePlace(2, 16),)


def test_everything_of_a_module_may_bring_the_names() -> None:
    found = find_unbound_names("from os import *\ndef f(x):\n    return getcwd() + x\n")

    assert found.stars == ("os",)
    assert not found.needs_project


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    print x, os.path\n",
        "def f(x):\n    print >>os.stderr, x\n    if x: print os.sep,\n",
        "def f(x):\n    try:\n        os.a\n    except (OSError, IOError), e:\n        raise E, 'no'\n",
        "def f(x):\n    exec x in os.environ\n    return `x`, 0777, 10L, ur'a'\n",
        "    def f(x):\n        return os.path\n",
        "def f(x):\n\tif x <> 1:\n                return os\n",
    ],
)
def test_python_2_is_read_and_said(text: str) -> None:
    found = find_unbound_names(text)

    assert found.read and found.problem.startswith("It is no Python 3.")
    assert "os" in named(text)


@pytest.mark.parametrize("text", ["def f(:", "x = '\0'", "(" * 500, "x " * (LONGEST // 2 + 1)])
def test_what_cannot_be_read_says_so(text: str) -> None:
    found = find_unbound_names(text)

    assert not found.read and found.names == ()
    assert found.problem


@pytest.mark.parametrize(
    ("text", "parsed"), [("def f(:", True), ("x " * (LONGEST // 2 + 1), False), ("a\n" * 90_000, False)]
)
def test_what_is_too_much_to_be_looked_at_is_not_called_another_language(text: str, parsed: bool) -> None:
    assert find_unbound_names(text).parsed is parsed


def test_a_flood_of_names_is_cut() -> None:
    found = find_unbound_names("\n".join(f"name_{number}" for number in range(MOST_NAMES + 5)))

    assert (len(found.names), found.more) == (MOST_NAMES, 5)


def test_a_chain_deeper_than_the_stack_is_read() -> None:
    assert set(named("def f():\n    return " + " + ".join(["a"] * 900))) == {"a"}


@pytest.mark.real_data
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::SyntaxWarning")
def test_most_real_functions_need_a_name(real_data: Path) -> None:
    """82.6 % of the 6,267 use a name that they do not have, 60.1 % one of their project or class.

    With what is commonly imported by name (`OrderedDict`), and Python 2's, counted as of the project: 63.7 %.
    """
    found = [
        find_unbound_names(text)
        for text in json.loads((real_data / "cosqa" / "code_idx_map.txt").read_text())
    ]

    assert [sum(not one.read for one in found), sum(bool(one.problem) for one in found)] == [1, 20]
    assert sum(bool(one.names) for one in found) / len(found) == pytest.approx(0.826, abs=0.01)
    assert sum(one.needs_project for one in found) / len(found) == pytest.approx(0.601, abs=0.015)
