"""Tries: die of a signal at once, to be taken for something that ran out of time.

Must: be told as what it is: ended by a signal, not by its time.
Outcome: errored
Stopped by: fixed
"""

import os
import signal

assert answer() == 42
print("attack: die", flush=True)
os.kill(os.getpid(), signal.SIGTERM)
