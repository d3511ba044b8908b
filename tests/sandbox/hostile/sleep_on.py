"""Tries: sleep past its time, using nothing.

Must: be ended when its time is over.
Outcome: timed_out
Stopped by: time limit
Limits: seconds=1
"""

import time

assert answer() == 42
print("attack: sleep", flush=True)
time.sleep(2.5)
print("ESCAPE: it had more time than it was given")
