"""Tries: kill every process that it can see.

Must: reach only its own.
Outcome: errored
Stopped by: own processes
Only contained: it would kill every process of its user
"""

import os
import signal

assert answer() == 42
print("attack: kill -1", flush=True)
os.kill(-1, signal.SIGKILL)
os.kill(os.getpid(), signal.SIGKILL)
