import ast

import pytest

from sandbox.candidate.fixed_names import find_moving_names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import re\nx = 1\ndef f():\n    y = 1\n    y = 2\n", ()),
        ("x = 1\nx = 2\ny = 1\n", ("x",)),
        ("for thread in threads:\n    done = thread.join()\n", ("done", "thread")),
        ("while True:\n    with lock as held:\n        last = 1\n", ("held", "last")),
        ("def f():\n    for x in y:\n        pass\n", ()),
    ],
)
def test_names_that_a_program_binds_more_than_once(source: str, names: tuple[str, ...]) -> None:
    assert find_moving_names(ast.parse(source)) == names
