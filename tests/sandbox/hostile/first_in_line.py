"""Tries: be scheduled before everybody else.

Must: be refused.
Outcome: passed
Stopped by: fixed
"""

import os

assert answer() == 42
print("attack: priority", flush=True)
for name, call in (
    ("real time", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))),
    ("nice", lambda: os.nice(-10)),
):
    try:
        call()
        print("ESCAPE:", name)
    except OSError as refused:
        print("refused:", refused)
