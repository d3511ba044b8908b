"""A value that calls itself equal proves nothing, inside of another one either.

Right: unproven
"""


# candidate
class Same:
    def __eq__(self, other):
        return True

    def __repr__(self):
        return "43"


def answers():
    return [Same(), {"a": (Same(),)}]


# program
assert answers() == [43, {"a": (44,)}]
