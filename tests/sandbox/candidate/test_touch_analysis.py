import ast

import pytest

from sandbox.candidate.touch_analysis import find_touching_assertions


def _touched_lines(source: str) -> list[int]:
    return [line for line, _ in find_touching_assertions(ast.parse(source), ["f"])]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("assert f(1) == 2", [1]),
        ("assert 1 == 1", []),
        ("x = 1\nassert x", []),
        ("x = f(1)\ny = x + 1\nassert y", [3]),
        ("items = [3]\nf(items)\nassert items == [3]", [3]),
        ("for given in [1]:\n    assert f(given) == 1", [2]),
        ("try:\n    f(1)\n    raised = False\nexcept ValueError:\n    raised = True\nassert raised", [6]),
        ("with capture() as out:\n    f(1)\nassert out.text", [3]),
        ("def got(x):\n    return f(x)\nassert got(1)", [3]),
        ("def check(a, b):\n    assert a == b\ncheck(f(1), 2)", [2]),
        ("def check(a, b):\n    assert a == b\ncheck(1, 2)", []),
        ("def main():\n    x = f(1)\n    assert x\ndef other():\n    x = 1\n    assert x\n", [3]),
        (
            "class T(B):\n  def test(self):\n    self.assertEqual(f(1), 2)\n    self.assertTrue(True)\n",
            [3],
        ),
        ("def main():\n    assert f(1)\n    assert True\nmain()", [2]),
        ("@parametrize('g', [f])\ndef test(g):\n    x = g(1)\n    assert x\n", [4]),
        ("with pytest.raises(ValueError):\n    f(1)\n", [1]),
        ("class T:\n  def setUp(self):\n    self.r = f(1)\n  def test(self):\n    assert self.r == 1\n", [5]),
    ],
)
def test_lines_whose_assertions_lead_back(source: str, lines: list[int]) -> None:
    assert _touched_lines(source) == lines


@pytest.mark.parametrize(
    ("source", "origins"),
    [
        ("a = f(1)\nb = f(2)\nassert a == 1", ((1,),)),
        ("a = f(1)\nb = f(2)\nassert a < b", ((1,), (2,))),
        ("a = f(1)\nc = a + 1\nassert c", ((1, 2),)),
        ("for x in [1]:\n    b = f(x)\n    assert b", ((1, 2),)),
        ("try:\n    f(1)\nexcept E:\n    raised = True\nassert raised", ((1, 2, 3, 4),)),
        ("self.assertEqual(\n    f(1), 2)", ((1, 2),)),
        ("assert f(1) == 2", ()),
    ],
)
def test_lines_on_which_the_candidate_was_called_for_an_assertion(
    source: str, origins: tuple[tuple[int, ...], ...]
) -> None:
    assert list(find_touching_assertions(ast.parse(source), ["f"]).values()) == [origins]
