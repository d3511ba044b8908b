import ast

from sandbox.candidate.names import case_names

SOURCE = """def main():
    # Nothing at all
    assert f([]) == []

    assert f([1]) == [1]

    # Several
    got = f([1, 2])
    assert got == [2, 1]


def test_one():
    assert f(1)
    # twice

    # again
    assert f(1)


class TestMore:
    def test_two(self):
        self.assertEqual(f(2), 2)

    def helper(self):
        assert f(3)
"""


def test_a_case_is_a_test_function_or_a_block_that_begins_with_a_comment() -> None:
    names = case_names(ast.parse(SOURCE), SOURCE)
    asserting = [number for number, line in enumerate(SOURCE.splitlines(), start=1) if "assert" in line]

    assert [names.get(line) for line in asserting] == [
        "Nothing at all",
        None,
        "Several",
        "test_one",
        "test_one: again",
        "TestMore.test_two",
        None,
    ]
