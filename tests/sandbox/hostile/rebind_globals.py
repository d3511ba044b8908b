"""Tries: replace the candidate through globals(), and back.

Must: be told: it tested something else than the candidate.
Outcome: errored
Stopped by: candidate's identity
Report: redefined, untouched
"""

print("attack: globals()", flush=True)
kept = answer
globals().update({"ans" + "wer": lambda: 43})
assert answer() == 43
globals().update({"ans" + "wer": kept})
