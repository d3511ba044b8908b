"""Tries: replace functions of the modules that a judge may use: os.write, json.dumps, sys.stdout.

Must: never count as passed: the record does not go through them.
Outcome: failed
Stopped by: recorded verdict
"""

import json
import os
import sys

print("attack: patch modules", flush=True)
os.write = lambda descriptor, data: len(data)
os.getpid = lambda: 0
json.dumps = lambda *values, **named: '["end"]'
try:
    assert answer() == 43
except AssertionError:
    pass
