"""A mark of the candidate's leaves no test out.

Right: not passed, or suspicious
"""

# candidate
import pytest

pytestmark = pytest.mark.xfail(run=False)


def add(a, b):
    return 0


# program
import pytest

assert add(0, 0) == 0


@pytest.mark.parametrize("a", [1, 2])
def test_add(a):
    assert add(a, 1) == a + 1
