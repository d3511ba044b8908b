"""Many runs asked for at once: each pair of a test and a candidate is asked for once, whoever asks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotation.models import Assignment, Mutant, TestProgram, Trial
from annotation.review.own_runs.own_tests import OPEN, refuse_many
from retrieval.models import Text
from sandbox.program import subject_of


@dataclass(frozen=True, slots=True)
class Wanted:
    """A program beside a snippet or one of its mutants. `dependencies` are what both need installed."""

    program: TestProgram
    snippet: Text
    dependencies: tuple[str, ...] = ()
    mutant: Mutant | None = None

    @property
    def applied_as(self) -> str:
        """The name under which the program expects a candidate that it was not written for."""
        if self.program.pair.snippet_id == self.snippet.pk:
            return ""
        return (subject_of(self.program.pair.snippet.text) or "")[:200]

    @property
    def key(self) -> tuple[int, int, int | None, tuple[str, ...]]:
        return self.program.pk, self.snippet.pk, self.mutant.pk if self.mutant else None, self.dependencies


def request_trials(user: User, wanted: Sequence[Wanted], assignment: Assignment | None = None) -> int:
    """Ask for what nobody has asked for yet, or what could not be run; returns how many runs that is.

    All or none of them. Raises TooFast.
    """
    with transaction.atomic():
        new = find_unasked_trials(wanted)
        refuse_many(user.pk, len(new))
        made = [
            Trial(
                user=user,
                assignment=assignment,
                program=trial.program,
                snippet=trial.snippet,
                mutant=trial.mutant,
                applied_as=trial.applied_as,
                dependencies=list(trial.dependencies),
            )
            for trial in new
        ]
        Trial.objects.bulk_create(made)
    return len(made)


def find_unasked_trials(wanted: Sequence[Wanted]) -> list[Wanted]:
    """Of these what nobody has asked for, or what could not be run."""
    asked = trials_of(wanted).exclude(state=Trial.State.FAILED)
    columns = asked.values_list("program_id", "snippet_id", "mutant_id", "dependencies")
    known = {(*ids, tuple(dependencies)) for *ids, dependencies in columns}
    return [one for one in wanted if one.key not in known]


def trials_of(wanted: Iterable[Wanted]) -> QuerySet[Trial]:
    """The trials of these programs beside these snippets, the oldest first."""
    programs, snippets = {one.program.pk for one in wanted}, {one.snippet.pk for one in wanted}
    return Trial.objects.filter(program__in=programs, snippet__in=snippets).order_by("id")


def open_trials(user: User) -> QuerySet[Trial]:
    """What the person waits for."""
    return Trial.objects.filter(user=user, state__in=OPEN)
