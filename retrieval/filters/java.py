"""Parts of a Java method, by its grammar."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node

AROUND = (b"class A {\n", b"\n}")
"""A method stands in a class, or the grammar reads it as something else."""
MOST_CHARACTERS = 100_000
METHODS = frozenset({"method_declaration", "constructor_declaration"})
COMMENTS = frozenset({"line_comment", "block_comment"})


def extract_java_part(code: str, option: str) -> str | None:
    """The part of a method that is searched; None for what is no Java, or no method."""
    if len(code) > MOST_CHARACTERS:
        return None
    source = AROUND[0] + code.encode() + AROUND[1]
    root = _root(source)
    method = next((node for node in _nodes(root) if node.type in METHODS), None)
    if root.has_error or method is None:
        return None
    documentation = _documentation(method)
    if option == "without docstring":
        return _without(source, [documentation] if documentation else [])
    if option == "without comments":
        comments = [node for node in _nodes(root) if node.type in COMMENTS]
        return _without(source, [node for node in comments if not _is_documentation(node)])
    return _signature(source, method, documentation)


def _documentation(method: Node) -> Node | None:
    """The `/**` comment just before a method."""
    before = method.prev_named_sibling
    return before if before and _is_documentation(before) else None


def _is_documentation(node: Node) -> bool:
    return node.type == "block_comment" and (node.text or b"").startswith(b"/**")


def _signature(source: bytes, method: Node, documentation: Node | None) -> str:
    body = method.child_by_field_name("body")
    declared = source[method.start_byte : body.start_byte if body else method.end_byte]
    said = (documentation.text or b"") + b"\n" if documentation else b""
    return (said + declared).decode("utf-8", "replace").strip()


def _without(source: bytes, nodes: list[Node]) -> str:
    """The code without some nodes; a line that held nothing else goes, too."""
    for node in sorted(nodes, key=lambda node: -node.start_byte):
        start, end = node.start_byte, node.end_byte
        line = source.rfind(b"\n", 0, start) + 1
        after = source.find(b"\n", end)
        alone = not source[line:start].strip() and after >= 0 and not source[end:after].strip()
        start, end = (line, after + 1) if alone else (start, end)
        source = source[:start] + source[end:]
    return source[len(AROUND[0]) : len(source) - len(AROUND[1])].decode("utf-8", "replace")


def _nodes(root: Node) -> Iterator[Node]:
    """Yield all nodes, each before those inside it."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def _root(source: bytes) -> Node:
    import tree_sitter

    return tree_sitter.Parser(_language()).parse(source).root_node


@cache
def _language() -> Language:
    """Loaded with the first method: every command imports this module, and few read Java."""
    import tree_sitter
    import tree_sitter_java

    return tree_sitter.Language(tree_sitter_java.language())
