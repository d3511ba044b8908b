"""Names that a snippet uses and does not have: its file, class or project would have given it them."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sandbox.candidate import python2
from sandbox.candidate.known_names import GONE, of_distribution, of_standard_library
from sandbox.candidate.scopes import free_names
from sandbox.candidate.syntax import TooComplex, parse_python_source
from sandbox.candidate.tree_nodes import walk_tree_nodes
from sandbox.package_names import find_module_replacement

MOST_NAMES: Final = 200
LONGEST: Final = 200_000
"""Characters; a longer text is no function that somebody reads."""
_BUILTINS: Final = frozenset(dir(builtins))
_OF_OBJECTS: Final = frozenset({*dir(object), *dir(type), "__dict__", "__weakref__", "__slots__"})
_MEAN_MORE: Final = frozenset({"commands", "exceptions", "new", "parser", "symbol", "user"})
"""Modules of Python 2 by whose names projects call things of their own."""
_SUPER: Final = "super()"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Kind(StrEnum):
    """Where a name would have come from, as far as its text tells."""

    STANDARD = "standard library"
    DISTRIBUTION = "known distribution"
    GONE = "of Python 2, or removed since"
    PROJECT = "project name"
    SELF = "self attribute"


@dataclass(frozen=True, slots=True, order=True)
class NamePlace:
    """Where a name stands: line from 1, column in characters from 0."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Missing:
    """One name with its places. `source`: the module or distribution, or what took its place in Python 3."""

    name: str
    kind: Kind
    source: str
    places: tuple[NamePlace, ...]


@dataclass(frozen=True, slots=True)
class Unbound:
    """What a snippet lacks. `problem` says why the Python here can't read it, empty where it can.

    `read`: its names could be looked at all the same; `parsed`: its text was, else nobody knows what it is.
    `stars` are modules from which everything is imported: names may come from there. `more` are left out.
    """

    names: tuple[Missing, ...]
    problem: str = ""
    read: bool = True
    stars: tuple[str, ...] = ()
    more: int = 0
    parsed: bool = True

    @property
    def needs_project(self) -> bool:
        """Whether something is missing that no import can bring: a name of its project, or of its class."""
        return any(name.kind in (Kind.PROJECT, Kind.SELF) for name in self.names)

    def of(self, kind: Kind) -> tuple[Missing, ...]:
        return tuple(name for name in self.names if name.kind is kind)


def find_unbound_names(text: str) -> Unbound:
    """What `text` uses and does not have, by the tree alone: nothing is run or imported.

    Python 2 is read as near as it gets; `problem` then says so.
    """
    if len(text) > LONGEST:
        said = f"It is longer than {LONGEST:,} characters, so its names were not looked up."
        return Unbound((), said, read=False, parsed=False)
    try:
        tree, problem = _tree_of(text)
    except TooComplex as error:
        return Unbound((), f"Its names were not looked up: it {error}.", read=False, parsed=False)
    if tree is None:
        return Unbound((), problem, read=False)
    free = free_names(tree)
    found = [*_plain(tree, free.nodes), *_relative(tree), *_of_self(tree)]
    found.sort(key=lambda one: (list(Kind).index(one.kind), one.places[0]))
    names = tuple(_in_characters(one, text) for one in found[:MOST_NAMES])
    return Unbound(names, problem, True, free.stars, max(0, len(found) - MOST_NAMES))


def _tree_of(text: str) -> tuple[ast.Module | None, str]:
    """The tree, None where there is none, and what is wrong with the text. Raises TooComplex."""
    try:
        return parse_python_source(text), ""
    except SyntaxError as error:
        here = f"Python {sys.version_info.major}.{sys.version_info.minor}"
        said = f"It is no {here} (line {error.lineno or 1}: {error.msg})."
    except TooComplex:
        raise
    except ValueError as error:
        return None, f"Python can't read it: {error}."
    tree = python2.parse_python2(text)
    if tree is None:
        return None, f"{said} Its names can't be looked up."
    return tree, f"{said} It was read as Python 2: in Python 3 it does not run."


def _plain(tree: ast.Module, nodes: Iterable[ast.Name]) -> Iterator[Missing]:
    modules = {id(node.value) for node in walk_tree_nodes(tree) if isinstance(node, ast.Attribute)}
    by_name: dict[str, list[ast.Name]] = {}
    for node in nodes:
        if node.id not in _BUILTINS:
            by_name.setdefault(node.id, []).append(node)
    for name, found in by_name.items():
        kind, source = _kind_of(name, any(id(node) in modules for node in found))
        yield Missing(name, kind, source, _places(found))


def _kind_of(name: str, as_module: bool) -> tuple[Kind, str]:
    if name in GONE:
        return Kind.GONE, GONE[name]
    standard = of_standard_library(name, as_module)
    if standard:
        return Kind.STANDARD, standard
    instead = find_module_replacement(name) if as_module and name not in _MEAN_MORE else None
    if instead is not None:
        return Kind.GONE, instead
    distribution = of_distribution(name, as_module)
    if distribution:
        return Kind.DISTRIBUTION, distribution
    return Kind.PROJECT, ""


def _relative(tree: ast.Module) -> Iterator[Missing]:
    """What is imported from the project's own package."""
    for node in walk_tree_nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield Missing("." * node.level + (node.module or ""), Kind.PROJECT, "", _places([node]))


def _of_self(tree: ast.Module) -> Iterator[Missing]:
    """Attributes of an instance or class that the snippet reads and does not set, and its base class."""
    for statement in tree.body:
        if isinstance(statement, _FUNCTIONS):
            yield from _lacking([statement], had=frozenset(), everywhere=False)
        elif isinstance(statement, ast.ClassDef):
            methods = [one for one in statement.body if isinstance(one, _FUNCTIONS)]
            yield from _lacking(
                methods, had=frozenset({*_members_of_class(statement), _SUPER}), everywhere=True
            )


def _lacking(
    methods: list[ast.FunctionDef | ast.AsyncFunctionDef], had: frozenset[str], everywhere: bool
) -> Iterator[Missing]:
    """`everywhere`: what one of the methods sets another one has; else it must be set on a line before."""
    reads: dict[str, list[ast.AST]] = {}
    set_at: dict[str, int] = {}
    for method in methods:
        reader = _Reader.of(method)
        if reader is None:
            continue
        for name, node in reader.reads:
            reads.setdefault(name, []).append(node)
        for name, line in reader.stores:
            set_at[name] = min(line, set_at.get(name, sys.maxsize))
    for name, nodes in reads.items():
        first = min(getattr(node, "lineno", 1) for node in nodes)
        if name in had or name in _OF_OBJECTS or (name in set_at and (everywhere or set_at[name] < first)):
            continue
        yield Missing(name, Kind.SELF, "", _places(nodes))


@dataclass(frozen=True, slots=True)
class _Reader:
    """The attributes of its first parameter that a method reads and sets; `super()` is one of the former."""

    reads: list[tuple[str, ast.AST]]
    stores: list[tuple[str, int]]

    @classmethod
    def of(cls, method: ast.FunctionDef | ast.AsyncFunctionDef) -> _Reader | None:
        """None for a function whose first parameter is called otherwise than that of a method."""
        given = [*method.args.posonlyargs, *method.args.args]
        if not given or given[0].arg not in ("self", "cls"):
            return None
        found = cls([], [])
        nodes = walk_tree_nodes(method)
        counted = {id(node.target) for node in nodes if isinstance(node, ast.AugAssign)}
        for node in nodes:
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == given[0].arg:
                    if isinstance(node.ctx, ast.Store) and id(node) not in counted:
                        found.stores.append((attribute, node.lineno))
                    else:
                        found.reads.append((attribute, node))
                case ast.Call(func=ast.Name(id="super") as called, args=[]):
                    found.reads.append((_SUPER, called))
        return found


def _members_of_class(of: ast.ClassDef) -> Iterator[str]:
    """What a class defines in its own block; of its bases nothing is known."""
    for node in of.body:
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            yield node.name
        for inner in () if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) else walk_tree_nodes(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id


def _places(nodes: Iterable[ast.AST]) -> tuple[NamePlace, ...]:
    """Where the names stand, in bytes; an attribute at its own name, after the dot."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.end_lineno and node.end_col_offset:
            found.add(NamePlace(node.end_lineno, node.end_col_offset - len(node.attr.encode())))
        elif isinstance(node, (ast.Name, ast.ImportFrom)):
            found.add(NamePlace(node.lineno, node.col_offset))
    return tuple(sorted(found))


def _in_characters(one: Missing, text: str) -> Missing:
    """Columns in characters. Python 3.11 does not know those in f-strings: there the name is searched."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return Missing(
        one.name, one.kind, one.source, tuple(_placed(place, one.name, lines) for place in one.places)
    )


def _placed(place: NamePlace, name: str, lines: list[str]) -> NamePlace:
    line = lines[place.line - 1] if place.line <= len(lines) else ""
    column = len(line.encode()[: place.column].decode("utf-8", "ignore"))
    if not line.startswith(name, column) and name in line:
        column = line.index(name)
    return NamePlace(place.line, column)
