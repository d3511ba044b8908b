"""The candidate gives the module another name.

Right: not passed, or suspicious
"""

# candidate
__name__ = "module"


def absolute(x):
    return x


# program
def test_negative():
    assert absolute(-3) == 3


assert absolute(3) == 3
if __name__ == "__main__":
    test_negative()
