"""The snippet writer: what it is asked, and which answers are functions."""

from __future__ import annotations

import json

import pytest

from annotation.agents import InvalidReply, snippet_writer
from annotation.agents.snippet_writer import SnippetInputs

GOOD = "import re\n\ndef words(text):\n    return re.findall(r'\\w+', text)"


def answer(**changes: object) -> str:
    return json.dumps({"explanation": "finds words", "packages": ["numpy==2.1.0"], "code": GOOD, **changes})


def asked(**inputs: object) -> str:
    fields = {"query": "split into words", **inputs}
    return snippet_writer.build_snippet_request(SnippetInputs(**fields), "m").messages[0].text  # type: ignore[arg-type]


def test_a_function_with_its_imports_is_taken() -> None:
    found = snippet_writer.WrittenSnippet.of_reply(answer())
    assert (found.code, found.packages) == (GOOD, ["numpy==2.1.0"])


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("def a(:", "line 1"),
        ("import re", "exactly one function"),
        ("def a():\n    pass\ndef b():\n    pass", "it defines 2"),
        ("class A:\n    def a(self):\n        pass", "exactly one function"),
        ("def a():\n    pass\na()", "line 3"),
        ("def a():\n    return '" + "x" * 20_001 + "'", "longer than"),
    ],
)
def test_what_is_no_function_is_no_answer(code: str, word: str) -> None:
    with pytest.raises(InvalidReply, match=word):
        snippet_writer.WrittenSnippet.of_reply(answer(code=code))


@pytest.mark.parametrize("packages", [["--index-url x"], ["a; rm -rf /"], ["a b"], [""], ["a"] * 6, "numpy"])
def test_packages_are_names_and_nothing_else(packages: object) -> None:
    with pytest.raises(InvalidReply):
        snippet_writer.WrittenSnippet.of_reply(answer(packages=packages))


def test_material_is_fenced_and_comes_with_what_was_near_and_what_was_denied() -> None:
    plain = asked()
    assert "<query-" in plain and "<code-" not in plain
    whole = asked(near=("def near(): pass",), denied_code=GOOD, denied_because="it keeps digits")
    assert whole.index("split into words") < whole.index("def near") < whole.index("it keeps digits")


def test_the_same_order_is_the_same_request() -> None:
    one = snippet_writer.build_snippet_request(SnippetInputs("q", ("a",)), "m")
    assert one.digest() == snippet_writer.build_snippet_request(SnippetInputs("q", ("a",)), "m").digest()
    assert one.digest() != snippet_writer.build_snippet_request(SnippetInputs("q", ("b",)), "m").digest()
