"""Python or not: the paper's own examples of what StaQC's filter took out, and what must stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.sources.code.python_or_not import Kind, classify_non_python

PAPER = [
    ('soup.find_all("tr", class_ = "viewLicense")', Kind.INCOMPLETE),
    ("x, y = np.mgrid[xslice, yslice]\nplt.contour(x, y, mask[xslcie, yslice])", Kind.INCOMPLETE),
    ("09 57 PM\n10 27 PM\n10 57 PM", Kind.IRRELEVANT),
    ("Age plus Height subtract Weight times half of IQ", Kind.IRRELEVANT),
    ('<form id="a" action="/x.py">\n<input type="submit" name="b"/>\n</form>', Kind.OTHER_LANGUAGE),
    ("In [19]: glued.groupby(level=0, axis=1).mean()\nOut[19]:\n    A   B\n0 0.8 -0.4", Kind.MORE),
]
OTHERS = [
    (">>> a = 1\n>>> a\n1", Kind.MORE),
    ("public int f(int a) {\n  return a;\n}", Kind.OTHER_LANGUAGE),
    ("$ pip install numpy", Kind.OTHER_LANGUAGE),
    ("SELECT * FROM t WHERE a = 1", Kind.OTHER_LANGUAGE),
    ("1, 2, 3", Kind.IRRELEVANT),
    ("name: build\non: [push]\njobs:\n  test:\n    runs-on: ubuntu\n", Kind.IRRELEVANT),
    ('{"a": 1, "b": [1, 2]}', Kind.IRRELEVANT),
    ("def f(x):\n    return (x +", Kind.INCOMPLETE),
    ("elif x == 1:\n    y = 2", Kind.INCOMPLETE),
    ("f = lambda a: a + b", Kind.INCOMPLETE),
]
PYTHON = [
    "import os\nprint(os.getcwd())",
    "def f(x):\n    return x + somewhere_else",
    "    def method(self):\n        return self.x",
    'def f(x):\n    print "a", x\n    return x\n',  # Python 2
    "from numpy import *\nprint(array([1]))",
    "[x for x in range(3)]",
    'def f(x):\n    """Double.\n\n    >>> f(1)\n    2\n    """\n    return 2 * x',
    'def f(x):\n    """\n    >>> f(1)\n    """\n    print "x", x\n',
    "try:\n    open('a')\nexcept OSError as error:\n    print(error)",
]


@pytest.mark.parametrize(("text", "kind"), PAPER + OTHERS)
def test_what_is_no_python_has_a_name(text: str, kind: Kind) -> None:
    assert classify_non_python(text) is kind


@pytest.mark.parametrize("text", PYTHON)
def test_python_stays(text: str) -> None:
    assert classify_non_python(text) is None


LONG = "one\ntwo words\nthree more words\nfour\nfive\n"


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("java", Kind.OTHER_LANGUAGE),
        ("txt", Kind.IRRELEVANT),
        ("", Kind.IRRELEVANT),
        ("python", Kind.INCOMPLETE),
    ],
)
def test_a_detector_is_asked_second(said: str, kind: Kind) -> None:
    assert classify_non_python(LONG, lambda text: said) is kind


def test_a_detector_is_not_asked_of_what_parses_or_is_short() -> None:
    def fails(text: str) -> str:
        raise AssertionError("asked")

    assert classify_non_python("def f(x):\n    return x\n\n\n\n\n", fails) is None
    assert classify_non_python("two words", fails) is Kind.IRRELEVANT


@pytest.mark.real_data
def test_real_functions_are_python(cosqa_functions: list[str]) -> None:
    assert {code for code in cosqa_functions if classify_non_python(code)} == set()


@given(st.text())
def test_any_text_gets_an_answer(text: str) -> None:
    assert classify_non_python(text) in (None, *Kind)
