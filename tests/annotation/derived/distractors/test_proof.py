"""A bug is a distractor only where the test that passed notices it; all else is counted."""

from __future__ import annotations

import pytest

from annotation.builds.pipeline.execution import SandboxProvider
from annotation.derived.distractors.proof import BugChoice, LeftOut, Proofs, prove_bugs
from annotation.models import Case, Execution
from retrieval.models import Benchmark
from sandbox.candidate.mutants import BUGS, Operator, generate_mutants
from sandbox.program import Limits
from sandbox.reports.report import Outcome
from sandbox.runner import SandboxUnavailable
from tests import factories
from tests.annotation.derived.distractors.conftest import COUNT, provide, run_really
from tests.sandbox.conftest import bubblewrap, home

__all__ = ["bubblewrap", "home"]  # fixtures


def prove(benchmark: Benchmark, provider: SandboxProvider, choice: BugChoice | None = None) -> Proofs:
    return prove_bugs(benchmark, choice or BugChoice(), provider, Limits(), lambda done, total: None)


def test_bugs_that_the_test_notices_are_proven_with_their_run(tested: Benchmark) -> None:
    """Of the three bugs the guard that is gone changes nothing: an empty list has no number below 3."""
    made = {mutant.operator: mutant for mutant in generate_mutants(COUNT, 5, BUGS)}
    assert set(made) == {Operator.OFF_BY_ONE, Operator.EDGE_CASE, Operator.COMPARISON}
    proofs = prove(tested, provide())
    assert {bug.mutant.operator for bug in proofs.bugs} == {Operator.OFF_BY_ONE, Operator.COMPARISON}
    assert proofs.left_out == {LeftOut.UNTESTED: 1, LeftOut.UNNOTICED: 1}
    for bug in proofs.bugs:
        assert (bug.run.outcome, bug.pair) == (Outcome.FAILED, Case.objects.get(program=bug.program).pair)
    before = Execution.objects.count()
    assert prove(tested, provide()).bugs == proofs.bugs and Execution.objects.count() == before, "stored"


@pytest.mark.parametrize(
    ("ended", "left_out"),
    [
        (Outcome.ERRORED, LeftOut.NOT_RUN),
        (Outcome.TIMED_OUT, LeftOut.NOT_RUN),
        (Outcome.DEPENDENCY_REFUSED, LeftOut.NOT_RUN),
        (Outcome.UNAVAILABLE, LeftOut.NOT_RUN),
        (Outcome.UNTESTED, LeftOut.UNNOTICED),
        (Outcome.UNPROVEN, LeftOut.UNNOTICED),
    ],
)
def test_what_did_not_fail_an_assertion_is_no_proof(
    tested: Benchmark, ended: Outcome, left_out: LeftOut
) -> None:
    provider = provide(
        lambda program: run_really(program) if program.candidate == COUNT else factories.a_report(ended)
    )
    proofs = prove(tested, provider)
    assert not proofs.bugs and proofs.left_out[left_out] == 3


def test_a_match_whose_test_does_not_pass_again_proves_nothing(tested: Benchmark) -> None:
    Execution.objects.update(image="another")
    proofs = prove(tested, provide(factories.a_report(Outcome.FAILED)))
    assert not proofs.bugs and proofs.left_out == {LeftOut.UNTESTED: 1, LeftOut.NOT_AGAIN: 1}


def test_a_label_that_says_no_match_is_not_tried(tested: Benchmark) -> None:
    tested.labels.update(relevance=0)
    assert prove(tested, provide()) == Proofs()


def test_without_a_sandbox_nothing_is_counted_as_unproven(tested: Benchmark) -> None:
    def closed() -> None:
        raise SandboxUnavailable("no sandbox here")

    with pytest.raises(SandboxUnavailable):
        prove(tested, SandboxProvider(closed))  # type: ignore[arg-type]


def test_the_real_sandbox_proves_the_same(tested: Benchmark, bubblewrap: object) -> None:
    provider = SandboxProvider(lambda: bubblewrap)  # type: ignore[arg-type, return-value]
    proofs = prove(tested, provider)
    assert {bug.mutant.operator for bug in proofs.bugs} == {Operator.OFF_BY_ONE, Operator.COMPARISON}
    assert proofs.left_out[LeftOut.UNNOTICED] == 1
