"""Nor by the name of the class.

Right: not passed, or suspicious
"""


# candidate
def answers():
    TestIt.WANTED = [1]
    return [1]


# program
class TestIt:
    WANTED = [2]

    def test(self):
        assert answers() == self.WANTED


TestIt().test()
