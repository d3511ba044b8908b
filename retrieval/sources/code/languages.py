"""The languages that functions are extracted from; one more is one more row of the table.

A row names the grammar's node types and says how documentation is written. Only functions at the top of a
file, or given to a name there, and in classes at its top are looked at, as in CodeSearchNet. What Ruby's
modules and PHP's namespaces hold counts as at the top.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module

from tree_sitter import Node

from retrieval.sources.code.comments import read_comments_before, read_docstring, read_javadoc
from retrieval.sources.code.python_source import Cut, cuts_of, in_utf8

NEVER = re.compile(r"(?!)")
NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """How a language writes functions.

    `wrappers` are nodes around a definition; `classes` are entered, and `bodies` inside them; `documentation`
    returns the text that documents a function's node (given the node around it) and the node that holds it.
    `trivial` are first statements of a body that does nothing; `left_out` matches names of no interest.
    """

    display: str
    """The language's name on pages."""
    grammar: Callable[[], object]
    endings: tuple[str, ...]
    functions: frozenset[str]
    classes: frozenset[str]
    bodies: frozenset[str]
    documentation: Callable[[Node, Node], tuple[str, Node | None]]
    trivial: frozenset[str]
    left_out: re.Pattern[str] = NEVER
    wrappers: Mapping[str, str] = field(default_factory=dict)
    """Nodes around a definition, and the field that has it."""
    namespaces: frozenset[str] = NOTHING
    """Entered as the file is."""
    modules: frozenset[str] = NOTHING
    """The same, and their names stand before those of functions."""
    assignments: frozenset[str] = NOTHING
    """Statements that give a name to one of `values`, a function without one."""
    values: frozenset[str] = NOTHING
    lists: frozenset[str] = NOTHING
    """A node that stands between a body and its statements."""
    gives_up: re.Pattern[str] = NEVER
    """The beginning of a first statement of a body that does nothing."""
    strings: frozenset[str] = NOTHING
    """Strings whose lines may not lose their indent: their value would change."""
    quotes: tuple[str, ...] = ()
    """Without one of these a text has no such string of several lines."""
    vendored: re.Pattern[str] = NEVER
    """Paths of code that belongs to another project."""
    in_utf8: Callable[[bytes], bytes] = lambda content: content
    """A file in the encoding that the grammar reads."""
    cuts: Callable[[bytes], Mapping[tuple[int, str], Cut]] = lambda content: {}
    """Functions by first line and name as another parser reads a file: asked where the grammar errs."""
    fragments: Callable[[], object] | None = None
    """The grammar of a function's text alone, where a file needs more around it."""


def _grammar_of(module: str, name: str = "language") -> Callable[[], object]:
    """A grammar that is loaded when it is asked for: most processes need one at most."""
    return lambda: getattr(import_module(module), name)()


def _named(names: str) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, names.split())))


LANGUAGES: Mapping[str, Language] = {
    "python": Language(
        display="Python",
        grammar=_grammar_of("tree_sitter_python"),
        endings=(".py",),
        functions=frozenset({"function_definition"}),
        classes=frozenset({"class_definition"}),
        bodies=frozenset({"block"}),
        wrappers={"decorated_definition": "definition"},
        documentation=read_docstring,
        trivial=frozenset({"pass_statement", "raise_statement"}),
        left_out=re.compile(r"__\w+__"),
        strings=frozenset({"string"}),
        quotes=('"""', "'''"),
        in_utf8=in_utf8,
        cuts=cuts_of,
    ),
    "java": Language(
        display="Java",
        grammar=_grammar_of("tree_sitter_java"),
        endings=(".java",),
        functions=frozenset({"method_declaration"}),
        classes=frozenset(
            {"class_declaration", "interface_declaration", "enum_declaration", "record_declaration"}
        ),
        bodies=frozenset({"class_body", "interface_body", "enum_body", "enum_body_declarations"}),
        documentation=read_javadoc,
        trivial=frozenset({"throw_statement"}),
        left_out=_named("toString hashCode equals finalize notify notifyAll clone"),
    ),
    "go": Language(
        display="Go",
        grammar=_grammar_of("tree_sitter_go"),
        endings=(".go",),
        functions=frozenset({"function_declaration", "method_declaration"}),
        classes=NOTHING,
        bodies=NOTHING,
        documentation=read_comments_before,
        trivial=NOTHING,
        gives_up=re.compile(r"panic\("),
        lists=frozenset({"statement_list"}),
        strings=frozenset({"raw_string_literal"}),
        quotes=("`",),
        vendored=re.compile(r"(^|/)vendor/"),
    ),
    "javascript": Language(
        display="JavaScript",
        grammar=_grammar_of("tree_sitter_javascript"),
        endings=(".js", ".mjs", ".cjs", ".jsx"),
        functions=frozenset({"function_declaration", "generator_function_declaration", "method_definition"}),
        classes=frozenset({"class_declaration"}),
        bodies=frozenset({"class_body"}),
        wrappers={"export_statement": "declaration"},
        assignments=frozenset({"lexical_declaration", "variable_declaration", "expression_statement"}),
        values=frozenset({"function_expression", "generator_function", "arrow_function"}),
        documentation=read_comments_before,
        trivial=frozenset({"throw_statement"}),
        left_out=_named("constructor toString toLocaleString valueOf"),
        strings=frozenset({"template_string"}),
        quotes=("`",),
        vendored=re.compile(r"(^|/)(node_modules|bower_components)/"),
    ),
    "php": Language(
        display="PHP",
        grammar=_grammar_of("tree_sitter_php", "language_php"),
        fragments=_grammar_of("tree_sitter_php", "language_php_only"),
        endings=(".php",),
        functions=frozenset({"function_definition", "method_declaration"}),
        classes=frozenset(
            {"class_declaration", "trait_declaration", "interface_declaration", "enum_declaration"}
        ),
        bodies=frozenset({"declaration_list", "enum_declaration_list"}),
        namespaces=frozenset({"namespace_definition", "compound_statement"}),
        documentation=read_javadoc,
        trivial=NOTHING,
        gives_up=re.compile(r"throw\b"),
        left_out=re.compile(r"__\w+"),
        strings=frozenset({"string", "encapsed_string", "heredoc", "nowdoc"}),
        quotes=("'", '"', "<<<"),
        vendored=re.compile(r"(^|/)vendor/"),
    ),
    "ruby": Language(
        display="Ruby",
        grammar=_grammar_of("tree_sitter_ruby"),
        endings=(".rb",),
        functions=frozenset({"method", "singleton_method"}),
        classes=frozenset({"class"}),
        bodies=frozenset({"body_statement"}),
        modules=frozenset({"module"}),
        documentation=read_comments_before,
        trivial=NOTHING,
        gives_up=re.compile(r"raise\b"),
        left_out=_named(
            "initialize to_text to_s inspect display dup clone equal? == <=> === <= < > >= between? eql? hash"
        ),
        strings=frozenset({"string", "heredoc_body"}),
        quotes=("'", '"', "<<"),
        vendored=re.compile(r"(^|/)vendor/"),
    ),
}
