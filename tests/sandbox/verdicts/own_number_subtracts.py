"""A class's difference with a number is compared with another one: that is proof.

Right: passed
"""


# candidate
class Number:
    def __init__(self, n):
        self.n = n

    def __sub__(self, o):
        return self.n - o


# program
assert Number(7) - 3 == 4
