"""The rows that every tool gets: those of the seeded build, with what its agents left on each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from annotation.agents import arbiter, screener
from bench.seed import texts
from bench.seed.plan import SeedingPlan
from bench.seed.rows import UNCLEAR, PairOf, pairs_of_seeded_query, score_of
from sandbox.reports.report import Report


@dataclass(frozen=True)
class Row:
    """A pair; test and trace are empty where the screener decided."""

    number: int
    query: str
    code: str
    score: float
    explanation: str = ""
    test: str = ""
    trace: str = ""

    @property
    def whole(self) -> dict[str, object]:
        """All fields, as JSON has them."""
        return asdict(self)

    @property
    def lean(self) -> dict[str, object]:
        """Query and code alone: what all tools can import."""
        return {"number": self.number, "query": self.query, "code": self.code}


def plan_of(count: int) -> SeedingPlan:
    """A build of so many cases."""
    return SeedingPlan(cases=count, snippets=max(40, count // 3))


def whole_rows(count: int) -> Sequence[Row]:
    """The rows of the build that `plan_of` plans, in its order."""
    plan = plan_of(count)
    return [
        row_of(pair) for query in range(1, plan.queries + 1) for pair in pairs_of_seeded_query(plan, query)
    ]


def row_of(pair: PairOf) -> Row:
    """One third have a test program and its run, and the arbiter's explanation instead of the screener's."""
    tested = pair.number * 61 % 100 < UNCLEAR
    agent = arbiter.NAME if tested else screener.NAME
    said = texts.make_explanation(pair.number, pair.query, pair.name, agent)
    begun = Row(pair.number, pair.query, pair.code, score_of(pair), said)
    if not tested:
        return begun
    source = texts.make_test_program(pair.number, pair.name)
    trace = trace_of(texts.make_execution_report(pair.number, pair.code, source))
    return Row(pair.number, pair.query, pair.code, begun.score, said, source, trace)


def trace_of(report: Report) -> str:
    """The run as text: how it ended, and a line for each step."""
    steps = (
        f"line {step.line}: " + ", ".join(f"{name} = {value}" for name, value in step.changed)
        for step in report.trace
    )
    return "\n".join([f"outcome: {report.outcome.value}", *steps])


def lean_rows(count: int, part: int) -> Sequence[Row]:
    """Rows that nobody has yet: each with a query and a function of its own; `part` from 1."""
    first = 10_000_000 + part * count
    return [Row(n, texts.make_query_text(n), texts.make_snippet(n), 0.0) for n in range(first, first + count)]
