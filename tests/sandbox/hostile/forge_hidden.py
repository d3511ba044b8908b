"""Tries: the same, with every name hidden from whoever reads the program.

Must: find nothing: the trace function leads nowhere.
Outcome: errored
Stopped by: fixed
Report: untouched
"""

import sys

answer()
print("attack: look for the channel", flush=True)
trace = getattr(sys, "get" + "tr" + "ace")()
channel = getattr(getattr(trace, "__se" + "lf__").book.send, "__se" + "lf__")
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
