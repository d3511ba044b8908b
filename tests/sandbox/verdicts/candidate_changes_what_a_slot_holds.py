"""Nor what an object keeps in slots.

Right: not passed, or suspicious
"""


# candidate
def names_of(team):
    team.names.clear()
    return []


# program
class Team:
    __slots__ = ("names",)

    def __init__(self, names):
        self.names = names


def test():
    team = Team(["a"])
    assert names_of(team) == team.names


test()
