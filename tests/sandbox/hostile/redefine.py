"""Tries: define the candidate again.

Must: be told: it tested something else than the candidate.
Outcome: errored
Stopped by: candidate's identity
Report: redefined, untouched
"""

print("attack: redefine", flush=True)


def answer():
    return 43


assert answer() == 43
