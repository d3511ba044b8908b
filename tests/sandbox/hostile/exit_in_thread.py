"""Tries: leave from another thread while the assertion that would fail is evaluated.

Must: never count as passed: its end was not reached.
Outcome: errored
Stopped by: recorded verdict
Report: suspicious
"""

import os
import threading
import time

print("attack: leave from a thread", flush=True)
threading.Timer(0.05, os._exit, (0,)).start()
assert answer() == 42
time.sleep(1)
assert answer() == 43
