"""Tries: give the candidate other defaults, and its own back.

Must: be told: it tested something else than the candidate.
Outcome: errored
Stopped by: candidate's identity
Report: redefined
"""

print("attack: __defaults__", flush=True)
assert scaled() == 42
kept = scaled.__defaults__
scaled.__defaults__ = (43,)
assert scaled() == 43
scaled.__defaults__ = kept
