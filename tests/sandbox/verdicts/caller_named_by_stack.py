"""The name of one's caller is an honest thing to ask for.

Right: passed
"""

# candidate
import inspect


def me():
    return inspect.stack()[1][3]


# program
def outer():
    return me()


assert outer() == "outer"
