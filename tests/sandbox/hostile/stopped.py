"""Tries: stop itself, so that no signal reaches it before a child wakes it up.

Must: be ended when its time is over.
Outcome: timed_out
Stopped by: time limit
Limits: seconds=1
"""

import os
import signal
import time

assert answer() == 42
print("attack: stop", flush=True)
if os.fork() == 0:
    time.sleep(2.5)
    os.kill(os.getppid(), signal.SIGCONT)
    os._exit(0)
os.kill(os.getpid(), signal.SIGSTOP)
print("ESCAPE: it had more time than it was given")
