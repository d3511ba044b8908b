"""A benchmark whose first query has two matches, one of them tested: it counts the numbers below a limit."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from annotation.builds.pipeline.execution import SandboxProvider
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.models import Benchmark, Label
from sandbox.program import Program
from sandbox.reports.report import Outcome, Report
from tests import factories
from tests.fakes import FakeSandbox

COUNT = (
    "def count_below(numbers, limit):\n"
    "    if not numbers:\n"
    "        return 0\n"
    "    return len([number for number in numbers if number < limit])\n"
)
PROGRAM = "assert count_below([1, 2, 3], 3) == 2\nassert count_below([], 3) == 0\n"


def run_really(program: Program) -> Report:
    """What the sandbox would report of these harmless programs."""
    names: dict[str, object] = {}
    try:
        exec(program.candidate, names)
        exec(program.source, names)
    except AssertionError:
        return factories.a_report(Outcome.FAILED)
    except Exception:
        return factories.a_report(Outcome.ERRORED)
    return factories.a_report(Outcome.PASSED)


def provide(*reports: Callable[[Program], Report] | Report | Exception) -> SandboxProvider:
    sandbox = FakeSandbox(*(reports or (run_really,)))
    return SandboxProvider(lambda: sandbox)


@pytest.fixture
def tested(db: None) -> Benchmark:
    """Query 0 has two matches, of which the first has a test that passed; query 1 has a non-match."""
    snippets = factories.snippets((COUNT, *factories.SNIPPETS[1:]))
    cases = factories.cases(factories.opened())
    factories.examined(cases[0], 1, source=PROGRAM)
    factories.settled(cases[1], 1)
    factories.settled(cases[3], 0)
    order = Order("counting", factories.queries(), snippets, "by hand")
    return publish_benchmark(order, Label.objects.all())
