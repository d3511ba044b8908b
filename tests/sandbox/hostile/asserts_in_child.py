"""Tries: fork, and let a child make the assertions.

Must: never count as passed: only the first process is judged.
Outcome: untested
Stopped by: recorded verdict
Report: untouched
"""

import os

print("attack: assert elsewhere", flush=True)
if os.fork() == 0:
    assert answer() == 42
    os._exit(0)
os.wait()
