"""Tries: outlive its time by ignoring every signal that can be ignored.

Must: be ended when its time is over.
Outcome: timed_out
Stopped by: time limit
Limits: seconds=1
"""

import signal
import time

assert answer() == 42
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
print("attack: ignore signals", flush=True)
while time.process_time() < 2.5:
    pass
print("ESCAPE: it had more time than it was given")
