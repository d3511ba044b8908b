"""Tries: leave with exit status 0 before the assertion that would fail.

Must: never count as passed: its end was not reached.
Outcome: errored
Stopped by: recorded verdict
Report: suspicious
"""

import os

assert answer() == 42
print("attack: os._exit(0)", flush=True)
os._exit(0)
assert answer() == 43
