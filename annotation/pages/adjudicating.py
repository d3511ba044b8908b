"""The page of a decision: what each rater saw and did, where they part, what was decided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from annotation.models import Adjudication, Cause, Condition, Execution, Rating, Study, StudyPair
from annotation.pages.code import Code, beginning
from annotation.pages.crossing import GridView, grid_view
from annotation.pages.evidence import LONGEST_TEXT, ProgramView, candidate_code, program_view
from annotation.pages.names import NamesView, marked, names_view
from annotation.pages.review_calls import CallLine, call_line
from annotation.pages.split_lists import UNDECIDED, value_sign
from annotation.pages.words import OUTCOMES, Sign
from annotation.review.crossing import Grid, Test
from annotation.studies.adjudicating import (
    Voter,
    history_of,
    is_split,
    last_tests,
    table,
    voters_of,
)
from annotation.studies.latest import rounds_of
from annotation.studies.quorum import VALUES
from sandbox.expectations import expectations
from sandbox.program import candidate_names
from sandbox.report import Outcome

MOST_INPUTS: Final = 40
MET: Final = Sign("✓", "so it is", "good")
NOT_MET: Final = Sign("✗", "it is not so", "bad")


@dataclass(frozen=True, slots=True)
class VoterView:
    """One rater's label with all that it rests on; `outcomes` are those of the programs, in their order."""

    pseudonym: str
    sign: Sign
    notes: str
    tags: tuple[str, ...]
    readings: tuple[str, ...]
    programs: tuple[ProgramView, ...]
    outcomes: tuple[Sign, ...]
    calls: tuple[CallLine, ...]
    at: datetime

    @property
    def tests(self) -> list[tuple[ProgramView, Sign]]:
        """Each program with what its last run came to."""
        return list(zip(self.programs, self.outcomes, strict=True))


@dataclass(frozen=True, slots=True)
class Expected:
    """What one rater's test expects of an input, empty for nothing, and whether the candidate meets it."""

    text: str
    sign: Sign | None


@dataclass(frozen=True, slots=True)
class InputRow:
    """One input. `parts`: raters expect different things of it."""

    input: str
    cells: tuple[Expected, ...]
    parts: bool


@dataclass(frozen=True, slots=True)
class DecisionView:
    """One decision, as it was given. `stands`: no later one took its place."""

    sign: Sign
    cause: str
    note: str
    who: str
    at: datetime
    stands: bool
    precedent: bool


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent and could not be stored, so that the form shows it again."""

    value: str = ""
    cause: str = ""
    note: str = ""
    precedent: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class PairPage:
    """One pair with what its raters did, and the form. `split`: whether there is anything to decide."""

    study: Study
    number: int
    condition: Condition
    query: str
    query_cut: int
    candidate: Code
    other: Code | None
    names: NamesView
    voters: tuple[VoterView, ...]
    grid: GridView
    raters_with_tests: tuple[str, ...]
    inputs: tuple[InputRow, ...]
    more_inputs: int
    history: tuple[DecisionView, ...]
    seen: int
    values: tuple[tuple[str, Sign], ...]
    causes: tuple[tuple[str, str], ...]
    sent: Sent
    split: bool

    @property
    def can_run(self) -> bool:
        return bool(self.grid.missing) and not self.grid.open


def pair_page(study_pair: StudyPair, condition: Condition, sent: Sent | None = None) -> PairPage:
    """The page of a pair, read with its study and the texts of its pairs."""
    study, text = study_pair.study, study_pair.pair.snippet.text
    voters, history = voters_of(study_pair, condition), history_of(study_pair, condition)
    tested, grid, rounds = last_tests(voters), table(study_pair, voters), rounds_of(study)
    inputs = input_rows(text, tested, grid)
    query, cut = beginning(study_pair.pair.query.text, LONGEST_TEXT)
    return PairPage(
        study=study,
        number=study_pair.number,
        condition=condition,
        query=query,
        query_cut=cut,
        candidate=marked(candidate_code(text), text),
        other=second_code(study_pair.other.snippet.text) if study_pair.other else None,
        names=names_view(text),
        voters=tuple(voter_view(study, voter) for voter in voters),
        grid=grid_view(grid, {test.program.pk: voter.pseudonym for voter, test in tested}),
        raters_with_tests=tuple(voter.pseudonym for voter, _ in tested),
        inputs=inputs[:MOST_INPUTS],
        more_inputs=max(0, len(inputs) - MOST_INPUTS),
        history=tuple(
            decision_view(
                study, row, row is history[0] and not rounds.is_outdated(study_pair.pk, condition.pk, row.at)
            )
            for row in history
        ),
        seen=history[0].pk if history else 0,
        values=tuple(
            (str(value), value_sign(study.scale, value)) for value in VALUES[Study.Scale(study.scale)]
        ),
        causes=tuple(Cause.choices),
        sent=sent or Sent(),
        split=is_split(study_pair, condition),
    )


def second_code(text: str) -> Code:
    """The second of two snippets, named apart from the first one."""
    return replace(candidate_code(text, prefix="o"), title="Second snippet")


def voter_view(study: Study, voter: Voter) -> VoterView:
    """Only the pseudonym is shown, in place of the author's name, too."""
    rating: Rating = voter.rating
    programs = [program_view(program, prefix=f"v{program.pk}") for program in voter.programs]
    executions = {run.program_id: run.execution for run in voter.runs if run.execution}
    return VoterView(
        pseudonym=voter.pseudonym,
        sign=value_sign(study.scale, rating.value),
        notes="\n".join(one for one in (rating.notes, rating.reason) if one),
        tags=tuple(str(tag) for tag in rating.tags),
        readings=tuple(dict.fromkeys(filter(None, [rating.reading, *(one.reading for one in programs)]))),
        programs=tuple(whose(one, number, voter.pseudonym) for number, one in enumerate(programs, 1)),
        outcomes=tuple(outcome_of(executions.get(program.pk)) for program in voter.programs),
        calls=tuple(call_line(call) for call in voter.calls),
        at=rating.created_at,
    )


def whose(program: ProgramView, number: int, pseudonym: str) -> ProgramView:
    """The program by its rater's pseudonym, which also tells its region from those of other tests."""
    code = replace(program.code, title=f"Test {number} of {pseudonym}")
    return replace(program, code=code, author=pseudonym)


def outcome_of(execution: Execution | None) -> Sign:
    return OUTCOMES[Outcome(execution.outcome)] if execution else Sign("·", "not run")


def input_rows(candidate: str, tested: Sequence[tuple[Voter, Test]], grid: Grid) -> tuple[InputRow, ...]:
    """By input: what each rater's last test expects; first those of which raters expect different things.

    Whether the candidate meets it is read off the run of that very test, by the line of the assertion.
    """
    names = candidate_names(candidate)
    expected: dict[str, dict[str, Expected]] = defaultdict(dict)
    for (voter, test), row in zip(tested, grid.rows, strict=False):
        met = lines_met(row.cells[0].execution)
        for one in expectations(test.program.source.text, names):
            sign = None if one.line not in met else MET if met[one.line] else NOT_MET
            expected[one.input].setdefault(voter.pseudonym, Expected(one.expected, sign))
    who = [voter.pseudonym for voter, _ in tested]
    rows = [
        input_row(text, [cells.get(name, Expected("", None)) for name in who])
        for text, cells in expected.items()
    ]
    return tuple(
        sorted(rows, key=lambda row: (not row.parts, all(cell.sign is not NOT_MET for cell in row.cells)))
    )


def input_row(text: str, cells: Sequence[Expected]) -> InputRow:
    said = {cell.text for cell in cells if cell.text}
    return InputRow(text, tuple(cells), len(said) > 1)


def lines_met(execution: Execution | None) -> dict[int, bool]:
    """By line of a test program: whether all its assertions there held."""
    met: dict[int, bool] = {}
    for one in execution.whole_report().assertions if execution else ():
        met[one.line] = met.get(one.line, True) and one.passed
    return met


def decision_view(study: Study, row: Adjudication, stands: bool) -> DecisionView:
    return DecisionView(
        sign=value_sign(study.scale, row.value, UNDECIDED),
        cause=row.get_cause_display(),
        note=row.note,
        who=row.by.get_username(),
        at=row.at,
        stands=stands,
        precedent=hasattr(row, "precedent"),
    )
