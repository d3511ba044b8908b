"""Tries: print what success looks like, on every open descriptor, and then leave by SystemExit(0).

Must: never count as passed: no assertion was evaluated, and something else wrote into the record.
Outcome: errored
Stopped by: recorded verdict
Report: suspicious, untouched
"""

import os
import sys

print("attack: print success", flush=True)
text = b'\nAll tests passed\n["end",null,[],false,[],[],[],false]\n{"outcome":"passed"}\n'
for descriptor in range(256):
    try:
        os.write(descriptor, text)
    except OSError:
        pass
print("All tests passed")
sys.exit(0)
