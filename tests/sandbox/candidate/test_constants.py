import ast

import pytest

from sandbox.candidate.constants import find_constants, find_declared_globals, find_results

CANDIDATE = "def f(x):\n    return x\n"


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("WANTED = [1]\nassert f(1) == WANTED\n", ("WANTED",)),
        ("CASES = [([1], 1)]\nfor given, wanted in CASES:\n    assert f(given) == wanted\n", ("CASES",)),
        ("CASES = [([1], 1)]\nfor given, wanted in CASES:\n    given.append(2)\n", ()),
        ("SEEN = []\nf(SEEN.append)\n", ()),
        ("SEEN = []\ndef note(x):\n    SEEN.append(x)\n", ()),
        (
            "D = {1: [1]}\ndef check(k, v):\n    assert f(k) == v\nfor k, v in D.items():\n    check(k, v)\n",
            ("D",),
        ),
        ("D = [1]\nhelp_with(D)\n", ()),
        ("import sys\nPATH = sys.path\nassert f(1) == PATH\n", ()),
        ("D = [1]\nD = [2]\n", ()),
        ("D = [1]\nother = D\nother[0] = 2\n", ()),
        ("x = 1\n", ()),
    ],
)
def test_what_a_program_only_reads(source: str, names: tuple[str, ...]) -> None:
    candidate = ast.parse(f"{CANDIDATE}def g():\n    global x\n    x = 2\n")
    assert find_constants(ast.parse(source), candidate, frozenset({"f", "g"})) == names


def test_results_are_what_is_bound_by_way_of_the_candidate() -> None:
    tree = ast.parse("a = f(1)\nfor b in a:\n    c = b\nd = 1\nwith f(2) as e:\n    pass\n")
    assert find_results(tree, frozenset({"f"})) == {"f", "a", "b", "c", "e"}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (
            "class T:\n    WANTED = [1]\n    def test(self):\n        assert f(1) == self.WANTED\n",
            ("T.WANTED",),
        ),
        ("class T:\n    SEEN = []\n    def note(self, x):\n        self.SEEN.append(x)\n", ()),
        ("class T:\n    WANTED = [1]\n    def test(self):\n        self.WANTED = [2]\n", ()),
        (
            "class T:\n    def setUpClass(cls):\n        cls.wanted = [1]\nassert f(1) == T.wanted\n",
            ("T.wanted",),
        ),
        ("class named:\n    VALUE = [1]\nassert f(1) == named.VALUE\n", ()),
        (
            "class named:\n    VALUE = [1]\n    def test(self):\n        assert f(1) == self.VALUE\n",
            ("named.VALUE",),
        ),
        ("@dataclass\nclass E:\n    x: int\nD = E(1)\nassert f(1) == D.x\n", ("D",)),
        (
            "class E:\n    def __init__(self, x):\n        KEPT.append(self)\nD = E(1)\nassert f(1) == D.x\n",
            (),
        ),
        ("import numpy as np\nD = [1]\nassert f(1) == np.asarray(D)\n", ("D",)),
        ("import numpy as np\nD = [1]\nnp.put(D, 0, 2)\n", ()),
    ],
)
def test_what_classes_and_objects_hold_is_only_read_alike(source: str, names: tuple[str, ...]) -> None:
    candidate = ast.parse(f"{CANDIDATE}def g():\n    return named.VALUE\n")
    assert find_constants(ast.parse(source), candidate, frozenset({"f", "g"})) == names


def test_declared_globals_are_those_that_only_plain_assignments_bind() -> None:
    candidate = ast.parse("def f():\n    global a, b, c\n    a = b = c = 1\n")
    tree = ast.parse("a = 1\na = 2\nb = 1\nb += 1\nd = 1\n")
    assert find_declared_globals(tree, candidate) == {"a"}
