"""Tries: take the recorder's channel from the trace function by its name, and have it say passed for failed.

Must: be told: it looks at the trace function.
Outcome: errored
Stopped by: fixed
Report: suspicious, untouched
"""

import sys

answer()
print("attack: look for the channel", flush=True)
channel = sys.gettrace().__self__.book.send.__self__
send = channel.send


def lie(kind, *values):
    if kind == "assertion":
        values = tuple(True if value is False else value for value in values)
    send(kind, *values)


channel.send = lie
try:
    assert answer() == 43
except AssertionError:
    pass
