"""A class of the program's that the candidate mentions is its to use.

Right: passed
"""


# candidate
def fetch(url):
    Session.calls.append(url)
    return Session.answer


# program
class Session:
    calls = []
    answer = 3


assert fetch("u") == 3
assert Session.calls == ["u"]
