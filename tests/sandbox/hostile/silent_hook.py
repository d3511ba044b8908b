"""Tries: fail, and have the hook for exceptions leave with status 0.

Must: never count as passed: the hook is never asked.
Outcome: failed
Stopped by: recorded verdict
"""

import os
import sys

sys.excepthook = lambda *error: os._exit(0)
print("attack: an exception hook", flush=True)
assert answer() == 43
