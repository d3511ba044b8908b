"""What an object keeps in slots may be changed in place.

Right: passed
"""


# candidate
def sort_names(team):
    team.names.sort()
    team.count = len(team.names)
    return team.names


# program
class Team:
    __slots__ = ("names", "count")

    def __init__(self, names):
        self.names = names


def test():
    team = Team(["b", "a"])
    assert sort_names(team) == sorted(team.names)
    assert team.count == 2 and team.names == ["a", "b"]
    other = Team([])
    assert sort_names(other) == other.names


test()
