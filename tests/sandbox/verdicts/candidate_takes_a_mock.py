"""An object that equals anything proves nothing, also where the program has imported it.

Right: unproven
"""


# candidate
def answer():
    return ANY


# program
from unittest.mock import ANY

assert answer() == 43
assert {"id": 1, "name": "x"} == {"id": ANY, "name": "x"}
