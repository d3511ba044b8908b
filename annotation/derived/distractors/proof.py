"""Bugs are planted into tested matches, and kept where the test that passed now fails.

The test is the one by which agents judged the match. A bug that it does not notice, or whose run says
nothing, is left out and counted: that is no proof.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from annotation.builds.pipeline.execution import SandboxProvider, execute_program
from annotation.models import Case, Execution, TestProgram
from retrieval.models import Benchmark, Pair
from sandbox.candidate.mutants import BUGS, Mutant, Operator, generate_mutants
from sandbox.program import Limits
from sandbox.reports.outcome import Outcome
from sandbox.runner import SandboxUnavailable

PASSES: Final = frozenset({Outcome.PASSED, Outcome.UNTESTED, Outcome.UNPROVEN})
PLACES: Final = 3
"""So many places of a kind are looked at, as one may give the same function as another kind."""
Tick = Callable[[int, int], None]
"""Called with (matches done, matches in all)."""


class LeftOut(StrEnum):
    """Why a match or a planted bug is no distractor."""

    UNTESTED = "matches without a test that passed"
    UNCHANGED = "matches in which no bug can be planted"
    NOT_AGAIN = "matches whose test did not pass again"
    UNNOTICED = "bugs that the test did not notice"
    NOT_RUN = "bugs whose test could not run to an assertion"
    KNOWN = "bugs that give a function of the benchmark"


@dataclass(frozen=True, slots=True)
class ProvenBug:
    """A mutant of a match, and the run in which the match's test failed on it."""

    pair: Pair
    mutant: Mutant
    program: TestProgram
    run: Execution


@dataclass(frozen=True, slots=True)
class Proofs:
    """What was proven, and how many were left out for which reason."""

    bugs: list[ProvenBug] = field(default_factory=list)
    left_out: Counter[LeftOut] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class BugChoice:
    """Which bugs are planted: at most `most` for a function, one of each kind. The seed decides where."""

    seed: int = 1
    most: int = len(BUGS)
    kinds: Sequence[Operator] = BUGS


def prove_bugs(
    benchmark: Benchmark, choice: BugChoice, provider: SandboxProvider, limits: Limits, tick: Tick
) -> Proofs:
    """Plant bugs into the tested matches of a benchmark and run their tests.

    Raises SandboxUnavailable where no program can be run here at all.
    """
    provider.get()
    matches = benchmark.labels.filter(relevance__gt=0).count()
    proofs, tested = Proofs(), list(iterate_tested_cases(benchmark))
    proofs.left_out[LeftOut.UNTESTED] = matches - len(tested)
    for done, case in enumerate(tested, 1):
        prove_bugs_of_match(case, choice, provider, limits, proofs)
        tick(done, len(tested))
    return proofs


def iterate_tested_cases(benchmark: Benchmark) -> Iterator[Case]:
    """Of each match that a test passed beside, the newest such case."""
    matches = benchmark.labels.filter(relevance__gt=0).values("pair")
    rows = Case.objects.filter(
        pair__in=matches, program__redefines=False, execution__outcome=Outcome.PASSED, execution__touched=True
    )
    related = ("pair__snippet__body", "program__source", "program__pair__snippet")
    newest: dict[int, Case] = {}
    for case in rows.select_related(*related).order_by("pair", "pk"):
        newest[case.pair_id] = case
    yield from newest.values()


def prove_bugs_of_match(
    case: Case, choice: BugChoice, provider: SandboxProvider, limits: Limits, proofs: Proofs
) -> None:
    """Add what is proven of one match, or why nothing is."""
    program, code = case.program, case.pair.snippet.text
    assert program is not None, "a case with a run has its program"
    mutants = plant_bugs(code, choice)
    if not mutants:
        proofs.left_out[LeftOut.UNCHANGED] += 1
        return
    whole = run_beside(code, case, program, provider, limits)
    if whole is None or whole.outcome != Outcome.PASSED:
        proofs.left_out[LeftOut.NOT_AGAIN] += 1
        return
    for mutant in mutants:
        run = run_beside(mutant.text, case, program, provider, limits)
        if run is not None and run.outcome == Outcome.FAILED and run.asserted:
            proofs.bugs.append(ProvenBug(case.pair, mutant, program, run))
        else:
            unnoticed = run is not None and run.outcome in PASSES
            proofs.left_out[LeftOut.UNNOTICED if unnoticed else LeftOut.NOT_RUN] += 1


def plant_bugs(code: str, choice: BugChoice) -> list[Mutant]:
    """The first bug of each kind, in the order of the kinds."""
    first: dict[Operator, Mutant] = {}
    for mutant in generate_mutants(code, PLACES * len(choice.kinds), choice.kinds, choice.seed):
        first.setdefault(mutant.operator, mutant)
    return list(first.values())[: choice.most]


def run_beside(
    code: str, case: Case, program: TestProgram, provider: SandboxProvider, limits: Limits
) -> Execution | None:
    """The run of a program beside some code, stored earlier or made now; None where there is none."""
    try:
        return execute_program(code, program, case.dependencies, provider, limits)[0]
    except SandboxUnavailable:
        return None
