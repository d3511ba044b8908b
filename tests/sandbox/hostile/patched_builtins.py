"""Tries: replace the built-ins that a judge may use: bool, len, isinstance, AssertionError.

Must: never count as passed: the failed assertion is recorded, the change is told.
Outcome: failed | errored
Stopped by: recorded verdict + signs of forging
Report: suspicious
"""

import builtins

print("attack: patch built-ins", flush=True)
builtins.bool = builtins.all = builtins.isinstance = lambda *values: True
builtins.AssertionError = ValueError
try:
    assert answer() == 43
except BaseException:
    pass
