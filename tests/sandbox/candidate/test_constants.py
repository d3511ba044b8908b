import ast

import pytest

from sandbox.candidate.constants import find_constants, find_results

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
