"""The languages that functions are extracted from; one more is one more row of the table.

A row names the grammar's node types and says how documentation is written. Only functions at the top of a
file and in classes at its top are looked at, as in CodeSearchNet.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import tree_sitter_java
import tree_sitter_python
from tree_sitter import Node

from retrieval.sources.code.python_source import Cut, cuts_of, in_utf8
from sandbox.candidate.syntax import UNREADABLE, literal_value

JAVADOC_INLINE = re.compile(r"\{@\w++[ \t]*+([^{}]*+)\}")  # possessive: a hostile comment takes no longer
PARAGRAPH_TAG = re.compile(r"</?p[ \t]*/?>", re.IGNORECASE)
HTML_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


@dataclass(frozen=True, slots=True)
class Language:
    """How a language writes functions.

    `wrappers` are nodes around a definition; `classes` are entered, and `bodies` inside them; `documentation`
    returns the text that documents a function's node (given the node around it) and the node that holds it.
    `trivial` are first statements of a body that does nothing; `left_out` matches names of no interest.
    """

    grammar: Callable[[], object]
    endings: tuple[str, ...]
    functions: frozenset[str]
    classes: frozenset[str]
    bodies: frozenset[str]
    wrappers: frozenset[str]
    documentation: Callable[[Node, Node], tuple[str, Node | None]]
    trivial: frozenset[str]
    left_out: re.Pattern[str]
    strings: frozenset[str]
    """Strings whose lines may not lose their indent: their value would change."""
    in_utf8: Callable[[bytes], bytes] = lambda content: content
    """A file in the encoding that the grammar reads."""
    cuts: Callable[[bytes], Mapping[tuple[int, str], Cut]] = lambda content: {}
    """Functions by first line and name as another parser reads a file: asked where the grammar errs."""


def _docstring(function: Node, outer: Node) -> tuple[str, Node | None]:
    """The first statement, if it is a text of its own."""
    body = function.child_by_field_name("body")
    first = next((child for child in body.named_children if child.type != "comment"), None) if body else None
    text = first.named_child(0) if first and first.type == "expression_statement" else None
    if text is None or text.type != "string":
        return "", None
    try:
        value = literal_value(_decode_node(text))
    except UNREADABLE:
        return "", None
    return (inspect.cleandoc(value), first) if isinstance(value, str) else ("", None)


def _javadoc(function: Node, outer: Node) -> tuple[str, Node | None]:
    """The `/**` comment just before, without stars, tags and braces."""
    comment = outer.prev_named_sibling
    written = _decode_node(comment) if comment and comment.type == "block_comment" else ""
    if not written.startswith("/**"):
        return "", None
    lines = (line.strip().strip("*").strip() for line in written[2:-2].splitlines())
    plain = JAVADOC_INLINE.sub(r"\1", "\n".join(lines))
    return HTML_TAG.sub("", PARAGRAPH_TAG.sub("\n\n", plain)).strip(), None


def _decode_node(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


LANGUAGES: Mapping[str, Language] = {
    "python": Language(
        grammar=tree_sitter_python.language,
        endings=(".py",),
        functions=frozenset({"function_definition"}),
        classes=frozenset({"class_definition"}),
        bodies=frozenset({"block"}),
        wrappers=frozenset({"decorated_definition"}),
        documentation=_docstring,
        trivial=frozenset({"pass_statement", "raise_statement"}),
        left_out=re.compile(r"__\w+__"),
        strings=frozenset({"string"}),
        in_utf8=in_utf8,
        cuts=cuts_of,
    ),
    "java": Language(
        grammar=tree_sitter_java.language,
        endings=(".java",),
        functions=frozenset({"method_declaration"}),
        classes=frozenset(
            {"class_declaration", "interface_declaration", "enum_declaration", "record_declaration"}
        ),
        bodies=frozenset({"class_body", "interface_body", "enum_body", "enum_body_declarations"}),
        wrappers=frozenset(),
        documentation=_javadoc,
        trivial=frozenset({"throw_statement"}),
        left_out=re.compile("toString|hashCode|equals|finalize|notify|notifyAll|clone"),
        strings=frozenset(),
    ),
}
