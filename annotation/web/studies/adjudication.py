"""The page of a decision: what each rater saw and did, where they part, what was decided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from annotation.models import Cause, Condition, Execution, Rating, Study, StudyPair
from annotation.review.own_runs.cross_tests import Grid, Test
from annotation.review.shortcuts import Action, label_action
from annotation.studies.adjudication.decisions import (
    Voter,
    build_adjudication_grid,
    history_of,
    is_split,
    last_tests,
    voters_of,
)
from annotation.studies.adjudication.latest_round import rounds_of
from annotation.studies.adjudication.quorum import VALUES
from annotation.web.cases.code import code_of, truncate_code_text
from annotation.web.cases.cross_tests import grid_view
from annotation.web.cases.evidence import LONGEST_TEXT, ProgramView, candidate_code, program_view
from annotation.web.cases.names import mark_missing_names, names_of_snippet
from annotation.web.rating.study_list import build_rater_guide
from annotation.web.rating.words import UNDECIDED, value_sign
from annotation.web.review.calls import call_line
from annotation.web.review.drafts import Typed
from annotation.web.review.keys import KeyView
from annotation.web.review.words import describe_lines
from annotation.web.shared.words import OUTCOMES, Sign
from sandbox.candidate.expectations import find_test_expectations
from sandbox.program import candidate_names

NOTHING_SENT: Final[Mapping[str, str]] = MappingProxyType({})
MOST_INPUTS: Final = 40
PREFERRED: Final = MappingProxyType({1: Action.LEFT, 0: Action.TIE, -1: Action.RIGHT})
MET: Final = Sign("✓", "so it is", "good")
NOT_MET: Final = Sign("✗", "it is not so", "bad")


@dataclass(frozen=True, slots=True)
class Expected:
    """What one rater's test expects of an input, empty for nothing, and whether the candidate meets it."""

    text: str
    sign: Sign | None


@dataclass(frozen=True, slots=True)
class InputRow:
    """One input."""

    input: str
    cells: Sequence[Expected]

    @property
    def parts(self) -> bool:
        """Whether raters expect different things of it."""
        return len({cell.text for cell in self.cells if cell.text}) > 1


def pair_page(
    study_pair: StudyPair,
    condition: Condition,
    keys: Mapping[str, KeyView],
    sent: Mapping[str, str] = NOTHING_SENT,
    problem: str = "",
) -> dict[str, Any]:
    """One pair, read with its study and texts, with what its raters did, and the form: `sent` with its
    `problem` is shown again. `keys` are the person's, by action.
    """
    study, text = study_pair.study, study_pair.pair.snippet.text
    voters = voters_of(study_pair, condition)
    tested, grid = last_tests(voters), build_adjudication_grid(study_pair, voters)
    inputs = input_rows(text, tested, grid)
    query, cut = truncate_code_text(study_pair.pair.query.text, LONGEST_TEXT)
    return {
        "study": study,
        "number": study_pair.number,
        "condition": condition,
        "query": query,
        "query_cut": cut,
        "candidate": mark_missing_names(candidate_code(text), text),
        "other": code_of(study_pair.other.snippet.text, "Second function", "o") if study_pair.other else None,
        "names": names_of_snippet(study_pair.pair.snippet),
        "voters": [voter_view(study, voter) for voter in voters],
        "guide": build_rater_guide(study.guideline, unread=False) if study.guideline else None,
        "guide_key": keys[Action.GUIDELINES],
        "grid": grid_view(grid, {test.program.pk: voter.pseudonym for voter, test in tested}),
        "can_run": grid.missing and not grid.open,
        "raters_with_tests": [voter.pseudonym for voter, _ in tested],
        "inputs": inputs[:MOST_INPUTS],
        "more_inputs": max(0, len(inputs) - MOST_INPUTS),
        **decision_form(study_pair, condition, keys, sent, problem),
    }


def decision_form(
    study_pair: StudyPair,
    condition: Condition,
    keys: Mapping[str, KeyView],
    sent: Mapping[str, str],
    problem: str,
) -> dict[str, Any]:
    """What was decided, the newest first and whether it stands, and the form for the next decision.

    `split`: whether there is anything to decide.
    """
    study, history = study_pair.study, history_of(study_pair, condition)
    rounds, scale = rounds_of(study), Study.Scale(study.scale)
    return {
        "history": [
            (
                row,
                value_sign(scale, row.value, UNDECIDED),
                row is history[0] and not rounds.is_outdated(study_pair.pk, condition.pk, row.at),
                describe_lines(row),
            )
            for row in history
        ],
        "seen": history[0].pk if history else 0,
        "values": [
            (str(value), value_sign(scale, value), keys[value_action(scale, value)])
            for value in VALUES[scale]
        ],
        "lines_key": None if study_pair.other else keys[Action.MARK_LINES],
        "lines": Typed(sent.get("lines", "")),
        "undecided_key": keys[label_action(scale, "unsure")],
        "causes": Cause.choices,
        "sent": sent,
        "problem": problem,
        "split": is_split(study_pair, condition),
    }


def value_action(scale: str, value: int) -> Action:
    """The action of a value, as on the pages of raters; of two snippets the first is the left one."""
    return PREFERRED[value] if scale == Study.Scale.PREFERENCE else label_action(scale, str(value))


def voter_view(study: Study, voter: Voter) -> dict[str, Any]:
    """One rater's label with all that it rests on; `tests` are programs with what the last run came to.

    Only the pseudonym is shown, in place of the author's name, too.
    """
    rating: Rating = voter.rating
    programs = [program_view(program, prefix=f"v{program.pk}") for program in voter.programs]
    outcomes = {run.program_id: OUTCOMES[run.execution.outcome] for run in voter.runs if run.execution}
    readings = [rating.reading, *(program.reading for program in programs)]
    return {
        "pseudonym": voter.pseudonym,
        "sign": value_sign(study.scale, rating.value),
        "notes": "\n".join(filter(None, (rating.notes, rating.reason))),
        "tags": rating.tags,
        "lines": describe_lines(rating),
        "first_line": rating.marked_first,
        "readings": list(dict.fromkeys(filter(None, readings))),
        "tests": [
            (
                attribute_rater_program(view, number, voter.pseudonym),
                outcomes.get(program.pk, Sign("·", "not run")),
            )
            for number, (program, view) in enumerate(zip(voter.programs, programs, strict=True), 1)
        ],
        "calls": [call_line(call) for call in voter.calls],
        "at": rating.created_at,
    }


def attribute_rater_program(program: ProgramView, number: int, pseudonym: str) -> ProgramView:
    """The program by its rater's pseudonym, which also tells its region from those of other tests."""
    code = replace(program.code, title=f"Test {number} of {pseudonym}")
    return replace(program, code=code, author=pseudonym)


def input_rows(candidate: str, tested: Sequence[tuple[Voter, Test]], grid: Grid) -> list[InputRow]:
    """By input: what each rater's last test expects; first those of which raters expect different things.

    Whether the candidate meets it is read off the run of that very test, by the line of the assertion.
    """
    names = candidate_names(candidate)
    expected: dict[str, dict[str, Expected]] = defaultdict(dict)
    for (voter, test), row in zip(tested, grid.rows, strict=False):
        met = lines_met(row.cells[0].execution)
        for expectation in find_test_expectations(test.program.source.text, names):
            sign = None if expectation.line not in met else MET if met[expectation.line] else NOT_MET
            expected[expectation.input].setdefault(voter.pseudonym, Expected(expectation.expected, sign))
    who = [voter.pseudonym for voter, _ in tested]
    rows = [
        InputRow(text, [cells.get(name, Expected("", None)) for name in who])
        for text, cells in expected.items()
    ]
    return sorted(rows, key=lambda row: (not row.parts, all(cell.sign is not NOT_MET for cell in row.cells)))


def lines_met(execution: Execution | None) -> dict[int, bool]:
    """By line of a test program: whether all its assertions there held."""
    met: dict[int, bool] = {}
    for assertion in execution.whole_report().assertions if execution else ():
        met[assertion.line] = met.get(assertion.line, True) and assertion.passed
    return met
