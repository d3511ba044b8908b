"""Tries: bind the candidate's name to something else, and back.

Must: be told: it tested something else than the candidate.
Outcome: errored
Stopped by: candidate's identity
Report: redefined
"""

print("attack: rebind", flush=True)
answer()
kept, answer = answer, lambda: 43
assert answer() == 43
answer = kept
