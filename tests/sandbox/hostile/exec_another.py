"""Tries: become another program that succeeds.

Must: never count as passed: its end was not reached.
Outcome: errored
Stopped by: recorded verdict
Report: suspicious
"""

import os
import sys

assert answer() == 42
print("attack: exec", flush=True)
os.execv("/bin/sh", ["sh", "-c", "echo All tests passed; exit 0"])
assert answer() == 43
