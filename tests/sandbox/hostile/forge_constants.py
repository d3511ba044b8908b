"""Tries: take the recorder from the constants of its own compiled assertion, every name hidden.

Must: be told where it can be; nobody promises that it is.
Outcome: passed | failed | errored
Stopped by: nothing
Forged: expected
"""


def test():
    assert answer() == 42


test()
code = getattr(test, "__co" + "de__")
recorder = next(one for one in getattr(code, "co_" + "consts") if hasattr(one, "totals"))
channel = getattr(recorder, "_chan" + "nel")
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
