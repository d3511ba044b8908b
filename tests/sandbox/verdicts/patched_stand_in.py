"""A program may patch its own stand-ins and what feeds the candidate.

Right: passed
"""


# candidate
def greet():
    return f"hello {input()} {fetch()}"


# program
from unittest import mock


def fetch():
    return "nobody"


def test_greet():
    with (
        mock.patch("builtins.input", return_value="Ada"),
        mock.patch("__main__.fetch", return_value="here") as fetched,
    ):
        assert greet() == "hello Ada here"
    fetched.assert_called_once_with()


test_greet()
