"""What tests expect for which input, read off their text."""

import pytest

from sandbox.candidate.expectations import MOST, find_test_expectations


def read(source: str) -> list[tuple[int, str, str]]:
    return [(one.line, one.input, one.expected) for one in find_test_expectations(source, ["f"])]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("assert f( [1] ) == [ 2 ]", [(1, "f([1])", "[2]")]),
        ("assert 'a' == f(1)", [(1, "f(1)", "'a'")]),
        ("assert f(1) is None and f(2)", [(1, "f(1)", "None"), (1, "f(2)", "true")]),
        ("assert not f(1)\nassert f(2) != 3", [(1, "f(1)", "false"), (2, "f(2)", "not 3")]),
        ("assert len(f([])) == 0", [(1, "len(f([]))", "0")]),
        ("data = [1, 2]\nassert f(data) == data", [(2, "f([1, 2])", "[1, 2]")]),
        ("for x in (1, 2):\n    assert f(x) == 1", [(2, "f(x)", "1")]),
        ("with pytest.raises(ValueError):\n    f('')", [(1, "f('')", "an exception")]),
        (
            "try:\n    f(None)\n    assert False\nexcept TypeError:\n    pass",
            [(1, "f(None)", "an exception")],
        ),
        ("assert g(1) == 1\nassert f(1) == f(2)\nassert True", []),
        ("print 1", []),
        ("assert f(1 == " + "(" * 400, []),
    ],
)
def test_inputs_with_what_is_expected(source: str, found: list[tuple[int, str, str]]) -> None:
    assert read(source) == found


def test_a_variable_that_changes_is_not_put_in() -> None:
    assert read("x = 1\nx += 1\nassert f(x) == 2") == [(3, "f(x)", "2")]


def test_a_flood_is_cut() -> None:
    assert len(read("assert f(1) == 1\n" * (MOST + 5))) == MOST
