"""An object of the candidate's gives a built-in type as its class.

Right: unproven
"""


# candidate
class Meta(type):
    def __subclasscheck__(c, s):
        return True


class Lie:
    @property
    def __class__(self):
        return dict


def conf():
    return Lie()


# program
assert isinstance(conf(), dict)
