"""The names and descriptions of the rules and texts that a mining may use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from retrieval.filters import Rule, TextOption

RULES: Final = [
    (
        str(int(Rule.TESTABLE_BY_CALL)),
        "a test can call it: takes an input or self, returns or yields a value",
    ),
    (str(int(Rule.TESTABLE)), "testable, as in the paper: takes an input, returns a value"),
    (str(int(Rule.TESTABLE_WITH_SELF)), "testable, self and cls count as input"),
    (str(int(Rule.TESTABLE_WITH_BARE_RETURN)), "testable, a bare return counts as a value"),
    (str(int(Rule.TESTABLE_WITH_YIELD)), "testable, yield counts as a value"),
    (str(int(Rule.TESTABLE_IN_ANY_SENSE)), "testable in any sense"),
    (str(int(Rule.TESTABLE_WITHOUT_OUTPUT)), "takes an input, with or without a result"),
    ("0", "no rule: every function"),
]
QUERY_RULES: Final = [
    ("english", "English only (by function words)"),
    ("no_identifier", "more than a bare identifier"),
    ("distinct", "skip near-duplicates"),
]
TEXTS: Final[Mapping[TextOption, str]] = {
    "whole": "the whole function",
    "without docstring": "the function without its docstring",
    "without comments": "the function without its comments, with its docstring",
    "signature + docstring": "its signature and docstring alone",
}
