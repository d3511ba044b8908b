"""Tries: put its own function in the tracer's place.

Must: be told; what it then says about the candidate is not relied on.
Outcome: errored
Stopped by: signs of forging
Report: suspicious, untouched
"""

import sys

print("attack: sys.settrace", flush=True)
sys.settrace(lambda *event: None)
assert answer() == 42
