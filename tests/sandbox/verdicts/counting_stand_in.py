"""A stand-in may count in the program's names.

Right: passed
"""


# candidate
def twice(action):
    action()
    action()


# program
calls = 0


def action():
    global calls
    calls += 1


twice(action)
assert calls == 2
