"""Tries: catch its own failed assertion.

Must: never count as passed: the failure was recorded when it happened.
Outcome: failed
Stopped by: recorded verdict
"""

print("attack: catch the failure", flush=True)
try:
    assert answer() == 43
except AssertionError:
    pass
