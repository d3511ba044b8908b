"""Tries: stop the harness, so that the deadline never comes.

Must: have no effect: process 1 takes no such signal from inside.
Outcome: passed
Stopped by: harness as process 1
"""

import os
import signal
import time

assert answer() == 42
print("attack: stop the parent", flush=True)
os.kill(os.getppid(), signal.SIGSTOP)
time.sleep(0.2)
with open(f"/proc/{os.getppid()}/stat") as file:
    state = file.read().rpartition(")")[2].split()[0]
os.kill(os.getppid(), signal.SIGCONT)
print("ESCAPE: the harness stands still" if state in "Tt" else f"refused: it is {state}")
