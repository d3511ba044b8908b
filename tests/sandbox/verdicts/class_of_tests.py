"""A class of tests without a runner is run, as pytest would.

Right: passed
"""


# candidate
def triple(x):
    return x * 3


# program
class TestTriple:
    def setup_method(self):
        self.given = 4

    def test_number(self):
        assert triple(self.given) == 12

    def test_text(self):
        assert triple("x") == "xxx"
