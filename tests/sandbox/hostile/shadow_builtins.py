"""Tries: delete the candidate, so that a built-in of the same name shows.

Must: be told: it tested something else than the candidate.
Outcome: errored
Stopped by: candidate's identity + signs of forging
Report: redefined, suspicious, untouched
"""

import builtins

print("attack: a built-in", flush=True)
builtins.answer = lambda: 43
kept = answer
del answer
assert answer() == 43
answer = kept
