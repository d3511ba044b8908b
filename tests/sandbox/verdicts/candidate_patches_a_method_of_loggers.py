"""The candidate replaces a method of `logging` that the program asks.

Right: not passed, or suspicious
"""

# candidate
import logging


def work():
    pass


logging.Logger.hasHandlers = lambda self: True
logging.Handler.emit = lambda self, record: None


# program
import logging

work()
assert logging.getLogger("work").hasHandlers()
