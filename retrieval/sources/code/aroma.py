"""How alike two pieces of code are, by the structural features of Aroma (Luan et al., OOPSLA 2019, §3).

Each token that is no keyword has features: itself, its place under the three nodes around it, the token after
it, and of a local variable the places of its next use. Names of local variables count as `#VAR`. Of the
code the statements that raise the similarity are kept (its pruning); the similarity is the share of the
features of both that both have, from 0 to 1. Neural Code Search counts a method as an answer from 0.25 on.
Its authors' tool was not at hand: what the paper leaves open, such as statements as units, is as said here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final, TypeAlias

import tree_sitter
from tree_sitter import Node

from retrieval.sources.code.comments import decode_node
from retrieval.sources.code.languages import LANGUAGES

THRESHOLD: Final = 0.25
MOST_BYTES: Final = 50_000
"""Of code that is compared; longer code is compared as far as that."""
MOST_UNITS: Final = 300
MOST_FAULTS: Final = 0.1
"""The share of code that a grammar may fail to read; with more it is another language, or broken."""
VARIABLE: Final = "#VAR"
LONGEST_LABEL: Final = 50
AROUND: Final = 3
"""Nodes around a token whose place it has as a feature."""

Features: TypeAlias = Counter[tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class Grammar:
    """Node types of a language: `declarations` and the field that has a variable's name; `members` are fields
    of nodes whose names are no variables; `wraps` are what a fragment may need around it.
    """

    declarations: Mapping[str, str]
    members: frozenset[tuple[str, str]]
    statement: str = "statement"
    others: frozenset[str] = frozenset()
    """Statements that are not called so."""
    wraps: tuple[tuple[str, str], ...] = (("", ""),)


GRAMMARS: Final[Mapping[str, Grammar]] = {
    "java": Grammar(
        declarations={
            "variable_declarator": "name",
            "formal_parameter": "name",
            "catch_formal_parameter": "name",
            "enhanced_for_statement": "name",
            "resource": "name",
        },
        members=frozenset(
            {("method_invocation", "name"), ("field_access", "field"), ("method_declaration", "name")}
        ),
        others=frozenset({"local_variable_declaration"}),
        wraps=(("", ""), ("class A {\n", "\n}"), ("class A { void f() {\n", "\n} }")),
    ),
    "python": Grammar(
        declarations={
            "assignment": "left",
            "for_statement": "left",
            "for_in_clause": "left",
            "named_expression": "name",
            "parameters": "",
            "as_pattern_target": "",
        },
        members=frozenset(
            {("attribute", "attribute"), ("keyword_argument", "name"), ("function_definition", "name")}
        ),
    ),
}


@dataclass
class Shape:
    """A piece of code as features: those of each statement by itself.

    `faults` is the share of its bytes that the grammar could not read, from 0 to 1.
    """

    units: dict[int, Features] = field(default_factory=lambda: defaultdict(Counter))
    faults: float = 0.0

    @property
    def all(self) -> Features:
        return sum_features(self.units.values())

    @property
    def is_readable(self) -> bool:
        """Whether it is code of the language: it has tokens, and the grammar read nearly all of it."""
        return bool(self.units) and self.faults <= MOST_FAULTS


def measure_similarity(code: str, answer: str, language: str) -> float:
    """How alike code and an answer are, from 0 to 1, once what the answer has nothing of is pruned.

    0 where one of them has no token. `language` is one of GRAMMARS.
    """
    return compare_shapes(shape_of(code, language), shape_of(answer, language))


def compare_shapes(code: Shape, answer: Shape) -> float:
    """The same of two pieces of code whose features are known."""
    wanted = answer.all
    units = [features for features in code.units.values() if features & wanted]
    return _prune(units[:MOST_UNITS], wanted) if wanted else 0.0


def _prune(units: list[Features], wanted: Features) -> float:
    """The similarity with the statements that raise it, the best one first."""
    kept, both, size, best = Counter[tuple[object, ...]](), 0, wanted.total(), 0.0
    while units:
        gains = [_count_shared(unit, kept, wanted) for unit in units]
        scores = [
            (both + gain) / (size + unit.total() - gain) for unit, gain in zip(units, gains, strict=True)
        ]
        place = max(range(len(units)), key=scores.__getitem__)
        if scores[place] <= best:
            break
        best = scores[place]
        unit = units.pop(place)
        both, size = both + gains[place], size + unit.total() - gains[place]
        kept.update(unit)
    return best


def _count_shared(unit: Features, kept: Features, wanted: Features) -> int:
    """How many more of the wanted features are there with a statement than without."""
    return sum(
        min(kept[feature] + count, wanted[feature]) - min(kept[feature], wanted[feature])
        for feature, count in unit.items()
        if feature in wanted
    )


def sum_features(parts: Iterable[Features]) -> Features:
    """All features of several statements."""
    found = Counter[tuple[object, ...]]()
    for part in parts:
        found.update(part)
    return found


def shape_of(code: str, language: str) -> Shape:
    """The features of a piece of code, also of one that is no whole function."""
    grammar = GRAMMARS[language]
    root = _parse(code.encode()[:MOST_BYTES], language, grammar)
    variables = set(_variables(root, grammar))
    tokens = list(_tokens(root, grammar))
    words = [VARIABLE if _is_use(token.node, variables, grammar) else token.text for token in tokens]
    shape, last = Shape(faults=_share_of_faults(root)), dict[str, Token]()
    for place, (token, word) in enumerate(zip(tokens, words, strict=True)):
        features = shape.units[token.unit]
        features[("token", word)] += 1
        features.update(("parent", word, number, *around) for number, around in enumerate(token.around))
        if place + 1 < len(words):
            features[("sibling", word, words[place + 1])] += 1
        if word == VARIABLE:
            if before := last.get(token.text):
                shape.units[before.unit][("use", before.label, token.label)] += 1
            last[token.text] = token
    return shape


@dataclass(frozen=True, slots=True)
class Token:
    """A token that is no keyword: its statement, and which child of which nodes it is, the next one first."""

    node: Node
    text: str
    unit: int
    around: tuple[tuple[int, str], ...]

    @property
    def label(self) -> str:
        return self.around[0][1] if self.around else ""


def _tokens(root: Node, grammar: Grammar) -> Iterator[Token]:
    """Yield them in order; strings are whole."""
    waiting: list[tuple[Node, int, tuple[tuple[int, str], ...]]] = [(root, 0, ())]
    while waiting:
        node, unit, around = waiting.pop()
        if not node.children or "string" in node.type:
            if node.is_named and "comment" not in node.type and node.end_byte > node.start_byte:
                yield Token(node, decode_node(node), unit, around)
            continue
        if node.type.endswith(grammar.statement) or node.type in grammar.others:
            unit = node.id
        label, single = _label(node), node.child_count == 1
        inside = [
            (child, unit, around if single else ((place, label), *around)[:AROUND])
            for place, child in enumerate(node.children)
        ]
        waiting.extend(reversed(inside))


def _parse(source: bytes, language: str, grammar: Grammar) -> Node:
    """The tree of a fragment with what has the fewest faults around it."""
    parser = tree_sitter.Parser(_grammar(language))
    roots = [
        parser.parse(before.encode() + source + after.encode()).root_node for before, after in grammar.wraps
    ]
    return min(roots, key=_count_faults)


@cache
def _grammar(language: str) -> tree_sitter.Language:
    return tree_sitter.Language(LANGUAGES[language].grammar())


def _count_faults(root: Node) -> int:
    return sum(node.is_error or node.is_missing for node in _walk(root)) if root.has_error else 0


def _share_of_faults(root: Node) -> float:
    """The share of the bytes that lie in parts which the grammar could not read."""
    if not root.has_error:
        return 0.0
    waiting, unread = [root], 0
    while waiting:
        node = waiting.pop()
        if node.is_error:
            unread += node.end_byte - node.start_byte
        else:
            waiting.extend(node.children)
    return unread / max(1, root.end_byte - root.start_byte)


def _walk(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def _variables(root: Node, grammar: Grammar) -> Iterator[str]:
    """The names that the code declares."""
    for node in _walk(root):
        name = grammar.declarations.get(node.type)
        if name is None:
            continue
        declared = node.child_by_field_name(name) if name else node
        for found in _walk(declared) if declared and declared.type not in ("attribute", "subscript") else ():
            if found.type == "identifier":
                yield decode_node(found)


def _is_use(node: Node, variables: set[str], grammar: Grammar) -> bool:
    if node.type != "identifier" or decode_node(node) not in variables:
        return False
    parent = node.parent
    fields = [name for kind, name in grammar.members if parent and kind == parent.type]
    return not any(parent and parent.child_by_field_name(name) == node for name in fields)


def _label(node: Node) -> str:
    """Keywords and signs as they stand, and # for anything else."""
    return " ".join("#" if child.is_named else decode_node(child) for child in node.children[:LONGEST_LABEL])
