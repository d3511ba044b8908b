"""What documents a function: a docstring inside it, a `/**` comment or comments of lines just before it."""

from __future__ import annotations

import inspect
import re

from tree_sitter import Node

from sandbox.candidate.syntax import UNREADABLE, literal_value

JAVADOC_INLINE = re.compile(r"\{@\w++[ \t]*+([^{}]*+)\}")  # possessive: a hostile comment takes no longer
PARAGRAPH_TAG = re.compile(r"</?p[ \t]*/?>", re.IGNORECASE)
HTML_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
DIRECTIVE = re.compile(r"//[a-z0-9]+:[a-z0-9]|#\s*(rubocop|:nodoc:|frozen_string_literal)|// eslint-")
"""Comments that speak to a tool: Go's own rule, and the like."""
RUBY_BLOCK = re.compile(r"^=(begin|end).*$", re.MULTILINE)
MOST_COMMENTS = 1_000
"""Comments of one line that are looked at before a function."""


def read_docstring(function: Node, outer: Node) -> tuple[str, Node | None]:
    """The first statement, if it is a text of its own."""
    body = function.child_by_field_name("body")
    first = next((child for child in body.named_children if child.type != "comment"), None) if body else None
    text = first.named_child(0) if first and first.type == "expression_statement" else None
    if text is None or text.type != "string":
        return "", None
    try:
        value = literal_value(decode_node(text))
    except UNREADABLE:
        return "", None
    return (inspect.cleandoc(value), first) if isinstance(value, str) else ("", None)


def read_javadoc(function: Node, outer: Node) -> tuple[str, Node | None]:
    """The `/**` comment just before, without stars, tags and braces."""
    comment = outer.prev_named_sibling
    written = decode_node(comment) if comment and "comment" in comment.type else ""
    return (_plain_block(written), None) if written.startswith("/**") else ("", None)


def read_comments_before(function: Node, outer: Node) -> tuple[str, Node | None]:
    """The comments before a function with no blank line between, without their signs and those to tools."""
    found = list[Node]()
    following, comment = outer, _node_before(outer)
    while comment and comment.type == "comment" and len(found) < MOST_COMMENTS:
        # Ruby's grammar ends a comment of several lines at the start of the next line.
        if comment.end_point[0] - (comment.end_point[1] == 0) + 1 < following.start_point[0]:
            break
        found.append(comment)
        following, comment = comment, comment.prev_named_sibling
    written = map(decode_node, reversed(found))
    return "\n".join(_plain(text) for text in written if not DIRECTIVE.match(text)), None


def _node_before(node: Node) -> Node | None:
    """The node just before; before the first of a body that before the body, as Ruby's grammar has it."""
    before = node.prev_named_sibling
    if before is None and node.parent and node.parent.type == "body_statement":
        return node.parent.prev_named_sibling
    return before


def _plain(comment: str) -> str:
    if comment.startswith("/*"):
        return _plain_block(comment)
    if comment.startswith("=begin"):
        return RUBY_BLOCK.sub("", comment).strip()
    return comment.lstrip("/" if comment.startswith("//") else "#").strip()


def _plain_block(comment: str) -> str:
    lines = (line.strip().strip("*").strip() for line in comment[2:-2].splitlines())
    plain = JAVADOC_INLINE.sub(r"\1", "\n".join(lines))
    return HTML_TAG.sub("", PARAGRAPH_TAG.sub("\n\n", plain)).strip()


def decode_node(node: Node) -> str:
    """A node's text; bytes that are not UTF-8 are marked."""
    return (node.text or b"").decode("utf-8", "replace")
