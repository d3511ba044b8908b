"""The candidate gives a class of the program other bases.

Right: not passed, or suspicious
"""


# candidate
def double(x):
    globals()["Checker"].__bases__ = (Easy,)
    return 0


class Easy:
    def is_right(self, got, wanted):
        return True


# program
class Base:
    def is_right(self, got, wanted):
        return got == wanted


class Checker(Base):
    pass


checker = Checker()
result = double(3)
assert checker.is_right(result, 6)
