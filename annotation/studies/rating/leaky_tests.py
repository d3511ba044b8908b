"""Whether a test program tells what its writer thinks of the candidate, and the program without that.

Raters of *agent's tests* see a test and its run, and must not read the verdict in it: `# should fail: wrong
order` is a verdict. What tells is found by words, in comments, in texts that are there to be read
(docstrings, messages of assertions, what is printed), and in names that the program gives. Such comments and
texts are hidden, such names are replaced, both in the program and in the report of its run; the test is
marked as flagged. Values that the test works with stay, whatever they say: without them nobody could
understand it.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from sandbox.candidate.syntax import UNREADABLE, parse_python_source, read_python_tokens
from sandbox.candidate.tree_nodes import walk_tree_nodes
from sandbox.reports.report import Assertion, CaseResult, Frame, Raised, Report

HIDDEN: Final = "(hidden)"
READ_ALOUD: Final = frozenset(
    {"print", "fail", "skip", "xfail", "AssertionError", "Exception", "warn", "skipTest"}
)
"""Calls whose texts are meant for whoever reads the run."""
MESSAGES: Final = frozenset({"msg", "message", "reason"})
CODE: Final = "(?:candidate|code|function|snippet|implementation|solution|it|this)"
WILL: Final = "(?:should|will|must|shall|would|going to|expected to|supposed to|likely)"
JUDGED: Final = (
    "(?:wrong|right|bad|good|correct|incorrect|buggy|broken|faulty|flawed|incomplete|invalid|irrelevant"
    "|unrelated)"
)
NOT: Final = "(?:not|doesn t|does not|do not|don t|never|fails? to|cannot|can t|won t)"
TELLS: Final = re.compile(
    "|".join(
        (
            r"\bno match\b",
            r"\b(?:is|are|be)(?: not| no)? an? (?:exact |perfect |partial |true |false )?match\b",
            r"\bnot (?:an? )?match(?:ing)?\b",
            r"\bmismatch(?:es|ed)?\b",
            r"\bverdict\b",
            r"\bmatch(?:es)? (?:the |this )?query\b",
            rf"\b{WILL} (?:fail|pass|break|be (?:wrong|rejected|accepted|denied))\b",
            r"\b(?:expect(?:s|ed|ing)?|known|intended) (?:fail|failure|failures|error|to fail)\b",
            r"\bx ?fail\b",
            r"\bfail(?:s|ed)? because\b",
            r"\b(?:in)?correct(?:ly)? (?:implement|candidate|code|function|snippet|solution)",
            rf"\b{JUDGED} (?:implementation|candidate|code|function|snippet|solution|answer)",
            rf"\b{CODE} (?:is|are|was|seems|looks) (?:\w+ )?{JUDGED}\b",
            rf"\b(?:candidate|code|function|snippet|implementation|solution) {NOT}\b",
            rf"\b{NOT} (?:implement|satisfy|fulfil|fulfill|answer|do what|meet|match)",
            r"\b(?:satisfies|fulfils|fulfills|meets|answers) the (?:query|request|requirement)",
            r"\bnot what (?:the |was )?(?:query|asked|user|is asked)",
            r"\b(?:accept|reject|deny|denied|rejected)\b.{0,20}\b(?:candidate|code|snippet|match)\b",
            r"\bbug(?:s|gy)?\b",
        )
    )
)
WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class Hushed:
    """A program that tells nothing. `told`: how many places of it were hidden or replaced.

    Its lines have the numbers that they had.
    """

    text: str
    told: int
    names: Mapping[str, str] = field(default_factory=dict)

    def named(self, text: str) -> str:
        """`text` with the replaced names."""
        if not self.names:
            return text
        found = "|".join(map(re.escape, self.names))
        return re.sub(rf"\b(?:{found})\b", lambda one: self.names[one.group()], text)

    def line(self, number: int, source: str) -> str:
        """What the report quotes of a line of the program: as it reads now."""
        lines = self.text.split("\n")
        if has_leaky_words(source) and 0 < number <= len(lines):
            return lines[number - 1].strip()
        return self.named(source)

    def report(self, report: Report) -> Report:
        """The report of the program's run without what the program says in it."""
        return replace(
            report,
            assertions=tuple(map(self.assertion, report.assertions)),
            raised=self.raised(report.raised) if report.raised else None,
            stdout=redact_leaky_lines(report.stdout),
            stderr=redact_leaky_lines(report.stderr),
            case_results=tuple(map(self.case_result, report.case_results)),
            turns=() if has_leaky_words(report.stdout + report.stderr) else report.turns,
        )

    def assertion(self, one: Assertion) -> Assertion:
        return replace(
            one,
            source=self.line(one.line, one.source),
            case=HIDDEN if has_leaky_words(one.case) else one.case,
        )

    def case_result(self, case: CaseResult) -> CaseResult:
        return replace(
            case,
            name=HIDDEN if has_leaky_words(case.name) else case.name,
            raised=self.raised(case.raised) if case.raised else None,
        )

    def raised(self, raised: Raised) -> Raised:
        return replace(
            raised, message=redact_leaky_lines(raised.message), frames=tuple(map(self.frame, raised.frames))
        )

    def frame(self, one: Frame) -> Frame:
        if one.place != "program":
            return one
        return replace(one, function=self.named(one.function), source=self.line(one.line, one.source))


def redact_leaky_test(source: str, candidate: str = "") -> Hushed:
    """The program without what tells; names that the candidate has as well are not the writer's, and stay."""
    tokens = list(read_python_tokens(io.StringIO(source)))
    names, read = map_leaky_names(tokens, candidate), texts_to_be_read(source)
    pieces, at, told = list[str](), 0, 0
    starts = [0, *(found.end() for found in re.finditer("\n", source)), len(source)]
    for token in tokens:
        instead = said_instead(token, names, read)
        if instead is not None:
            begins = starts[token.start[0] - 1] + token.start[1]
            pieces += [source[at:begins], instead]
            at, told = begins + len(token.string), told + 1
    unread = max(at, starts[tokens[-1].end[0] - 1] + tokens[-1].end[1]) if tokens else 0
    rest = redact_leaky_lines(source[unread:])
    pieces += [source[at:unread], rest]
    return Hushed("".join(pieces), told + rest.count(HIDDEN) - source[unread:].count(HIDDEN), names)


def has_leaky_words(text: str) -> bool:
    """Whether the words of a name, comment or text say what somebody thinks of the candidate."""
    return TELLS.search(" ".join(WORD.findall(text)).lower()) is not None


def redact_leaky_lines(text: str) -> str:
    """The text, its lines that tell replaced."""
    return "\n".join(HIDDEN if has_leaky_words(line) else line for line in text.split("\n"))


def said_instead(
    token: tokenize.TokenInfo, names: Mapping[str, str], read: frozenset[int] | None
) -> str | None:
    """What stands for a token that tells; None: it stays."""
    if token.type == tokenize.NAME:
        return names.get(token.string)
    if token.type == tokenize.COMMENT and has_leaky_words(token.string):
        return f"# {HIDDEN}"
    if (
        token.type == tokenize.STRING
        and has_leaky_words(token.string)
        and (read is None or token.start[0] in read)
    ):
        quotes = '"""' if "\n" in token.string else '"'
        return f"{quotes}{HIDDEN}" + "\n" * token.string.count("\n") + quotes
    return None


def map_leaky_names(tokens: list[tokenize.TokenInfo], candidate: str) -> dict[str, str]:
    """The names that tell, each with a name that does not."""
    own = set(re.findall(r"\w+", candidate))
    found = dict.fromkeys(token.string for token in tokens if token.type == tokenize.NAME)
    telling = [name for name in found if name not in own and has_leaky_words(name)]
    return {name: f"name_{number}" for number, name in enumerate(telling, 1)}


def texts_to_be_read(source: str) -> frozenset[int] | None:
    """The lines on which texts stand that are there to be read; None where that can't be known: all are."""
    try:
        tree = parse_python_source(source)
    except UNREADABLE:
        return None
    return frozenset(
        line
        for node in walk_tree_nodes(tree)
        for text in find_message_nodes(node)
        for line in lines_of_node(text)
    )


def find_message_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that speak to a reader: a text alone, a message, what is printed."""
    match node:
        case ast.Expr(value=ast.Constant(value=str()) as text):
            yield text
        case ast.Assert(msg=ast.expr() as message):
            yield message
        case ast.Call(func=called):
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in READ_ALOUD:
                yield from node.args
            elif name.startswith("assert") and isinstance(called, ast.Attribute):
                yield from node.args[-1:]
            yield from (keyword.value for keyword in node.keywords if keyword.arg in MESSAGES)


def lines_of_node(text: ast.AST) -> range:
    first = getattr(text, "lineno", 1)
    return range(first, (getattr(text, "end_lineno", None) or first) + 1)
