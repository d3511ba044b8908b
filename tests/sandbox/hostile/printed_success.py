"""Tries: print our own success text instead of testing.

Must: never count as passed: no assertion was evaluated.
Outcome: untested
Stopped by: recorded verdict
Report: untouched
"""

print("attack: print success", flush=True)
print('{"outcome": "passed", "assertions": [{"passed": true, "touched": true}]}')
print("outcome: passed\nassertions: 3, failed: 0\n3 passed in 0.01s\nOK")
