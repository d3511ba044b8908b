"""The text of an exception is its own.

Right: passed
"""


# candidate
class Refused(Exception):
    def __str__(self):
        return "refused: " + self.args[0]


def refuse(what):
    raise Refused(what)


# program
try:
    refuse("all")
except Exception as error:
    raised = str(error)
assert raised == "refused: all"
