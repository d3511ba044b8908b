"""The same code under other names: one hash for texts that differ in names, comments and docstrings alone."""

from __future__ import annotations

import ast
import hashlib
from typing import Final

from sandbox.candidate.scopes import free_names
from sandbox.candidate.syntax import UNREADABLE, parse_python_source
from sandbox.candidate.tree_nodes import walk_tree_nodes

VERSION: Final = 1
"""Changes whenever equal texts may get another hash."""
LONGEST: Final = 100_000
# They read local names as text.
_READ_NAMES = frozenset({"dir", "eval", "exec", "globals", "locals", "vars"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def normal_form(text: str) -> str | None:
    """sha256 (hex) of the tree without docstrings, its own names replaced in the order of their appearance.

    Own names are those of functions, parameters and local variables; what is read from outside, attributes
    and members of classes keep theirs. Errs towards different. None for what does not parse.
    """
    if len(text) > LONGEST:
        return None
    try:
        tree = parse_python_source(text)
        if tree.body:
            _drop_texts(tree)
            _Rename(_kept(tree)).visit(tree)
        return hashlib.sha256(ast.dump(tree).encode("utf-8", "surrogatepass")).hexdigest()
    except UNREADABLE:
        return None


def _drop_texts(tree: ast.Module) -> None:
    """Take out texts that stand as statements: docstrings, and what people write in place of comments."""
    for node in walk_tree_nodes(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block:
                left = [one for one in block if not _is_text(one)]
                setattr(node, field, left or [ast.Pass()])


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _kept(tree: ast.Module) -> frozenset[str] | None:
    """The names that mean something outside: read from there, or members of a class; None: all of them."""
    free = {node.id for node in free_names(tree).nodes}
    if free & _READ_NAMES:
        return None
    for node in walk_tree_nodes(tree):
        if isinstance(node, ast.Global):
            free.update(node.names)
        elif isinstance(node, ast.ClassDef):
            free.update(_class_member_names(node))
    return frozenset(free)


def _class_member_names(of: ast.ClassDef) -> set[str]:
    named = {node.name for node in of.body if isinstance(node, (*_FUNCTIONS, ast.ClassDef))}
    others = [node for node in of.body if not isinstance(node, (*_FUNCTIONS, ast.ClassDef))]
    return named.union(
        inner.id for node in others for inner in walk_tree_nodes(node) if isinstance(inner, ast.Name)
    )


class _Rename(ast.NodeTransformer):
    """One name for another all through the text; two stay two."""

    def __init__(self, kept: frozenset[str] | None) -> None:
        self._kept = kept
        self._names: dict[str, str] = {}

    def visit(self, node: ast.AST) -> ast.AST:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                node.name = self._name(node.name)
            case ast.Name():
                node.id = self._name(node.id)
            case ast.arg():
                node.arg = self._name(node.arg)
            case ast.alias(asname=str(name)):
                node.asname = self._name(name)
            case ast.Nonlocal():
                node.names = [self._name(name) for name in node.names]
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                node.name = self._name(name)
            case ast.MatchMapping(rest=str(name)):
                node.rest = self._name(name)
        self.generic_visit(node)
        return node

    def _name(self, name: str) -> str:
        if self._kept is None or name in self._kept:
            return name
        return self._names.setdefault(name, f"name {len(self._names)}")
