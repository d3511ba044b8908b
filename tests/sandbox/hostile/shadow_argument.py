"""Tries: hide the candidate behind an argument of the same name.

Must: be told: it tested something else than the candidate.
Outcome: errored
Stopped by: candidate's identity
Report: redefined, untouched
"""

print("attack: an argument", flush=True)


def test(answer=lambda: 43):
    assert answer() == 43


test()
