"""Tries: be inside one long call of C, where Python handles no signal.

Must: be ended when its time is over.
Outcome: timed_out
Stopped by: time limit
Limits: seconds=1
"""

assert answer() == 42
print("attack: one long call", flush=True)
sum(range(600_000_000))
print("ESCAPE: it had more time than it was given")
