"""A number whose difference is its own to say proves nothing.

Right: unproven
"""


# candidate
class S(float):
    __sub__ = lambda self, other: 0.0


def answer():
    return S(42)


# program
assert abs(answer() - 43) < 1e-6
assert isinstance(answer(), float)
