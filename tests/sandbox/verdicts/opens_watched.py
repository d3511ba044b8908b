"""A function may listen to what the interpreter is asked for.

Right: passed
"""

# candidate
import sys

events = []


def watch_opens():
    sys.addaudithook(lambda event, args: events.append(args[0]) if event == "open" else None)


# program
import os

watch_opens()
open(os.devnull).close()
assert os.devnull in events
