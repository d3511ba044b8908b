"""Tries: kill the harness, so that nobody is left to judge.

Must: have no effect: process 1 takes no such signal from inside.
Outcome: passed
Stopped by: harness as process 1
Through: unavailable
"""

import os
import signal
import time

assert answer() == 42
print("attack: kill the parent", flush=True)
os.kill(os.getppid(), signal.SIGKILL)
time.sleep(0.1)
os.kill(os.getppid(), signal.SIGTERM)
