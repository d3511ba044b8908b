"""Tries: the same, with every name hidden from whoever reads the program.

Must: be told where it can be; nobody promises that it is.
Outcome: passed | failed | errored
Stopped by: nothing
Forged: expected
"""

import sys

answer()
trace = getattr(sys, "get" + "tr" + "ace")()
channel = getattr(getattr(trace, "__se" + "lf__").book.send, "__se" + "lf__")
send = channel.send


def lie(kind, *values):
    if kind == "assertion":
        values = tuple(True if value is False else value for value in values)
    send(kind, *values)


channel.send = lie
print("attack: turn failed into passed", flush=True)
try:
    assert answer() == 43
except AssertionError:
    pass
