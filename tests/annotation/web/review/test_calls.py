"""How the box proposes a call, and how it says an answer."""

from __future__ import annotations

import pytest

from annotation.web.review.calls import answer_sign, example_of
from sandbox.expression_call import Answer, CallOutcome


@pytest.mark.parametrize(
    ("candidate", "example"),
    [
        ("def f(items):\n    pass\n", "f(items)"),
        (
            "import re\n\ndef f(a: int, b: str = 'x', *c, d=None, **e) -> int:\n    pass\n",
            "f(a, b='x', *c, d=None, **e)",
        ),
        ("LIMIT = 3\n\nasync def later(x):\n    pass\n", "later(x)"),
        ("class Stack:\n    pass\n", "Stack"),
        ("def f():\n    pass\n", "f()"),
        ("print 1\n", "1 + 1"),
        ("", "1 + 1"),
    ],
)
def test_the_example_calls_what_is_defined_first(candidate: str, example: str) -> None:
    assert example_of(candidate) == example


@pytest.mark.parametrize("outcome", CallOutcome)
def test_every_outcome_has_words(outcome: CallOutcome) -> None:
    assert answer_sign(Answer(outcome)).word
