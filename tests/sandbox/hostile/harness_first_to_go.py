"""Tries: have the kernel kill the harness first when memory ends.

Must: be refused.
Outcome: passed
Stopped by (bubblewrap): no rights + read-only root
Stopped by (docker): no rights
"""

import os

assert answer() == 42
print("attack: oom_score_adj of the parent", flush=True)
try:
    open(f"/proc/{os.getppid()}/oom_score_adj", "r+").close()
    print("ESCAPE: it can be changed")
except OSError as refused:
    print("refused:", refused)
