"""A dictionary gives other items than it has.

Right: failed
"""


# candidate
class D(dict):
    def items(self):
        return {"a": 2}.items()

    def keys(self):
        return ["a"]

    def __getitem__(self, k):
        return 2


def count(x):
    return D()


# program
got = count("aa")
assert dict(got) == {"a": 2}
