"""Tries: give the candidate another body, and its own back.

Must: be told: it tested something else than the candidate.
Outcome: errored
Stopped by: candidate's identity
Report: redefined, untouched
"""

print("attack: __code__", flush=True)
kept = answer.__code__
answer.__code__ = (lambda: 43).__code__
assert answer() == 43
answer.__code__ = kept
