import pytest

from sandbox.reports.inequality import LONG, Inequality, explain_inequality
from sandbox.reports.report import Assertion


@pytest.mark.parametrize(
    ("source", "left", "right", "got", "expected"),
    [
        ("assert f(1) == 3", "2", "3", "2", "3"),
        ("assert 3 == f(1)", "3", "2", "2", "3"),
        ("assert f(1) == wanted, 'no'", "2", "3", "2", "3"),
        ("assert found == [1]", "[2]", "[1]", "[2]", "[1]"),
        ("self.assertEqual(f(1), 3)", "2", "3", "2", "3"),
        ("self.assertEqual(3, f(1), 'no')", "3", "2", "2", "3"),
    ],
)
def test_a_call_gives_what_was_got_and_a_value_what_was_expected(
    source: str, left: str, right: str, got: str, expected: str
) -> None:
    assert explain_inequality(source, left, right) == Inequality(got, expected)


@pytest.mark.parametrize(
    "source",
    [
        "assert f(1) == f(2)",
        "assert a == b",
        "assert f(1) != 3",
        "assert not f(1) == 3",
        "assert f(1) == 3 == g",
        "assert f(1)",
        "self.assertIn(f(1), [3])",
        "assert f(1) == ",
        "(" * 5_000,
    ],
)
def test_what_is_no_plain_equality_has_two_sides_alone(source: str) -> None:
    assert explain_inequality(source, "2", "3") is None


def test_a_value_alone_is_no_equality() -> None:
    assert explain_inequality("assert f(1) == 3", "False", None) is None


LINE = "the quick brown fox jumps over the lazy dog"


@pytest.mark.parametrize(
    ("got", "expected", "difference"),
    [
        (
            LINE,
            LINE.replace("lazy", "idle"),
            "from character 36: ' over the lazy dog' instead of ' over the idle dog'",
        ),
        (list(range(20)), list(range(19)), "20 items instead of 19; item 19: 19 too much"),
        ([*range(19)], [*range(9), 8, *range(10, 19)], "item 9: 9 instead of 8"),
        (
            {"a": LINE, "b": 1, "d": 4},
            {"a": LINE, "b": 2, "c": 3},
            "no 'c'; 'd' too much; at 'b': 1 instead of 2",
        ),
        (set(range(20)), set(range(1, 21)), "no 20; 0 too much"),
        (
            [0] * 30,
            [1] * 30,
            "item 0: 0 instead of 1; item 1: 0 instead of 1; item 2: 0 instead of 1; and 27 more",
        ),
        (LINE, [LINE], "str instead of list"),
    ],
)
def test_long_values_say_where_they_differ(got: object, expected: object, difference: str) -> None:
    texts = repr(got), repr(expected)
    assert sum(map(len, texts)) > LONG
    assert explain_inequality("assert f() == x", *texts) == Inequality(*texts, difference)


def test_values_that_were_cut_differ_where_their_texts_do() -> None:
    found = explain_inequality("assert f() == x", f"['{'a' * 50}b…", f"['{'a' * 50}c…")
    assert found is not None
    assert found.difference == f"from character 53: {'a' * 10 + 'b…'!r} instead of {'a' * 10 + 'c…'!r}"


def test_an_assertion_that_held_has_no_inequality() -> None:
    assert Assertion(1, "assert f(1) == 3", True, "3", "3").inequality is None
    assert Assertion(1, "assert f(1) == 3", False, "2", "3").inequality == Inequality("2", "3")
