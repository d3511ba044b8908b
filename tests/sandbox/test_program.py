import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.program import (
    Limits,
    Program,
    candidate_names,
    count_assertions,
    is_candidate_redefined,
    list_test_functions,
    list_test_helpers,
)

CANDIDATE = "import re\n\nCACHE = {}\n\ndef find(x):\n    return CACHE.get(x)\n\nclass Finder:\n    pass\n"


def test_names_are_definitions_without_imports() -> None:
    assert candidate_names(CANDIDATE) == ("CACHE", "find", "Finder")


@pytest.mark.parametrize("candidate", ["print 'python 2'", "", "def (", "x\0y"])
def test_a_candidate_that_does_not_parse_defines_nothing(candidate: str) -> None:
    assert candidate_names(candidate) == ()


@pytest.mark.parametrize(
    "source",
    [
        "def find(x): return 1",
        "class Finder: pass",
        "find = lambda x: 1",
        "find: object = None",
        "for find in (): pass",
        "import os as find",
        "from os import path as find",
        "del find",
        "try:\n    pass\nexcept ValueError as find:\n    pass",
        "if (find := 3): pass",
        "with open('x') as find: pass",
        "def main():\n    global find\n    find = 1",
        "def main():\n    def find(x): return 1\n    assert find(1) == 1",
        "def main(find=lambda x: 1):\n    assert find(1) == 1",
        "match 1:\n    case find: pass",
        "globals()['find'] = abs",
        "del vars()['find']",
        "find.__code__ = abs",
        "with mock.patch('__main__.find'):\n    assert find(1)",
        "mock.patch('__main__.Finder.find').start()",
    ],
)
def test_redefining(source: str) -> None:
    assert is_candidate_redefined(CANDIDATE, source)


@pytest.mark.parametrize(
    "source",
    [
        "assert find(1) is None",
        "import re\nassert re.find",
        "class Test:\n    def find(self): return 1",
        "holder.find = 1",
        "call(find=1)",
        "def check(find):\n    return find(1)",
        "def main():\n    find = 1",
        "not a program (",
        "holder()['find'] = 1",
        "assert globals()['find'](1)",
        "assert find('__main__') == '__main__.finder'",
        "assert find.__code__.co_argcount == 1",
    ],
)
def test_not_redefining(source: str) -> None:
    assert not is_candidate_redefined(CANDIDATE, source)


def test_helpers_are_top_level_definitions_but_main() -> None:
    source = (
        "class Fake: pass\ndef near(a, b): pass\nasync def wait(): pass\ndef main():\n    def inner(): pass\n"
    )
    assert list_test_helpers(source) == ("Fake", "near", "wait")


@given(st.lists(st.sampled_from(["numpy", "six==1.17.0", "attrs"]), max_size=4))
def test_the_order_of_dependencies_does_not_matter(names: list[str]) -> None:
    one, other = Program("", "", tuple(names)), Program("", "", tuple(reversed(names)))
    assert one.dependencies_hash == other.dependencies_hash


def test_limits_are_told_apart_by_their_digest() -> None:
    assert Limits().digest() == Limits().digest() != Limits(seconds=11).digest()


def test_assertions_are_counted_whether_or_not_they_would_be_evaluated() -> None:
    source = "def main():\n    assert f(1)\n    if False:\n        assert f(2) == 2\n\n\nmain()\n"
    assert count_assertions(source) == 2
    assert count_assertions("print('assert')") == 0
    assert count_assertions("def broken(:") == 0


def test_cases_are_part_of_what_a_program_is() -> None:
    plain = Program("", "def a(): pass\ndef b(): pass\n")
    assert plain.source_hash == hashlib.sha256(plain.source.encode()).hexdigest()
    found = {
        replace(plain, cases=cases).source_hash for cases in ((), ("a",), ("b",), ("a", "b"), ("b", "a"))
    }
    assert len(found) == 5


def test_functions_are_those_at_the_top_level() -> None:
    source = "def a(): pass\nasync def b(): pass\nclass C:\n    def d(self): pass\ndef a(): pass\n"
    assert list_test_functions(source) == ("a", "b")
    assert list_test_functions("def broken(:") == ()
