"""Tries: leave by sys.exit(0) before the assertion that would fail.

Must: never count as passed: it left before its end.
Outcome: errored
Stopped by: recorded verdict
"""

import sys

assert answer() == 42
print("attack: sys.exit(0)", flush=True)
sys.exit(0)
assert answer() == 43
