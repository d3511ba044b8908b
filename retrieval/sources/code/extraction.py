"""Documented functions of source files, with their documentation, as CodeSearchNet extracted them.

The rules are CodeSearchNet's (arXiv 1909.09436, §2, and its function_parser), each with a name under which
what it refused is counted; a function is refused by the first that it breaks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias

import tree_sitter
from tree_sitter import Node

from retrieval.filters.steps import Refusals
from retrieval.sources import GivenLabel, Item, Problem, Query, Snippet
from retrieval.sources.code.comments import decode_node
from retrieval.sources.code.documentation import first_paragraph, worth_asking
from retrieval.sources.code.files import SPDX, SourceFile, find_first_group
from retrieval.sources.code.languages import LANGUAGES, Language
from retrieval.sources.code.places import iterate_source_files
from retrieval.sources.code.python_source import Cut

FEWEST_LINES = 3
UNPARSED = "part of a file that does not parse"
"""The reason that is given for code in which functions could not be looked for."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function as it stands in its file; `lines` counts those without documentation, from 1 on."""

    name: str
    qualified_name: str
    path: str
    text: str
    documentation: str
    start: int
    end: int
    lines: int
    trivial: bool
    left_out: bool
    broken: bool
    vendored: bool = False

    @property
    def question(self) -> str:
        """What stands for a query: the documentation's first paragraph."""
        return first_paragraph(self.documentation)


@dataclass(frozen=True, slots=True)
class Extracted:
    """A function that breaks no rule, where it stands on the web or came from, and its file's licence."""

    function: Function
    origin: str
    licence: str


Rule: TypeAlias = Callable[[Function], bool]

RULES: Mapping[str, Rule] = {
    "no documentation": lambda function: not function.documentation,
    "does not parse": lambda function: function.broken,
    "another project's code in the path": lambda function: function.vendored,
    "test in the path": lambda function: "test" in function.path.lower(),
    "test in the name": lambda function: "test" in function.name.lower(),
    "special method": lambda function: function.left_out,
    "empty body": lambda function: function.trivial,
    f"fewer than {FEWEST_LINES} lines": lambda function: function.lines < FEWEST_LINES,
    "fewer than 3 words of documentation": lambda function: not worth_asking(function.question),
}


def find_broken_rule(function: Function) -> str | None:
    """The first rule that a function breaks, None for none."""
    return next((name for name, refuses in RULES.items() if refuses(function)), None)


def read_documented_functions(place: Path | str, language: str, refusals: Refusals) -> Iterator[Item]:
    """Yield the first paragraphs of documentation as queries, their functions, and the labels that say so.

    `refusals` counts the functions that break a rule, by its name, and keeps examples; and the places outside
    of functions that do not parse.
    """
    for found in extract_functions(place, language, refusals):
        if isinstance(found, Problem):
            yield found
        else:
            yield from _items_of_extracted(found)


def extract_functions(place: Path | str, language: str, refusals: Refusals) -> Iterator[Extracted | Problem]:
    """Yield the functions of a place that break no rule, in order of path and line."""
    for file in iterate_source_files(place, LANGUAGES[language].endings):
        if isinstance(file, Problem):
            yield file
            continue
        licence = find_first_group(SPDX, file.content[:2000].decode("utf-8", "replace")) or file.licence
        for function in functions_of(file, language, partial(_refuse_part, refusals, file)):
            if rule := find_broken_rule(function):
                refusals.refuse(rule, f"{file.name}::{function.qualified_name}")
            else:
                yield Extracted(function, origin_of(function, file), licence)


def origin_of(function: Function, file: SourceFile) -> str:
    """The link to a function's lines, else where its file came from."""
    return f"{file.link}#L{function.start}-L{function.end}" if file.link else file.origin


def _refuse_part(refusals: Refusals, file: SourceFile, line: int) -> None:
    refusals.refuse(UNPARSED, f"{file.name}, line {line}")


def functions_of(
    file: SourceFile, language: str, unparsed: Callable[[int], None] = lambda line: None
) -> Iterator[Function]:
    """Yield the functions of one file, in order; what does not parse is passed over by the grammar.

    The grammar of Python refuses some valid code: of a file with such a function Python's parser is asked.
    `unparsed` is called with the line of each part outside of functions that does not parse.
    """
    rules = LANGUAGES[language]
    cuts = cache(lambda: rules.cuts(file.content))
    tree = tree_sitter.Parser(_grammar(language)).parse(rules.in_utf8(file.content))
    seen = Counter[str]()
    for node, outer, prefix in _nodes(tree.root_node, rules, "", False):
        if node.is_error:
            unparsed(node.start_point[0] + 1)
            continue
        named = _named_node(node, rules)
        written = _field(named, "name") or _field(named, "left")
        name = written.rpartition(".")[2]
        qualified = prefix + written
        seen[qualified] += 1
        again = f"#{seen[qualified]}" if seen[qualified] > 1 else ""
        cut = cuts().get((node.start_point[0] + 1, name)) if node.has_error else None
        yield _function(node, outer, f"{qualified}{again}", name, file, rules, cut)


def _items_of_extracted(found: Extracted) -> Iterator[Item]:
    function = found.function
    name = f"{function.path}::{function.qualified_name}"
    yield Query(function.question, name, found.origin, found.licence, "path and name")
    yield Snippet(function.text, name, found.origin, found.licence, "path and name")
    yield GivenLabel(function.question, function.text, 1, "binary", name, name)


def _nodes(parent: Node, rules: Language, prefix: str, in_class: bool) -> Iterator[tuple[Node, Node, str]]:
    """Yield (function, node around it, prefix of its name) at the top and in classes at the top.

    And what does not parse there.
    """
    for outer in parent.named_children:
        node = outer.child_by_field_name(rules.wrappers.get(outer.type, "")) or outer
        if node.type in rules.assignments:
            node = _assigned_function(node, rules) or node
        if node.type in rules.functions or node.type in rules.values or node.is_error:
            yield node, outer, prefix
        elif node.type in rules.modules and not in_class:
            yield from _nodes(node, rules, f"{prefix}{_field(node, 'name')}.", in_class)
        elif node.type in rules.namespaces and not in_class:
            yield from _nodes(node, rules, prefix, in_class)
        elif node.type in rules.classes and not in_class:
            yield from _nodes(node, rules, f"{prefix}{_field(node, 'name')}.", True)
        elif node.type in rules.bodies and prefix:
            yield from _nodes(node, rules, prefix, in_class)


def _assigned_function(statement: Node, rules: Language) -> Node | None:
    """The function that a statement gives a name to."""
    assignment = statement.named_child(0)
    if assignment is None:
        return None
    value = assignment.child_by_field_name("value") or assignment.child_by_field_name("right")
    return value if value and value.type in rules.values else None


def _named_node(function: Node, rules: Language) -> Node:
    """The node that has a function's name: of a value that with both."""
    return function.parent or function if function.type in rules.values else function


def _function(
    node: Node, outer: Node, qualified: str, name: str, file: SourceFile, rules: Language, cut: Cut | None
) -> Function:
    documentation, held_by = rules.documentation(node, outer)
    whole = _named_node(node, rules)
    start, end = whole.start_point[0], cut.end - 1 if cut else whole.end_point[0]
    held = held_by.end_point[0] - held_by.start_point[0] + 1 if held_by else 0
    return Function(
        name=name,
        qualified_name=qualified,
        path=file.name,
        text=cut.text if cut else _own_text(whole, held_by, rules, outer.start_point[1]),
        documentation=documentation,
        start=start + 1,
        end=end + 1,
        lines=end - start + 1 - held,
        trivial=_is_trivial(node, held_by, rules),
        left_out=rules.left_out.fullmatch(name) is not None,
        broken=node.has_error and cut is None,
        vendored=rules.vendored.search(file.name) is not None,
    )


def _is_trivial(node: Node, held_by: Node | None, rules: Language) -> bool:
    """Whether the body is missing, has documentation alone, or begins by giving up."""
    body = node.child_by_field_name("body")
    if body and (inside := body.named_child(0)) and inside.type in rules.lists:
        body = inside
    statements = [child for child in body.named_children if "comment" not in child.type] if body else []
    own = statements[1:] if held_by else statements
    return not own or own[0].type in rules.trivial or rules.gives_up.match(decode_node(own[0])) is not None


def _own_text(node: Node, held_by: Node | None, rules: Language, column: int) -> str:
    """The function at the left margin; its statement begins at `column`.

    Lines inside other strings than the documentation stay as they are.
    """
    text = decode_node(node)
    if not column:
        return text
    has_strings = any(quote in text for quote in rules.quotes)
    kept = _lines_in_strings(node, held_by, rules) if has_strings else set[int]()
    first, *rest = text.split("\n")  # the grammar counts these line ends and no others
    numbered = enumerate(rest, node.start_point[0] + 1)
    moved = (line if number in kept else _moved(line, column) for number, line in numbered)
    return "\n".join([first, *moved])


def _moved(line: str, column: int) -> str:
    """The line without what blanks it has before a column."""
    before = line[:column]
    return line[len(before) - len(before.lstrip(" \t")) :]


def _lines_in_strings(node: Node, held_by: Node | None, rules: Language) -> set[int]:
    kept: set[int] = set()
    waiting = [node]
    while waiting:
        found = waiting.pop()
        if found.type in rules.strings:
            kept.update(range(found.start_point[0] + 1, found.end_point[0] + 1))
        elif held_by is None or found.id != held_by.id:
            waiting.extend(found.named_children)
    return kept


def _field(node: Node, name: str) -> str:
    found = node.child_by_field_name(name)
    return decode_node(found) if found else ""


@cache
def _grammar(language: str) -> tree_sitter.Language:
    return tree_sitter.Language(LANGUAGES[language].grammar())
