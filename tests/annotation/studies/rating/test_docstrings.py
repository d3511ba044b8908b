"""What a docstring says is nowhere in what is left, whatever the text is; and line numbers stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.studies.rating.docstrings import split_docstrings

SECRET = "tells what it does"


def test_a_docstring_goes_and_the_numbers_of_the_other_lines_stay() -> None:
    made = split_docstrings(f'def f(a):\n    """{SECRET}\n\n    in three lines."""\n    return a\n')
    assert made.code == "def f(a):\n    return a\n"
    assert made.numbers == (1, 5, 6)
    assert made.docstrings == (f'"""{SECRET}\n\nin three lines."""',)


@pytest.mark.parametrize(
    "text",
    [
        f'"""{SECRET}"""\nimport os\n',
        f"class A:\n    '''{SECRET}'''\n    def b(self):\n        u'{SECRET}'\n        return 1\n",
        f'async def f():\n    r"""{SECRET}"""\n',
        f'def f(): "{SECRET}"; return 1\n',
        f'def f(): """{SECRET}"""\n',
        f'def f():\n    ("{SECRET} "\n     "{SECRET}")\n    return 1\n',
        f'def größe(ä):\n    x = "ü"\n    def g(): "ü {SECRET}"\n    return g\n',
        f'def f():\r\n    """{SECRET}\r\n    {SECRET}"""\r\n    return 1\r\n',
        f'def f():\r    """{SECRET}"""\r    return 1\r',
        f'def f(x):\n    """{SECRET}"""\n    print "python 2", x\n',
        f'def f(x):\n    "{SECRET}"\n    exec "python 2"\n',
        f'def f(x):\n    """{SECRET}\n    print("not closed")\n',
        f'def f(x:\n    """{SECRET}"""\n    return 1\n',
        f'  def f(self):\n    """{SECRET}"""\n    print "two"\n   odd = 1\n    """{SECRET}"""\n',
        f'def f(self): """{SECRET}"""; print "two"\n',
        f'def f():\n    """{SECRET}"""\n    return "\0"\n',
    ],
)
def test_it_is_found_in_every_text(text: str) -> None:
    made = split_docstrings(text)
    assert SECRET not in made.code
    assert any(SECRET in one for one in made.docstrings)


@pytest.mark.parametrize(
    "text",
    [
        'def f():\n    x = """data"""\n    return x\n',
        'def f():\n    return """data"""\n',
        'def f(x):\n    y = """data\n"""\n    print "two", y\n',
        "",
        "\n\n",
        "x = 1",
    ],
)
def test_other_strings_stay(text: str) -> None:
    made = split_docstrings(text)
    assert made.code == text
    assert made.docstrings == ()
    assert made.numbers == tuple(range(1, text.count("\n") + 2))


def test_a_block_in_one_line_keeps_its_shape() -> None:
    assert split_docstrings('def f(): "says"; return 1\n').code == "def f(): ...; return 1\n"


@given(st.text(alphabet=" \n\t\"'\\#:adef()=\r\0ü;", max_size=60))
def test_any_text_can_be_split(text: str) -> None:
    made = split_docstrings(text)
    assert len(made.numbers) == made.code.count("\n") + 1
    assert list(made.numbers) == sorted(set(made.numbers))
