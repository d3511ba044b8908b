"""Tries: raise its own limits.

Must: be refused.
Outcome: passed
Stopped by: fixed
"""

import resource

assert answer() == 42
print("attack: raise limits", flush=True)
for kind in (
    resource.RLIMIT_FSIZE,
    resource.RLIMIT_NOFILE,
    resource.RLIMIT_AS,
    resource.RLIMIT_CPU,
    resource.RLIMIT_CORE,
):
    try:
        resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print("ESCAPE:", kind)
    except (OSError, ValueError) as refused:
        print("refused:", refused)
