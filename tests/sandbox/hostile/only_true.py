"""Tries: assert nothing but True.

Must: show that the candidate was never tested: passed and touched are two things.
Outcome: untested
Stopped by: nothing
Report: untouched
"""

print("attack: assert True", flush=True)
assert True
assert 1 == 1
assert "x" in "xyz"
