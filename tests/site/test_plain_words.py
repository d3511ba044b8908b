"""The words on pages and in messages are plain: none of those that style.md keeps out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

BANNED = """
    anew, begun, beside, besides, came about, go on, goes on, went on, in vain, look in, of theirs, of them,
    of yours, otherwise, stand, stands, take back, taken back, takes back, told, took back, whatever, whoever
"""
WORDS = re.compile(rf"(?<!--)\b({'|'.join(word.strip() for word in BANNED.split(','))})\b", re.IGNORECASE)
NOT_SHOWN = re.compile(r"{#.*?#}|{% ?comment.*?endcomment ?%}|<(script|style)\b.*?</\1>", re.DOTALL)
TAGS = re.compile(r"{%.*?%}|{{.*?}}")
SHOWN_ATTRIBUTES = re.compile(r'(?:title|aria-label|placeholder|alt|content)="([^"]*)"')
OTHER_READERS = (
    "annotation/agents/",  # prompts: models read them, and stored replies belong to their exact words
    "annotation/builds/pipeline/advance.py",
    "annotation/migrations/",
    "annotation/models/",  # help for those who read tables; a change would need a migration
    "retrieval/migrations/",
    "retrieval/models/",
)


def texts_of_template(source: str) -> Iterator[str]:
    for line in NOT_SHOWN.sub("", source).splitlines():
        text = TAGS.sub("…", line)
        yield from (re.sub(r"<[^>]*>?", " ", text), *SHOWN_ATTRIBUTES.findall(text))


def texts_of_module(source: str) -> Iterator[str]:
    """All strings with more than one word that are no docstrings, nor what an assertion says of the code."""
    tree = ast.parse(source)
    hidden = {id(one) for node in ast.walk(tree) for one in not_shown(node)}
    for node in ast.walk(tree):
        said = node.value if isinstance(node, ast.Constant) and id(node) not in hidden else None
        if isinstance(said, str) and " " in said:
            yield said


def not_shown(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Expr):
        yield node.value
    if isinstance(node, ast.Assert) and node.msg is not None:
        yield node.msg


def templates() -> list[Path]:
    return sorted((REPOSITORY / "templates").rglob("*.html"))


def modules() -> list[Path]:
    found = (
        path for app in ("annotation", "cosqa_site", "retrieval") for path in (REPOSITORY / app).rglob("*.py")
    )
    return sorted(path for path in found if not str(path.relative_to(REPOSITORY)).startswith(OTHER_READERS))


def banned(texts: Iterator[str]) -> list[str]:
    return [" ".join(text.split())[:120] for text in texts if WORDS.search(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<p>It was done anew.</p>", True),
        ('<a title="Stands beside it">x</a>', True),
        ("{# anew #}<p>again</p>", False),
        ('<p class="of them">understand</p>', False),
        ("{% if whatever %}<p>mine --anew</p>{% endif %}", False),
    ],
)
def test_what_a_template_shows_is_looked_at(text: str, found: bool) -> None:
    assert bool(banned(texts_of_template(text))) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('said = "it goes on"', True),
        ('said = f"{count} of them"', True),
        ('"""What stands beside it."""', False),
        ('assert one, "whoever calls has seen to it"', False),
        ('verb = "told"', False),
    ],
)
def test_what_a_module_may_show_is_looked_at(text: str, found: bool) -> None:
    assert bool(banned(texts_of_module(text))) is found


def test_templates_have_plain_words() -> None:
    assert {
        str(path): said for path in templates() if (said := banned(texts_of_template(path.read_text())))
    } == {}


def test_messages_have_plain_words() -> None:
    assert {
        str(path): said for path in modules() if (said := banned(texts_of_module(path.read_text())))
    } == {}


FORMER: re.Pattern[str] = re.compile(r"(?<![\w.{<-])[Ss]nippets?(?![\w}>/-])")
"""What pages and messages call a function."""
KNOWN_BY_IT = (
    "annotation/studies/rating/leaky_tests.py",  # words that give a verdict away
    "retrieval/evaluation/publication.py",  # a line of a digest that is stored
    "retrieval/sources/code/python_or_not.py",  # the paper's name of what is no function
)


def former_words(texts: Iterator[str]) -> list[str]:
    return [" ".join(text.split())[:120] for text in texts if FORMER.search(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<th>Snippet</th>", True),
        ('<p title="both snippets">x</p>', True),
        ('<p class="snippet-head">{{ pair.snippet.head }}</p>', False),
    ],
)
def test_a_function_that_is_called_a_snippet_is_found(text: str, found: bool) -> None:
    assert bool(former_words(texts_of_template(text))) is found


def test_pages_and_messages_call_a_function_a_function() -> None:
    kept = {REPOSITORY / name for name in KNOWN_BY_IT}
    pages = {path: former_words(texts_of_template(path.read_text())) for path in templates()}
    said = {path: former_words(texts_of_module(path.read_text())) for path in modules() if path not in kept}
    labels = {
        path: [name for name in names_of_forms(path.read_text()) if FORMER.search(name)] for path in modules()
    }
    assert {str(path): texts for path, texts in [*pages.items(), *said.items()] if texts} == {}
    assert {str(path): texts for path, texts in labels.items() if texts} == {}


def names_of_forms(source: str) -> Iterator[str]:
    """Labels of one word, which are no texts of more."""
    for node in ast.walk(ast.parse(source)):
        said = node.value if isinstance(node, ast.keyword) and node.arg in {"label", "verbose_name"} else None
        if isinstance(said, ast.Constant) and isinstance(said.value, str):
            yield said.value
