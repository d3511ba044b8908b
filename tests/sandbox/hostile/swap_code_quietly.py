"""Tries: give the candidate another body by a name that nobody can read off.

Must: be told: it tested something else than the candidate.
Outcome: errored
Stopped by: candidate's identity
Report: redefined, untouched
"""

print("attack: __code__ by another name", flush=True)
kept = answer.__code__
setattr(answer, "__co" + "de__", (lambda: 43).__code__)
assert answer() == 43
setattr(answer, "__co" + "de__", kept)
