"""Which Python a text needs that this server's own parser refuses: the grammar reads newer syntax, too."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, TypeAlias

from retrieval.filters.python_grammar import parse_by_grammar, walk_grammar_nodes

if TYPE_CHECKING:
    from tree_sitter import Node

Version: TypeAlias = tuple[int, int]

HERE: Final[Version] = sys.version_info[:2]
PEP_695: Final[Version] = (3, 12)
"""Parameters of types, `type X = …`; and PEP 701, any expression in an f-string."""
PEP_750: Final[Version] = (3, 14)
"""Template strings; and PEP 758, several exceptions without parentheses."""
OF_PYTHON_2: Final = frozenset({"print_statement", "exec_statement"})


def find_needed_version(code: str) -> Version | None:
    """The first version of Python 3 that has all syntax of a text, where it is newer than the one here.

    None where nothing newer is found, and for what the grammar can't read. Several exceptions without
    parentheses, as Python 2 has them with a name, count where nothing else is of Python 2.
    """
    root = parse_by_grammar(code)
    if root is None or root.has_error:
        return None
    nodes = list(walk_grammar_nodes(root))
    needed = {version for node in nodes if (version := _needed_by(node))}
    if not needed or max(needed) <= HERE or any(node.type in OF_PYTHON_2 for node in nodes):
        return None
    return max(needed)


def format_version(version: Version = HERE) -> str:
    """
    >>> format_version((3, 12))
    'Python 3.12'
    """
    return f"Python {version[0]}.{version[1]}"


def _needed_by(node: Node) -> Version | None:
    if node.type == "type_alias_statement" or node.child_by_field_name("type_parameters"):
        return PEP_695
    if node.type == "except_clause" and len(node.children_by_field_name("value")) > 1:
        return PEP_750
    return _needed_by_string(node) if node.type == "string" else None


def _needed_by_string(node: Node) -> Version | None:
    """Before 3.12 an expression had no backslash, comment or quote of its f-string, nor always lines."""
    start = (node.children[0].text or b"").decode("utf-8", "replace").lower()
    prefix, quote = start.rstrip("'\""), start.lstrip("bfrtu")
    if "t" in prefix:
        return PEP_750
    for part in node.named_children:
        if part.type == "interpolation":
            text = (part.text or b"").decode("utf-8", "replace")
            has_comment = any(inner.type == "comment" for inner in walk_grammar_nodes(part))
            if quote in text or "\\" in text or has_comment or ("\n" in text and len(quote) == 1):
                return PEP_695
    return None
