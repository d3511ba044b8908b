"""What the candidate's decorators, bases and defaults need comes before it.

Right: passed
"""


# candidate
@app.route("/")
def index(request, limit=LIMIT):
    return str(limit)


class View(Base):
    pass


# program
LIMIT = 10


class App:
    def route(self, path):
        return keep


def keep(function):
    return function


class Base:
    name = "base"


app = App()


def test_index():
    assert index(None) == "10"


def test_view():
    assert View.name == "base"
