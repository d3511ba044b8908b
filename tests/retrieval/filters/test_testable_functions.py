"""The testable-function rule, its variants, and the text that is searched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.filters import (
    NO_RULE,
    Rule,
    Unreadable,
    ast_lines,
    extract_searched_text,
    find_untestable_reason,
    rules_of,
)

ANY = Rule.TESTABLE_IN_ANY_SENSE
OUT = Rule.TESTABLE_WITHOUT_OUTPUT
CALL = Rule.TESTABLE_BY_CALL
EVERY_RULE = Rule(127)


@pytest.mark.parametrize(
    ("code", "rules"),
    [
        ("def f(a):\n    return a", EVERY_RULE),
        ("async def f(a):\n    return a", EVERY_RULE),
        ("def f(*args):\n    return 1", EVERY_RULE),
        ("def f(**options):\n    return 1", EVERY_RULE),
        ("def f(*, a):\n    return 1", EVERY_RULE),
        ("def f(a, /):\n    return 1", EVERY_RULE),
        ("def f(self, a):\n    return a", EVERY_RULE),
        ("def f(a, self):\n    return a", EVERY_RULE),
        ("def f():\n    return 1", NO_RULE),
        ("def f(self):\n    return 1", Rule.TESTABLE_WITH_SELF | ANY | CALL),
        ("def f(cls):\n    return 1", Rule.TESTABLE_WITH_SELF | ANY | CALL),
        ("def f(self):\n    return super().f()", Rule.TESTABLE_WITH_SELF | ANY),
        ("def f(self):\n    return __class__.x", Rule.TESTABLE_WITH_SELF | ANY),
        ("def f(self):\n    return super(C, self).f()", Rule.TESTABLE_WITH_SELF | ANY | CALL),
        ("def f(self):\n    return self.superb", Rule.TESTABLE_WITH_SELF | ANY | CALL),
        ("def f(self, a):\n    return super().f(a)", EVERY_RULE),
        ("def f(a):\n    return", Rule.TESTABLE_WITH_BARE_RETURN | ANY | OUT),
        ("def f(a):\n    return None", Rule.TESTABLE_WITH_BARE_RETURN | ANY | OUT),
        ("def f(a):\n    if a: return\n    return a", EVERY_RULE),
        ("def f(a):\n    yield a", Rule.TESTABLE_WITH_YIELD | ANY | OUT | CALL),
        ("def f(a):\n    x = [(yield from a)]", Rule.TESTABLE_WITH_YIELD | ANY | OUT | CALL),
        ("def f(self):\n    yield 1", ANY | CALL),
        ("def f(a):\n    print(a)", OUT),
        ("def f(a):\n    try:\n        pass\n    finally:\n        return a", EVERY_RULE),
        ("def f(a):\n    def g():\n        return 1", OUT),
        ("def f(a):\n    class G:\n        def h(self):\n            return 1", OUT),
        ("def f(a):\n    return lambda: (yield)", EVERY_RULE),
        ("def f(a):\n    g = lambda: (yield a)", OUT),
        ("x = 1", NO_RULE),
        ("class C:\n    def f(self, a):\n        return a", NO_RULE),
        ("import os\ndef f(a):\n    return a\ndef g(): pass", EVERY_RULE),
    ],
)
def test_rules(code: str, rules: Rule) -> None:
    assert rules_of(code) == rules


@pytest.mark.parametrize("indent", ["    ", "\t", "  "])
def test_an_indented_method_is_read(indent: str) -> None:
    code = f"\n{indent}# a comment\n{indent}def f(self, a):\n{indent}  'doc'\n{indent}  return a"
    assert rules_of(code) == EVERY_RULE
    assert extract_searched_text(code, "without docstring") == code.replace(f"{indent}  'doc'\n", "")


@pytest.mark.parametrize(
    ("code", "lineno"),
    [("x = 1\nprint 'two'", 2), ("    def f():\n    return 1", 2), ("def f(:", 1), ("\0", 0), ("\ud800", 0)],
)
def test_unreadable_code_tells_its_line(code: str, lineno: int) -> None:
    with pytest.raises(Unreadable) as caught:
        rules_of(code)
    assert caught.value.lineno in (lineno, 1)
    assert caught.value.msg


def test_deep_nesting_is_unreadable_and_not_a_crash() -> None:
    with pytest.raises(Unreadable):
        rules_of("(" * 100_000)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('def f(a):\n    """Doc.\n\n    More."""\n    return a', "def f(a):\n    return a"),
        ('def f(a): "doc"; return a', "def f(a): return a"),
        ('def f(a):\n    "é"; return a', "def f(a):\n    return a"),
        ('def f(a):\r\n    "doc"\r\n    return a', "def f(a):\r\n    return a"),
        ("def f(a):\n    b'bytes'\n    return a", "def f(a):\n    b'bytes'\n    return a"),
        ("def f(a):\n    # why\n    'doc'\n    return a", "def f(a):\n    # why\n    return a"),
        ("def f(a):\n    '''x\f\n    y'''\n    return a\n", "def f(a):\n    return a\n"),
        ("def f(a):\n    return 'text'", "def f(a):\n    return 'text'"),
        ("def f(a):\n    'doc'\n    print a", "def f(a):\n    print a"),
        ("x = 1", "x = 1"),
    ],
)
def test_only_the_docstring_is_taken_out(code: str, expected: str) -> None:
    assert extract_searched_text(code, "without docstring") == expected
    assert extract_searched_text(code, "whole") == code


def test_another_text_option_is_refused() -> None:
    with pytest.raises(ValueError, match="docstring; got 'body'"):
        extract_searched_text("x", "body")


@given(docstring=st.text(max_size=40), indent=st.sampled_from(["    ", "\t"]))
def test_a_function_is_the_same_without_its_docstring(docstring: str, indent: str) -> None:
    code = f"def f(a):\n{indent}{docstring!r}\n{indent}return a\n"
    bare = f"def f(a):\n{indent}return a\n"
    assert extract_searched_text(code, "without docstring") == bare
    assert rules_of(code) == rules_of(bare)


@given(st.lists(st.tuples(st.text(alphabet="ab \f\v\u2028'"), st.sampled_from(["\n", "\r", "\r\n"]))))
def test_lines_are_the_parsers_lines(lines: list[tuple[str, str]]) -> None:
    code = "".join(text + end for text, end in lines)
    assert "".join(ast_lines(code)) == code
    assert len(ast_lines(code)) == code.replace("\r\n", "\n").replace("\r", "\n").count("\n")


@pytest.mark.real_data
def test_shares_of_the_real_functions(cosqa_functions: list[str]) -> None:
    """6,267 functions, 20 of them Python 2: 63.3 % pass, 70.8 % with `self` counted, 72.8 % by call."""
    counts = dict.fromkeys(Rule, 0)
    unreadable = 0
    for code in cosqa_functions:
        try:
            for rule in rules_of(code):
                counts[rule] += 1
        except Unreadable:
            unreadable += 1
    assert (len(cosqa_functions), unreadable) == (6267, 20)
    assert counts == {
        Rule.TESTABLE: 3969,
        Rule.TESTABLE_WITH_SELF: 4436,
        Rule.TESTABLE_WITH_BARE_RETURN: 4007,
        Rule.TESTABLE_WITH_YIELD: 4082,
        Rule.TESTABLE_IN_ANY_SENSE: 4608,
        Rule.TESTABLE_WITHOUT_OUTPUT: 5152,
        Rule.TESTABLE_BY_CALL: 4564,
    }


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("def f(a): return a", None),
        ("def f(self): return 1", "self alone as input"),
        ("def f(): return 1", "no input"),
        ("def f(a):\n    yield a\n    return", "yield without return of a value"),
        ("def f(a):\n    if a:\n        return\n    print(a)", "bare return alone"),
        ("def f(a): print(a)", "no return"),
        ("x = 1", "no function"),
        ("def f(a): print a", "does not parse"),
    ],
)
def test_why_a_snippet_is_not_testable(code: str, reason: str | None) -> None:
    assert find_untestable_reason(code) == reason


@given(code=st.sampled_from(["return", "return a", "yield a", "x = lambda: (yield)", "x = yield", "pass"]))
def test_a_snippet_without_a_reason_is_testable(code: str) -> None:
    whole = f"def f(a):\n    {code}\n"
    assert (find_untestable_reason(whole) is None) == (Rule.TESTABLE in rules_of(whole))
