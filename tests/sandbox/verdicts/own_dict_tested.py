"""So are those of a class that has a built-in one for its base.

Right: passed
"""


# candidate
class CaseInsensitiveDict(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key.lower(), value)

    def __getitem__(self, key):
        return super().__getitem__(key.lower())

    def __contains__(self, key):
        return super().__contains__(key.lower())


# program
found = CaseInsensitiveDict()
found["A"] = 1
assert found["a"] == 1
assert len(found) == 1
