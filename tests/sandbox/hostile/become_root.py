"""Tries: become root by asking.

Must: be refused.
Outcome: passed
Stopped by: no rights
"""

import os

assert answer() == 42
print("attack: setuid", flush=True)
for call in (os.setuid, os.setgid, os.seteuid):
    try:
        call(0)
        print("ESCAPE:", call.__name__)
    except OSError as refused:
        print("refused:", refused)
try:
    os.setgroups([0])
    print("ESCAPE: setgroups")
except OSError as refused:
    print("refused:", refused)
