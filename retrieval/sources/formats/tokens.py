"""A function's tokens and subtokens, as CodeSearchNet gave them with its functions.

Tokens are the leaves of the grammar's tree, strings whole and the docstring left out; identifiers are split
into subtokens where the case changes, at underscores and around numbers (its paper, section 4, and the
`split_identifier_into_parts` of the library that its baselines use).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter
from tree_sitter import Node

from retrieval.filters import TextOption, extract_searched_text
from retrieval.sources.code.languages import LANGUAGES

WITHOUT: TextOption = "without docstring"
SPLIT = re.compile(
    r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])|(?<=[0-9])(?=[a-zA-Z])|(?<=[A-Za-z])(?=[0-9])|_+"
)
IDENTIFIER = re.compile(r"[^\W\d]\w*")
CONTINUED = re.compile(r"\\\n(?:[ \t]*\\\n)+")
MOST_CONTINUED = 1_000
WORD = re.compile(r"\w+|[^\w\s]")
STRINGS = frozenset(
    ("string", "string_literal", "interpreted_string_literal", "raw_string_literal", "template_string")
) | {"encapsed_string"}


def code_tokens(text: str, language: str) -> list[str]:
    """The tokens of a function's text, in order."""
    kept = extract_searched_text(text, WITHOUT)
    unread, kept = not kept, kept or text
    if kept.count("\\\n") > MOST_CONTINUED:
        # Lines that are nothing but continued hold no token, and the grammar's time grows with their square.
        kept = CONTINUED.sub("\\\\\n", kept)
    source = kept.encode()
    rules = LANGUAGES[language]
    grammar = tree_sitter.Language((rules.fragments or rules.grammar)())
    tree = tree_sitter.Parser(grammar).parse(source)
    leaves = (
        source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        for node in _leaves(tree.root_node)
        if not (unread and _is_lone_string(node))
    )
    return [leaf for leaf in leaves if leaf.strip()]


def docstring_tokens(documentation: str) -> list[str]:
    """Words and single signs."""
    return WORD.findall(documentation)


def split_identifier(identifier: str) -> list[str]:
    """The parts of an identifier in lower case.

    >>> subtokens("readHTTPBody2_now")
    ['read', 'http', 'body', '2', 'now']
    """
    return [part.lower() for part in SPLIT.split(identifier) if part]


def identifier_subtokens(tokens: list[str]) -> list[str]:
    """The subtokens of those tokens that are identifiers or keywords, in order."""
    return [part for token in tokens if IDENTIFIER.fullmatch(token) for part in split_identifier(token)]


def _is_lone_string(node: Node) -> bool:
    """Whether a string is a statement of its own: of code that no parser reads, it may be a docstring."""
    around = node.parent
    return around is not None and around.type == "expression_statement" and around.child_count == 1


def _leaves(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in STRINGS or not node.children:
            yield node
        else:
            waiting.extend(reversed(node.children))
