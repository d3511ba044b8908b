"""Tries: wait for a child that works past the time, and start the next one.

Must: be ended with all its children.
Outcome: timed_out
Stopped by: time limit
Limits: seconds=1
"""

import os
import time

assert answer() == 42
print("attack: children", flush=True)
for _ in range(5):
    if os.fork() == 0:
        time.sleep(0.5)
        os._exit(0)
    os.wait()
print("ESCAPE: it had more time than it was given")
