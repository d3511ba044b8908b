"""Python of strangers is parsed in one place, and reading it costs little, whatever it tries."""

import ast
import itertools
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from annotation.agents import snippet_writer, sources
from annotation.review.own_runs import assertions
from annotation.studies.rating import docstrings, leaky_tests
from annotation.web.cases.code import code_of
from annotation.web.review.calls import example_of
from retrieval.filters import find_untestable_reason, texts
from retrieval.sources.code import python_or_not, python_source
from retrieval.sources.code.files import SourceFile
from retrieval.sources.formats.tokens import code_tokens
from sandbox import imports, program
from sandbox.candidate import expectations, mutants, normal_form, syntax, unbound
from sandbox.expression_call import Call
from sandbox.plan import plan_execution
from sandbox.program import Program
from sandbox.reports.evidence import never_evaluated
from sandbox.reports.report import Outcome, Report
from tests.sandbox.candidate.hostile_texts import TEXTS
from tests.sandbox.candidate.measuring import too_costly
from tests.sizes import WHOLE

ROOT = Path(__file__).parents[2]
DOORS = {
    "sandbox/candidate/syntax.py",
    *(
        f"sandbox/harness/{name}.py"
        for name in ("bundle", "guards/changes", "child", "evaluating", "instrument")
    ),
}
"""The door, what runs inside the sandbox, and what packs the harness itself."""
PARSERS = {
    ("ast", "parse"),
    ("ast", "literal_eval"),
    ("tokenize", "generate_tokens"),
    ("tokenize", "tokenize"),
    ("symtable", "symtable"),
    ("", "compile"),
    ("", "eval"),
    ("", "exec"),
}
ANSWER = "def answer():\n    return 42\n"
RUN = Report(Outcome.PASSED, reached=True)
READERS: dict[str, Callable[[str], object]] = {
    "plan of a program": lambda text: plan_execution(Program(ANSWER, text)).for_harness(),
    "plan of a candidate": lambda text: plan_execution(
        Program(text, "assert answer() == 42\n", name="answer")
    ),
    "plan of both": lambda text: plan_execution(Program(text, text, cases=("a",))).for_harness(),
    "names": program.candidate_names,
    "subject": program.subject_of,
    "redefined": lambda text: program.is_candidate_redefined(text, text),
    "assertions": program.count_assertions,
    "helpers": program.list_test_helpers,
    "modules": imports.modules_of,
    "unbound names": unbound.find_unbound_names,
    "normal form": normal_form.normal_form,
    "mutants": mutants.generate_mutants,
    "expectations": lambda text: expectations.find_test_expectations(text, ("answer",)),
    "call": lambda text: Call("a", text),
    "never evaluated": lambda text: never_evaluated(text, RUN),
    "source of an agent": sources.syntax_tree,
    "names for an agent": sources.names_of,
    "written function": snippet_writer.one_function,
    "assertion of a call": assertions.split_last_statement,
    "literal": assertions.is_literal,
    "docstrings": docstrings.split_docstrings.__wrapped__,
    "leaky words": lambda text: leaky_tests.redact_leaky_test(text, text),
    "highlighted": lambda text: code_of(text, "a", "t"),
    "example": example_of,
    "testable": find_untestable_reason,
    "functions of a file": lambda text: list(
        python_source.functions_of(SourceFile("a.py", text.encode("utf-8", "surrogatepass"), "a.py", ""))
    ),
    "language": python_or_not.classify_non_python,
    "tokens": lambda text: code_tokens(text, "python"),
}


READERS |= {
    f"searched text, {option}": partial(texts.extract_searched_text, option=option)
    for option in texts.TEXT_OPTIONS
}


def readers_of(name: str) -> dict[str, Callable[[str], object]]:
    """All of them where that was asked for, else every tenth, others for each text."""
    names = list(READERS)
    chosen = names if WHOLE else names[list(TEXTS).index(name) % 10 :: 10]
    return {reader: READERS[reader] for reader in chosen}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::SyntaxWarning")
def test_a_hostile_text_costs_whoever_reads_it_little(name: str) -> None:
    assert len(TEXTS[name]) <= 100_000
    assert too_costly(readers_of(name), TEXTS[name]) == []


def test_the_costly_is_seen() -> None:
    begun = 0.0  # the process that measures begins at none
    costly: dict[str, Callable[[str], object]] = {
        "little": len,
        "refusal": int,
        "memory": lambda text: len(text * 400_000_000),
        "time": lambda text: next(_ for _ in itertools.count() if time.process_time() > begun + 1.5),
        "error": lambda text: {"b": 1}[text],
    }
    found = too_costly(costly, "a", allowed=1.0)
    assert [line.partition(":")[0] for line in found] == ["memory", "time", "error"]


def test_a_small_stack_is_enough() -> None:
    """The parser's own recursion ends long before the stack of a thread does."""
    told: list[str] = []

    def parse_all() -> None:
        for text in TEXTS.values():
            try:
                syntax.parse_python_source(text)
            except (ValueError, SyntaxError) as error:
                told.append(str(error))

    before = threading.stack_size(2 << 20)
    try:
        thread = threading.Thread(target=parse_all)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert len(told) > 10


def test_nobody_else_parses() -> None:
    found = set()
    for folder in ("annotation", "cosqa_site", "retrieval", "sandbox", "bench"):
        for path in (ROOT / folder).rglob("*.py"):
            name = str(path.relative_to(ROOT))
            text = path.read_text()
            if name in DOORS or not any(function in text for _, function in PARSERS):
                continue
            calls = (node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
            if any(_called(function) in PARSERS for function in calls):
                found.add(name)
    assert found == set()


def _called(function: ast.expr) -> tuple[str, str]:
    match function:
        case ast.Name(id=name):
            return "", name
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return owner, name
    return "", ""
