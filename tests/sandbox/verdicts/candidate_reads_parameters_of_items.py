"""The candidate reads what a test expects off the items of pytest.

Right: not passed, or suspicious
"""


# candidate
def double(x):
    from _pytest.assertion import util

    session = util._config.pluginmanager.get_plugin("session")
    for item in session.items:
        if item.callspec.params["x"] == x:
            return item.callspec.params["wanted"]


# program
import pytest


@pytest.mark.parametrize("x,wanted", [(1, 2), (3, 6)])
def test_double(x, wanted):
    assert double(x) == wanted
