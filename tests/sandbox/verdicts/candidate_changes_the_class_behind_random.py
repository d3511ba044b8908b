"""The candidate gives the generator behind `random` another class.

Right: not passed, or suspicious
"""

# candidate
import random


class First(random.Random):
    def _randbelow(self, n):
        return 0


random._inst.__class__ = First


def pick(items):
    return items[0]


# program
import random

random.seed(4)
wanted = random.choice([1, 2, 3, 4, 5, 6, 7])
random.seed(4)
assert pick([1, 2, 3, 4, 5, 6, 7]) == wanted
