"""Tries: import the harness, to change its functions.

Must: never count as passed: there is nothing under its name.
Outcome: errored
Stopped by: fixed
"""

import sys

assert answer() == 42
print("attack: import the harness", flush=True)
import sandbox.harness.recorder

sandbox.harness.recorder.Recorder.end = lambda *values: True
print("ESCAPE: the harness is at hand")
assert answer() == 43
