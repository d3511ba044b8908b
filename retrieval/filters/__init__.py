"""Which functions a test program can examine, and what text of a snippet is searched.

A rule is a flag on a member, never a reason to refuse it: mining for annotation chooses by flag,
evaluation uses every function.
"""

from retrieval.filters.python_parser import Function, Unreadable, ast_lines, function_of, parse_snippet
from retrieval.filters.testable_functions import (
    NO_RULE,
    USUAL_RULE,
    Rule,
    Signature,
    find_passed_rules,
    find_untestable_reason,
    rules_of,
    signature_of,
)
from retrieval.filters.texts import (
    TEXT_OPTIONS,
    TextOption,
    UnknownTextOption,
    extract_searched_text,
    is_left_out,
    text_option,
)

__all__ = [
    "NO_RULE",
    "TEXT_OPTIONS",
    "USUAL_RULE",
    "Function",
    "Rule",
    "Signature",
    "TextOption",
    "UnknownTextOption",
    "Unreadable",
    "ast_lines",
    "extract_searched_text",
    "find_passed_rules",
    "find_untestable_reason",
    "function_of",
    "is_left_out",
    "parse_snippet",
    "rules_of",
    "signature_of",
    "text_option",
]
