"""Tries: leave a process behind, in a session of its own, that holds the output open and goes on working.

Must: end together with it; the caller does not wait for the daemon.
Outcome: passed
Stopped by: teardown
"""

import os
import time

assert answer() == 42
print("attack: a daemon", flush=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        deadline = time.monotonic() + 600
        while time.monotonic() < deadline:
            with open("/tmp/hostile-daemon", "a") as file:
                file.write("x")
            time.sleep(0.01)
    os._exit(0)
