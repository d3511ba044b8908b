"""Tries: climb the stack into the harness and change what it holds.

Must: be told: it looks at stack frames.
Outcome: errored
Stopped by: signs of forging
Report: suspicious
"""

import sys

print("attack: climb the stack", flush=True)
frame, names = sys._getframe(), []
while frame:
    names.append(frame.f_code.co_name)
    frame = frame.f_back
print("reached:", names)
assert answer() == 42
