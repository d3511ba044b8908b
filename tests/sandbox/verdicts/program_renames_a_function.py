"""A library's function is an assertion only by its own name.

Right: not passed, or suspicious
"""


# candidate
def answer():
    return 42


# program
from operator import eq as assert_equal
from textwrap import fill as assert_text

assert_equal(answer(), 43)
assert_text(str(answer()), 43)
