"""How strong a test is: how many small faults of its candidate it notices. Asked for one test at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from django.contrib.auth.models import User
from django.db.models import F

from annotation.models import Assignment, Execution, Mutant, MutantText, TestProgram, Trial
from annotation.review.own_runs.own_tests import MOST_WAITING, TooManyWaiting
from annotation.review.own_runs.trials import Wanted, open_trials, request_trials
from retrieval.filters.newer_syntax import format_version
from retrieval.models import Text
from sandbox.candidate.mutants import generate_mutants

LONGEST: Final = 2_000


class NothingToChange(ValueError):
    """No fault can be put into the candidate; the message says why."""


@dataclass(frozen=True, slots=True)
class Try:
    """One mutant, and how the test ended beside it."""

    trial: Trial
    mutant: Mutant
    whole: Execution | None

    @property
    def caught(self) -> bool | None:
        """Whether the test ended otherwise than beside the candidate itself; None where that is not known.

        What could not be run says nothing; one that goes on for ever or breaks is caught.
        """
        if self.whole is None or self.trial.execution is None:
            return None
        return self.trial.execution.outcome != self.whole.outcome


@dataclass(frozen=True, slots=True)
class Strength:
    """What is known of one test; `whole` is its run beside the candidate itself."""

    whole: Trial | None = None
    tries: tuple[Try, ...] = field(default_factory=tuple)

    @property
    def asked(self) -> bool:
        return bool(self.tries)

    @property
    def open(self) -> int:
        """Runs that are still to come."""
        trials = [one.trial for one in self.tries] + ([self.whole] if self.whole and self.tries else [])
        return sum(trial.is_open for trial in trials)

    @property
    def tried(self) -> int:
        return sum(one.caught is not None for one in self.tries)

    @property
    def caught(self) -> int:
        return sum(one.caught is True for one in self.tries)


def load_test_strengths(programs: Iterable[TestProgram]) -> dict[int, Strength]:
    """By program: what is known of its strength, from what anybody asked. One query."""
    ids = [program.pk for program in programs]
    rows = Trial.objects.filter(program__in=ids, snippet=F("program__pair__snippet")).order_by("id")
    latest: dict[int, dict[int | None, Trial]] = defaultdict(dict)
    for trial in rows.select_related("mutant", "execution"):
        latest[trial.program_id][trial.mutant_id] = trial
    return {pk: compute_test_strength(list(latest[pk].values())) for pk in ids}


def compute_test_strength(trials: Sequence[Trial]) -> Strength:
    """Of the latest trials of one program beside its own candidate."""
    whole = next((trial for trial in trials if trial.mutant is None), None)
    execution = whole.execution if whole else None
    tries = [Try(trial, trial.mutant, execution) for trial in trials if trial.mutant]
    return Strength(whole, tuple(sorted(tries, key=lambda one: one.mutant.number)))


def ask_strength(
    user: User, program: TestProgram, dependencies: Sequence[str], assignment: Assignment | None = None
) -> int:
    """Ask for runs of `program` beside its candidate and up to five mutants; returns how many are new.

    What is stored is not run again. Raises NothingToChange and TooManyWaiting.
    """
    snippet = program.pair.snippet
    kept = keep_mutants(snippet)
    if not kept:
        raise NothingToChange(
            "No bug can be planted in this function: "
            f"it does not parse as {format_version()}, or does too little."
        )
    waiting = open_trials(user).filter(mutant__isnull=False).exclude(program=program)
    if waiting.values("program").distinct().count() >= MOST_WAITING:
        raise TooManyWaiting(
            f"The strength of {MOST_WAITING} tests is being checked for you. Try again when it is done."
        )
    needed = tuple(dependencies)
    beside = [Wanted(program, snippet, needed, mutant) for mutant in (None, *kept)]
    return request_trials(user, beside, assignment)


def keep_mutants(snippet: Text) -> list[Mutant]:
    """The snippet's mutants as rows; the same ones whoever asks."""
    rows = []
    for number, made in enumerate(generate_mutants(snippet.text), 1):
        text = MutantText.keep(made.text)
        columns = {
            "number": number,
            "operator": made.operator.value,
            "line": made.line,
            "before": made.before[:LONGEST],
            "after": made.after[:LONGEST],
        }
        rows.append(Mutant.objects.get_or_create(snippet=snippet, source=text, defaults=columns)[0])
    return rows
