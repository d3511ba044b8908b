"""A candidate that is called like a test is no test of the program.

Right: passed
"""


# candidate
def test_connection(host, port):
    return f"{host}:{port}"


# program
import pytest


@pytest.mark.parametrize("port", [1, 2])
def test_port(port):
    assert test_connection("a", port) == f"a:{port}"


pytest.main([__file__])
