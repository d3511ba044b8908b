"""Tries: be a process that forks and ends, again and again, so that no list of processes is ever right.

Must: be gone when it is cleared away; the program itself ended without its end.
Outcome: errored
Stopped by: teardown
Report: suspicious
"""

import os
import time

assert answer() == 42
print("attack: hop from process to process", flush=True)
while os.fork() == 0:
    os.setsid()
    time.sleep(0.0005)
os._exit(0)
