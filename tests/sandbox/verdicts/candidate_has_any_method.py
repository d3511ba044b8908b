"""An object of the candidate's has any method that a protocol asks for.

Right: unproven
"""


# candidate
def make():
    class X:
        def __getattr__(self, n):
            return lambda *a: True

    return X()


# program
from typing import Protocol, runtime_checkable


@runtime_checkable
class Closable(Protocol):
    def close(self): ...


assert isinstance(make(), Closable)
