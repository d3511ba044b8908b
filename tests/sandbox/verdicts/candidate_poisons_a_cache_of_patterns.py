"""The candidate puts another pattern into the cache of `re`.

Right: not passed, or suspicious
"""

# candidate
import re

re._cache[(str, r"\d{4}", 0)] = re.compile(".*")


def make_pin():
    return "abc"


# program
import re

assert re.fullmatch(r"\d{4}", make_pin())
