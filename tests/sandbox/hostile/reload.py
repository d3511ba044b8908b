"""Tries: reload the candidate's module, or import it again from a file of its own.

Must: never count as passed: the module cannot be loaded again, and another one is not the candidate.
Outcome: errored
Stopped by: fixed
"""

import importlib
import sys

print("attack: reload", flush=True)
assert answer() == 42
importlib.reload(sys.modules["__main__"])
assert answer() == 43
