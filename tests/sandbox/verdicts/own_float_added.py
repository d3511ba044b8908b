"""So is a subclass of `float` by its sum.

Right: passed
"""


# candidate
class Celsius(float):
    def __add__(self, o):
        return Celsius(float(self) + o)


# program
assert Celsius(20) + 5 == 25
