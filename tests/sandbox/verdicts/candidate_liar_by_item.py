"""The same of a dict whose items are its own to say.

Right: unproven
"""


# candidate
class D(dict):
    def __getitem__(self, key):
        return 43


def answers():
    return D(a=42)


# program
assert answers()["a"] == 43
assert len(answers()) == 1
