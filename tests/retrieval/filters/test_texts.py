"""What of a snippet is searched, in Python and in Java."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.filters import (
    TEXT_OPTIONS,
    UnknownTextOption,
    Unreadable,
    extract_searched_text,
    is_left_out,
    parse_snippet,
    text_option,
)
from retrieval.filters.python_grammar import extract_python_part

PYTHON = '''def add(a,  # the first
        b):  # the second
    """Add # two."""
    # sum up
    total = a + b  # a "sum"
    return "# no comment"
'''
JAVA = """/** Adds two. */
@Override
public int add(int a, int b) {
  // sum up
  return a + b; /* done */
}"""
PARTS = {
    "without docstring": (
        PYTHON.replace('    """Add # two."""\n', ""),
        JAVA.replace("/** Adds two. */\n", ""),
    ),
    "without comments": (
        'def add(a,\n        b):\n    """Add # two."""\n    total = a + b\n    return "# no comment"\n',
        "/** Adds two. */\n@Override\npublic int add(int a, int b) {\n  return a + b; \n}",
    ),
    "signature + docstring": (
        'def add(a,\n        b):\n    """Add # two."""',
        "/** Adds two. */\n@Override\npublic int add(int a, int b)",
    ),
    "whole": (PYTHON, JAVA),
}


@pytest.mark.parametrize("option", TEXT_OPTIONS)
def test_parts_of_python_and_java(option: str) -> None:
    assert (extract_searched_text(PYTHON, option), extract_searched_text(JAVA, option)) == PARTS[option]


@pytest.mark.parametrize(
    ("code", "head"),
    [
        ("def f(x): return x", "def f(x):"),
        ("def f(x):\n    @wraps\n    def g():\n        pass\n    return g", "def f(x):"),
        ("    def method(self):\n        return 1", "    def method(self):"),
        ("async def f():\n    '''é'''; return 1", "async def f():\n    '''é'''"),
        ("x = 1", "x = 1"),
    ],
)
def test_a_head_ends_where_the_body_begins(code: str, head: str) -> None:
    assert extract_searched_text(code, "signature + docstring") == head


PYTHON_2 = """# by hand
def shout(x):  # the head
    # why
    "Say it." ; u"loud"
    print "x", x  # "no"
    return x <> 1
"""
PYTHON_3_12 = """def greet[T](names: list[T]) -> str:
    \"\"\"Greet all the
    given names.\"\"\"
    return f"hi {", ".join(names)}"
"""


@pytest.mark.parametrize(
    ("code", "option", "part"),
    [
        (PYTHON_2, "without docstring", PYTHON_2.replace('"Say it." ; ', "")),
        (
            PYTHON_2,
            "without comments",
            'def shout(x):  \n    "Say it." ; u"loud"\n    print "x", x  \n    return x <> 1\n',
        ),
        (PYTHON_2, "signature + docstring", 'def shout(x):  \n    "Say it."'),
        (
            PYTHON_3_12,
            "without docstring",
            'def greet[T](names: list[T]) -> str:\n    return f"hi {", ".join(names)}"\n',
        ),
        (
            PYTHON_3_12,
            "signature + docstring",
            'def greet[T](names: list[T]) -> str:\n    """Greet all the\n    given names."""',
        ),
    ],
)
def test_parts_of_functions_for_another_python(code: str, option: str, part: str) -> None:
    assert extract_searched_text(code, option) == part


@pytest.mark.parametrize(
    "docstring", ['"""Say."""', "'Say.'", "r'''Say.\n    More.'''", "u'a' 'b'", "('Say.')", "'Say.'; y = 1"]
)
@pytest.mark.parametrize(
    "head", ["def f(x):\n    ", "@d\nasync def f(x):\n    # why\n    ", "    def f(x):\n        "]
)
def test_the_grammar_takes_off_the_docstring_that_the_parser_does(head: str, docstring: str) -> None:
    indent = head[head.rindex("\n") + 1 :]
    code = f"{head}{docstring}\n{indent}return x\n"
    assert extract_python_part(code, "without docstring") == extract_searched_text(code, "without docstring")
    assert "Say" not in extract_searched_text(code, "without docstring")


@pytest.mark.parametrize("first", ["b'a'", "f'{x}'", "'a'.join(x)", "'a', x", "x = 'a'"])
def test_a_first_statement_that_is_no_docstring_stays(first: str) -> None:
    code = f"def f(x):\n    {first}\n    print x\n"
    assert extract_searched_text(code, "without docstring") == code


@pytest.mark.parametrize(
    "code",
    [
        'def f(x):\n    """Say it."""\n    return (x',
        "def f(x):\n    'Say it.'\n    return ] x",
        "def f(x: 'Say it.'\n    return x\n    'a'",
        "/** Says it. */\npublic int f( {",
        'def f(x):\n    """Say it."""\n    return x ?\n' + "    x = 1\n" * 20_000,
    ],
)
def test_a_snippet_whose_docstring_cannot_be_told_is_left_out(code: str) -> None:
    assert extract_searched_text(code, "without docstring") == ""
    assert is_left_out(code, "without docstring")
    assert not is_left_out(code, "without comments")
    assert extract_searched_text(code, "whole") == code


@pytest.mark.parametrize("option", TEXT_OPTIONS)
@pytest.mark.parametrize(
    "code", ["not code at all", "", "print 'python 2' # yes", "int x = 1; // y", "é ü ("]
)
def test_what_is_read_in_no_language_stays_whole(code: str, option: str) -> None:
    assert extract_searched_text(code, option) == code


def test_a_method_without_a_body_is_all_signature() -> None:
    assert extract_searched_text("int size(); // of it", "signature + docstring") == "int size();"


def test_another_option_is_refused() -> None:
    with pytest.raises(ValueError, match="is one of whole, without docstring, without comments"):
        extract_searched_text("x", "half")


@given(st.text(), st.sampled_from(TEXT_OPTIONS))
def test_any_text_has_every_part(code: str, option: str) -> None:
    assert isinstance(extract_searched_text(code, option), str)


@pytest.mark.real_data
def test_comments_say_nothing_to_the_parser(cosqa_functions: list[str]) -> None:
    for code in cosqa_functions[:500]:
        try:
            before = parse_snippet(code)
        except Unreadable:
            continue
        after = parse_snippet(extract_searched_text(code, "without comments"))
        assert [ast.dump(one) for one in before] == [ast.dump(one) for one in after]
        assert extract_searched_text(code, "signature + docstring") in extract_searched_text(
            code, "without comments"
        )


@pytest.mark.parametrize("name", ["without_docstring", "without-docstring", "without docstring"])
def test_text_options_may_be_written_as_shells_like_them(name: str) -> None:
    assert text_option(name) == "without docstring"


def test_an_unknown_text_option_is_told_those_that_there_are() -> None:
    with pytest.raises(UnknownTextOption, match="there are whole, without_docstring"):
        text_option("half")
