"""What a function logs is what it is tested by.

Right: passed
"""

# candidate
import logging


def complain(about):
    logging.getLogger("x").error("bad %s", about)


# program
import io
import logging

heard = io.StringIO()
logging.getLogger("x").addHandler(logging.StreamHandler(heard))
complain("weather")
assert heard.getvalue() == "bad weather\n"
