"""A test that the candidate leaves is not left out.

Right: not passed, or suspicious
"""


# candidate
def double(x):
    if x == 2:
        import pytest

        pytest.skip("not today")
    return x * 2


# program
def test_one(tmp_path):
    assert double(1) == 2


def test_two(tmp_path):
    result = double(2)
    assert result == 5
