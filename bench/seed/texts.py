"""Made-up queries, functions, tests and verdicts of real length: each number always gives the same text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import exp, log
from random import Random
from typing import Final

from sandbox.program import Program
from sandbox.reports.report import Assertion, Outcome, Raised, Report, TraceStep

MEDIAN: Final = 260
P90: Final = 480
SPREAD: Final = log(P90 / MEDIAN) / 1.2816
LONGEST: Final = 6000
TEST_CASES: Final = 8
"""Assertions in a program."""
VERBS: Final = [
    "sort",
    "merge",
    "split",
    "parse",
    "count",
    "filter",
    "join",
    "group",
    "round",
    "scale",
    "flatten",
    "trim",
    "shift",
]
NOUNS: Final = [
    "rows",
    "names",
    "dates",
    "totals",
    "columns",
    "words",
    "paths",
    "tokens",
    "pairs",
    "bytes",
    "prices",
    "labels",
    "keys",
]
MANNERS: Final = [
    "by length",
    "in place",
    "without duplicates",
    "from a string",
    "into a list",
    "by key",
    "twice",
]


def make_query_text(number: int) -> str:
    """What somebody types, about 40 characters."""
    random = Random(f"query {number}")
    return f"python {random.choice(VERBS)} {random.choice(NOUNS)} {random.choice(MANNERS)} of table {number}"


def make_function_name(number: int) -> str:
    """The function's name."""
    random = Random(f"snippet {number}")
    return f"{random.choice(VERBS)}_{random.choice(NOUNS)}_{number}"


def make_snippet(number: int) -> str:
    """A function with an argument and a returned value; lengths are log-normal (median 260, p90 480)."""
    random = Random(f"length {number}")
    target = min(exp(random.gauss(log(MEDIAN), SPREAD)), LONGEST)
    head = f"def {make_function_name(number)}(values, step={random.randrange(1, 9)}):\n"
    end = "    return result\n"
    lines = [head]
    length = len(head) + len(end)
    for line in generate_body_lines(random):
        if len(lines) > 2 and length + len(line) / 2 > target:
            break
        lines.append(line)
        length += len(line)
    return "".join([*lines, end])


def generate_body_lines(random: Random) -> Iterator[str]:
    """Lines that would run, one after another, without end."""
    if random.random() < 0.6:
        yield f'    """{random.choice(VERBS).title()} {random.choice(NOUNS)} {random.choice(MANNERS)}."""\n'
    yield "    result = list(values)\n"
    while True:
        noun, number = random.choice(NOUNS), random.randrange(2, 99)
        yield f"    {noun} = [item * {number} + step for item in result]\n"
        yield f"    result = {random.choice(('sorted', 'list', 'list'))}({noun}[step:])\n"


def make_explanation(number: int, asked: str, name: str, agent: str) -> str:
    """Some sentences of an agent, about 330 characters."""
    random = Random(f"{agent} {number}")
    seen = " ".join(
        f"It {random.choice(VERBS)}s the {random.choice(NOUNS)} {random.choice(MANNERS)}." for _ in range(3)
    )
    return (
        f"The query asks to {asked.removeprefix('python ')}. The function {name} takes values and a step. "
        f"{seen} What it returns is a new list, and its argument stays as it was, so pair {number} is "
        f"decided by whether {random.choice(NOUNS)} are meant."
    )


def make_test_program(number: int, name: str) -> str:
    """A test program with four cases of two assertions each, about 900 characters."""
    random = Random(f"program {number}")
    cases = "".join(
        f"    # case {case}: {random.choice(NOUNS)} {random.choice(MANNERS)}\n"
        f"    values = {[random.randrange(100) for _ in range(6)]}\n"
        f"    found = {name}(values, step={case})\n"
        f"    assert isinstance(found, list), 'case {case} of {number}'\n"
        f"    assert len(found) <= len(values)\n"
        for case in range(1, 5)
    )
    return f'"""Pair {number}: {name}."""\n\n\ndef main():\n{cases}\n\nmain()\n'


def make_execution_report(number: int, candidate: str, source: str) -> Report:
    """Of one execution of it: 60 % passed, 24 % failed, 16 % did not run."""
    share = Random(f"outcome {number}").random()
    hashed = Program(candidate=candidate, source=source).candidate_hash
    if share > 0.8367:
        raised = Raised("ImportError", f"cannot import name 'table_{number}'")
        return Report(Outcome.ERRORED, raised=raised, candidate_hash=hashed, backend="bench")
    passed = share < 0.6
    return Report(
        Outcome.PASSED if passed else Outcome.FAILED,
        tuple(make_assertions(number, passed)),
        stdout=f"pair {number} tested\n",
        trace=tuple(make_trace_steps(number)),
        candidate_hash=hashed,
        lines_reached=(2, 3, 4),
        seconds=0.05,
        backend="bench",
    )


def make_assertions(number: int, passed: bool) -> Iterator[Assertion]:
    for case in range(1, 5):
        held = passed or case < 4
        yield Assertion(
            4 + 5 * case, f"assert isinstance(found, list), 'case {case} of {number}'", held, touched=True
        )
        yield Assertion(
            5 + 5 * case, "assert len(found) <= len(values)", held, str(4 + case), "6", touched=True
        )


def make_trace_steps(number: int) -> Iterator[TraceStep]:
    random = Random(f"trace {number}")
    for call in range(1, 5):
        for line in (2, 3, 4):
            values = str([random.randrange(1000) for _ in range(6)])
            yield TraceStep(line, f"table_{number}", 1, (("result", values),), call=call)


def make_agent_reply(agent: str, number: int, asked: str, name: str, verdict: float) -> str:
    """An agent's reply as JSON text."""
    return json.dumps({"explanation": make_explanation(number, asked, name, agent), "verdict": verdict})


def make_test_writer_reply(number: int, asked: str, name: str) -> str:
    """The test writer's reply as JSON text."""
    reading = f"{asked.removeprefix('python ')}, for pair {number}"
    return json.dumps({"reading": reading, "helpers": [], "program": make_test_program(number, name)})
