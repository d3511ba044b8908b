"""Tries: fail, and turn the exit status into 0 at the interpreter's exit.

Must: never count as passed: the failed assertion was recorded when it failed.
Outcome: failed | errored
Stopped by: recorded verdict
Report: suspicious
"""

import atexit
import os

atexit.register(os._exit, 0)
print("attack: an exit handler", flush=True)
assert answer() == 43
