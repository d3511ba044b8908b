"""So is what it becomes when it is asked by name.

Right: passed
"""


# candidate
class F:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __float__(self):
        return self.a / self.b

    def __int__(self):
        return self.a // self.b

    def __round__(self, n=0):
        return round(self.a / self.b, n)


# program
assert float(F(1, 2)) == 0.5
assert int(F(5, 2)) == 2
assert round(F(1, 3), 2) == 0.33
assert abs(float(F(1, 3)) - 0.3333) < 1e-3
