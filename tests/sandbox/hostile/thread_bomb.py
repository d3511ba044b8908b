"""Tries: start threads without end (here: 300).

Must: be refused new threads at the limit.
Outcome: errored
Stopped by: process limit
Limits: memory_mb=1024
"""

import _thread
import time

assert answer() == 42
print("attack: threads", flush=True)
_thread.stack_size(65536)
for born in range(300):
    _thread.start_new_thread(time.sleep, (20,))
print("ESCAPE: 300 threads")
