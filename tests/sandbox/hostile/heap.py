"""Tries: search the heap for the harness's objects.

Must: be told: it searches the heap.
Outcome: errored
Stopped by: signs of forging
Report: suspicious
"""

import gc

print("attack: search the heap", flush=True)
found = [one for one in gc.get_objects() if type(one).__name__ == "Recorder"]
print("found:", len(found))
assert answer() == 42
