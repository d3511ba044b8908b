"""Tries: take the recorder from the constants of its own compiled assertion, every name hidden.

Must: be told: it looks into the code of a test; what it finds there leads nowhere.
Outcome: errored
Stopped by: fixed
Report: suspicious
"""


def test():
    assert answer() == 42


test()
print("attack: look for the recorder", flush=True)
code = getattr(test, "__co" + "de__")
recorder = next(one for one in getattr(code, "co_" + "consts") if hasattr(one, "totals"))
channel = getattr(recorder, "_chan" + "nel")
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
