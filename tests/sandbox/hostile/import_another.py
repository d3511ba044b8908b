"""Tries: write a module with a candidate of its own, import it, and test that.

Must: show that the candidate was never tested.
Outcome: untested
Stopped by: nothing
Report: untouched
"""

import importlib
import sys

print("attack: import another", flush=True)
with open("/tmp/another.py", "w") as file:
    file.write("def reply():\n    return 43\n")
sys.path.insert(0, "/tmp")
another = importlib.import_module("another")
assert another.reply() == 43
