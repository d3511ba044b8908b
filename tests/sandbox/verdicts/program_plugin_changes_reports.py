"""What a plugin makes of a report decides nothing.

Right: errored
"""


# candidate
def double(x):
    return {1: 2}[x]


# program
import pytest


class Lenient:
    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        call.excinfo = None
        report = yield
        report.outcome = "passed"
        return report


def test_one():
    assert double(1) == 2


def test_two():
    result = double(2)
    assert result == 4


raise SystemExit(pytest.main([__file__], plugins=[Lenient()]))
