"""Aroma's similarity: structure counts, names of variables do not, and what is around an answer is pruned."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.sources.code.aroma import THRESHOLD, VARIABLE, measure_similarity, shape_of

ANSWER = """View view = this.getCurrentFocus();
if (view != null) {
    InputMethodManager imm = (InputMethodManager) getSystemService(Context.INPUT_METHOD_SERVICE);
    imm.hideSoftInputFromWindow(view.getWindowToken(), 0);
}"""
METHOD = """private void hideKeyboard() {
    log.debug("hide it now", System.currentTimeMillis());
    View focused = getCurrentFocus();
    if (focused != null) {
        InputMethodManager manager = (InputMethodManager) getSystemService(Context.INPUT_METHOD_SERVICE);
        manager.hideSoftInputFromWindow(focused.getWindowToken(), 0);
    }
    counter.add(new Counter(17), names.size(), other);
}"""
OTHER = """public int getCount(List<String> names) {
    int total = 0;
    for (String name : names) {
        total += name.length();
    }
    return total;
}"""
CODES = st.sampled_from([ANSWER, METHOD, OTHER, "", "x", "}{", "int a = 1;", "class A {}"])


def test_a_method_that_does_the_same_is_an_answer_and_another_is_none() -> None:
    assert measure_similarity(METHOD, ANSWER, "java") > 2 * THRESHOLD
    assert measure_similarity(OTHER, ANSWER, "java") < THRESHOLD / 2


def test_code_is_like_itself_whatever_its_variables_are_called() -> None:
    renamed = OTHER.replace("total", "sum").replace("names", "words")
    assert measure_similarity(OTHER, OTHER, "java") == 1
    assert measure_similarity(renamed, OTHER, "java") == 1
    # The method's own name is no variable.
    assert measure_similarity(OTHER.replace("getCount", "measure"), OTHER, "java") < 1


def test_statements_that_the_answer_has_nothing_of_cost_nothing() -> None:
    more = METHOD.replace('log.debug("hide it now", System.currentTimeMillis());', "wait(); " * 20)
    assert measure_similarity(more, ANSWER, "java") == pytest.approx(
        measure_similarity(METHOD, ANSWER, "java"), abs=0.02
    )


def test_the_features_of_a_token() -> None:
    """a = f(b); g(a): a is a variable, f and g are methods, b is nothing that is declared."""
    found = shape_of("int a = f(b); g(a);", "java").all
    assert found[("token", VARIABLE)] == 2
    assert found[("token", "f")] == found[("token", "b")] == 1
    assert found[("sibling", "f", "b")] == 1
    assert [feature[4] for feature in found if feature[:2] == ("parent", "b")] == ["( # )", "# #", "# = #"]
    assert found[("use", "# = #", "( # )")] == 1


def test_python_is_compared_as_well() -> None:
    answer = "with open(path) as f:\n    lines = f.readlines()"
    body = "log('x')\n    with open(name) as stream:\n        rows = stream.readlines()\n    return rows"
    code = f"def read(name):\n    {body}"
    assert measure_similarity(code, answer, "python") > THRESHOLD
    assert measure_similarity("def add(a, b):\n    return a + b", answer, "python") < THRESHOLD


@pytest.mark.parametrize(
    ("code", "language", "readable"),
    [
        (METHOD, "java", True),
        (ANSWER, "java", True),
        ("x = 1", "python", True),
        ("def read(name):\n    return open(name)", "java", False),
        (METHOD, "python", False),
        ("", "python", False),
        ("# a comment", "python", False),
        # 5 of 61 bytes can't be read: that is less than a tenth.
        ("number = 1\n" * 5 + "g = )\n", "python", True),
    ],
)
def test_code_of_another_language_is_not_readable(code: str, language: str, readable: bool) -> None:
    assert shape_of(code, language).is_readable is readable


@given(code=CODES, answer=CODES)
def test_the_similarity_is_a_share(code: str, answer: str) -> None:
    assert 0 <= measure_similarity(code, answer, "java") <= 1


@given(code=st.text(max_size=200), language=st.sampled_from(["java", "python"]))
@settings(deadline=None)
def test_no_text_breaks_it(code: str, language: str) -> None:
    assert 0 <= measure_similarity(code, ANSWER, language) <= 1
    whole = measure_similarity(code, code, language)
    assert whole in (0, pytest.approx(1)) or 0 < whole < 1


def test_long_code_takes_no_time() -> None:
    began = time.monotonic()
    measure_similarity("f(a, b); " * 100_000, ANSWER, "java")
    measure_similarity("(" * 100_000, "{" * 100_000, "java")
    assert time.monotonic() - began < 20
