"""Built-in functions that are put back were not the harness's.

Right: not passed, or suspicious
"""


# candidate
def answer():
    return 42


# program
import builtins

kept = builtins.exec, builtins.isinstance, builtins.compile


def instead(source, name, *rest, **named):
    return kept[2]("def answer():\n    return 43\n", name, *rest, **named)


builtins.compile = instead
builtins.isinstance = lambda *values: True
assert answer() == 43
builtins.exec, builtins.isinstance, builtins.compile = kept
