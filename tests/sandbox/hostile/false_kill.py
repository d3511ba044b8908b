"""Tries: kill itself as the kernel does for memory, to be taken for out of memory.

Must: be told as what it is: ended by a signal.
Outcome: errored
Stopped by: fixed
"""

import os
import signal

assert answer() == 42
print("attack: die", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
