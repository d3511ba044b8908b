"""Parts of a Python function by the grammar, which also reads Python 2 and versions newer than this one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node

MOST_CHARACTERS = 100_000
"""Of a snippet. The most hostile one takes the grammar four seconds."""
MOST_CONTINUED = 1_000
"""Continued lines; the grammar's time grows with their square."""
NO_TEXT = frozenset("bBfFtT")
"""Prefixes of a string that is no docstring."""


def parse_by_grammar(code: str, most: int = MOST_CHARACTERS) -> Node | None:
    """The module's node, also where the grammar errs; None for what would take it too long."""
    if len(code) > most or code.count("\\\n") > MOST_CONTINUED:
        return None
    import tree_sitter

    return tree_sitter.Parser(_language()).parse(_encode_code(code)).root_node


def extract_python_part(code: str, option: str) -> str | None:
    """The part of a function that is searched; code without a function is returned whole.

    None for what the grammar can't read.
    """
    root = parse_by_grammar(code)
    if root is None or root.has_error:
        return None
    function = next(_functions(root), None)
    if function is None:
        return code
    if option == "without docstring":
        statement = _docstring(function)
        return _without(code, [statement] if statement else [])
    plain = _without(code, (node for node in walk_grammar_nodes(root) if node.type == "comment"))
    return plain if option == "without comments" else _signature(plain)


def _signature(plain: str) -> str:
    """The first function of code without comments, up to its body, with its docstring."""
    root = parse_by_grammar(plain)
    function = next(_functions(root), None) if root else None
    body = function.child_by_field_name("body") if function else None
    if function is None or body is None:
        return plain
    source, statement = _encode_code(plain), _docstring(function)
    start = source.rfind(b"\n", 0, function.start_byte) + 1
    return _decode_code(source[start : statement.end_byte if statement else body.start_byte]).rstrip()


def _functions(root: Node) -> Iterator[Node]:
    """Yield the functions at the top of a module."""
    for outer in root.named_children:
        wrapped = outer.child_by_field_name("definition") if outer.type == "decorated_definition" else None
        node = wrapped or outer
        if node.type == "function_definition":
            yield node


def _docstring(function: Node) -> Node | None:
    """The statement that is a function's docstring."""
    body = function.child_by_field_name("body")
    first = _first_but_comments(body) if body else None
    value = first.named_children if first and first.type == "expression_statement" else []
    while len(value) == 1 and value[0].type == "parenthesized_expression":
        value = value[0].named_children
    if len(value) != 1 or value[0].type not in ("string", "concatenated_string"):
        return None
    strings = value if value[0].type == "string" else value[0].named_children
    prefixes = "".join(_decode_code(node.child(0).text or b"") for node in strings if node.child(0))
    return None if NO_TEXT.intersection(prefixes) else first


def _first_but_comments(body: Node) -> Node | None:
    return next((child for child in body.named_children if child.type != "comment"), None)


def _without(code: str, nodes: Iterable[Node]) -> str:
    """The code without some nodes; a line that held nothing else goes, too."""
    source = _encode_code(code)
    for node in sorted(nodes, key=lambda node: -node.start_byte):
        start, end = node.start_byte, node.end_byte
        line = source.rfind(b"\n", 0, start) + 1
        following = source.find(b"\n", end) + 1 or len(source)
        after = source[end:following]
        end += len(after) - len(after.lstrip(b" \t;"))
        alone = not source[line:start].strip() and not after.strip(b" \t;\r\n")
        source = source[:line] + source[following:] if alone else source[:start] + source[end:]
    return _decode_code(source)


def walk_grammar_nodes(root: Node) -> Iterator[Node]:
    """Yield a node and all below it."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.children)


def _encode_code(code: str) -> bytes:
    return code.encode("utf-8", "surrogatepass")


def _decode_code(part: bytes) -> str:
    return part.decode("utf-8", "surrogatepass")


@cache
def _language() -> Language:
    """Loaded with the first text that needs it: every command imports this module."""
    import tree_sitter
    import tree_sitter_python

    return tree_sitter.Language(tree_sitter_python.language())
