import ast

import pytest

from sandbox.candidate.shared_values import find_readings, find_shared_comparisons


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("items = [1]\nassert f(items) == items\n", ((2, 7, (1,)),)),
        ("items = [1]\nassert f(items) == [1]\n", ()),
        ("items = [1]\nassert f(2) == items\n", ()),
        ("items = [1]\nr = f(items)\nassert not (sorted(items) != r)\n", ((3, 12, (0,)),)),
        ("f(a, b)\nassert a == b\n", ((2, 7, (0, 1)),)),
        ("assert f(1) == counter\nassert counter == 1\n", ((1, 7, (1,)), (2, 7, ()))),
        ("def test(self):\n    self.assertEqual(f(x), x)\n", ((2, 4, (1,)),)),
        ("import np\na = np.ones(2)\nassert np.same(f(a), 2 * a)\n", ((3, 7, (2,)),)),
        ("assert np.same(f(a), [2])\n", ()),
        ("assert f(t).equals(t)\n", ((1, 7, (1,)),)),
        ("assert 0 <= f(items) <= len(items)\n", ((1, 7, (2,)),)),
        ("assert all(f(t, k) == w for k, w in t.items())\n", ((1, 7, (0,)),)),
        ("assert all(f(s) == y for y in [2, 1])\n", ()),
        ("assert all(f(x) == sorted(x) for x in items)\n", ()),
    ],
)
def test_comparisons_of_what_the_candidate_gave_or_changed(
    source: str, found: tuple[tuple[int, int, tuple[int, ...]], ...]
) -> None:
    candidate = ast.parse("def f(x):\n    global counter\n    counter += 1\n    return x\n")
    assert find_shared_comparisons(ast.parse(source), candidate, frozenset({"f"})) == found


def test_readings_are_the_names_whose_parts_a_compared_name_is() -> None:
    tree = ast.parse("for key, wanted in pairs(table):\n    assert f(table, key) == wanted\n")
    names = frozenset({"f"})
    shared = find_shared_comparisons(tree, None, names)
    assert find_readings(tree, shared, names) == (("wanted", ("pairs", "table")),)
    assert find_readings(tree, (), names) == ()
