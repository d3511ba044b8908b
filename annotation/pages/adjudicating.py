"""Pages of decisions: what waits, what each rater saw and did, where they part, what was decided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import QueryDict

from annotation.models import Adjudication, Cause, Condition, Execution, Precedent, Rating, Study, StudyPair
from annotation.pages.code import Code, beginning
from annotation.pages.crossing import GridView, grid_view
from annotation.pages.evidence import LONGEST_TEXT, ProgramView, candidate_code, program_view
from annotation.pages.names import NamesView, marked, names_view
from annotation.pages.paging import window
from annotation.pages.review_calls import CallLine, call_line
from annotation.pages.words import MATCH, NO_MATCH, OUTCOMES, UNSURE, Sign
from annotation.review.crossing import Grid, Test
from annotation.studies.adjudicating import (
    VALUES,
    Split,
    Voter,
    history_of,
    last_tests,
    may_adjudicate,
    splits,
    table,
    voters_of,
)
from annotation.studies.precedents import precedents
from sandbox.expectations import expectations
from sandbox.program import candidate_names
from sandbox.report import Outcome

PAGE_SIZE: Final = 30
MOST_INPUTS: Final = 40
SIGNS: Final[Mapping[str, Mapping[int, Sign]]] = MappingProxyType(
    {
        Study.Scale.BINARY: {1: MATCH, 0: NO_MATCH},
        Study.Scale.STEPS: {
            2: Sign("●", "all of it", "good"),
            1: Sign("◐", "at least half", "warn"),
            0: Sign("○", "less", "bad"),
        },
        Study.Scale.GRADED: {
            3: Sign("3", "exact", "good"),
            2: Sign("2", "strong", "good"),
            1: Sign("1", "weak", "warn"),
            0: Sign("0", "irrelevant", "bad"),
        },
        Study.Scale.PREFERENCE: {
            1: Sign("1", "the first snippet is better", "info"),
            0: Sign("=", "equally good"),
            -1: Sign("2", "the second snippet is better", "info"),
        },
    }
)
UNDECIDED: Final = Sign("–", "can't be decided")
MET: Final = Sign("✓", "so it is", "good")
NOT_MET: Final = Sign("✗", "it is not so", "bad")


@dataclass(frozen=True, slots=True)
class StudyLine:
    """A study with how much waits in it; `closed` says why it is closed to the person."""

    pk: int
    name: str
    waiting: int
    decided: int
    closed: str


@dataclass(frozen=True, slots=True)
class SplitLine:
    """A pair in the queue. `agreement` is in percent; `decision` is None while it waits."""

    number: int
    condition: int
    condition_name: str
    query: str
    votes: tuple[Sign, ...]
    agreement: int
    decision: Sign | None


@dataclass(frozen=True, slots=True)
class QueuePage:
    """The queue of one study: what waits, the lowest agreement first, then what is decided."""

    study: Study
    waiting: tuple[SplitLine, ...]
    decided: tuple[SplitLine, ...]


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


@dataclass(frozen=True, slots=True)
class PrecedentView:
    """One precedent."""

    pk: int
    guidelines: str
    query: str
    code: Code
    sign: Sign
    why: str
    tags: tuple[str, ...]
    who: str
    at: datetime


@dataclass(frozen=True, slots=True)
class PrecedentsPage:
    """A page of precedents. `asked` is whether anything was searched for."""

    rows: tuple[PrecedentView, ...]
    text: str
    guidelines: str
    all_guidelines: tuple[str, ...]
    previous: str
    next: str

    @property
    def asked(self) -> bool:
        return bool(self.text or self.guidelines)


def value_sign(scale: str, value: int | None, none: Sign = UNSURE) -> Sign:
    """A value of a scale; `none` where there is no value."""
    return none if value is None else SIGNS[scale].get(value, Sign("?", str(value)))


def study_lines(user: User) -> tuple[StudyLine, ...]:
    """The studies that were begun, the newest first."""
    begun = Study.objects.exclude(state=Study.State.DRAFT).exclude(kind=Study.Kind.IMPORTED)
    lines = []
    for study in begun:
        closed = may_adjudicate(user, study)
        found = [] if closed else splits(study)
        decided = sum(one.decision is not None for one in found)
        lines.append(StudyLine(study.pk, study.name, len(found) - decided, decided, closed))
    return tuple(lines)


def queue_page(study: Study) -> QueuePage:
    """Three queries and one for the texts."""
    found = splits(study)
    names = {condition.pk: condition.get_kind_display() for condition in study.conditions.all()}
    heads = dict(
        StudyPair.objects.filter(pk__in=[one.study_pair for one in found]).values_list(
            "pk", "pair__query__head"
        )
    )
    lines = [(one, split_line(study, one, names[one.condition], heads[one.study_pair])) for one in found]
    return QueuePage(
        study=study,
        waiting=tuple(line for one, line in lines if one.decision is None),
        decided=tuple(line for one, line in lines if one.decision is not None),
    )


def split_line(study: Study, split: Split, condition: str, query: str) -> SplitLine:
    decision = split.decision
    return SplitLine(
        number=split.number,
        condition=split.condition,
        condition_name=condition,
        query=query,
        votes=tuple(value_sign(study.scale, vote) for vote in split.votes),
        agreement=round(100 * split.agreement),
        decision=value_sign(study.scale, decision.value, UNDECIDED) if decision else None,
    )


def pair_page(study_pair: StudyPair, condition: Condition, sent: Sent | None = None) -> PairPage:
    """The page of a pair, read with its study and the texts of its pairs."""
    study, text = study_pair.study, study_pair.pair.snippet.text
    voters, history = voters_of(study_pair, condition), history_of(study_pair, condition)
    tested, grid = last_tests(voters), table(study_pair, voters)
    inputs = input_rows(text, tested, grid)
    query, cut = beginning(study_pair.pair.query.text, LONGEST_TEXT)
    return PairPage(
        study=study,
        number=study_pair.number,
        condition=condition,
        query=query,
        query_cut=cut,
        candidate=marked(candidate_code(text), text),
        other=candidate_code(study_pair.other.snippet.text, prefix="o") if study_pair.other else None,
        names=names_view(text),
        voters=tuple(voter_view(study, voter) for voter in voters),
        grid=grid_view(grid, {test.program.pk: voter.pseudonym for voter, test in tested}),
        raters_with_tests=tuple(voter.pseudonym for voter, _ in tested),
        inputs=inputs[:MOST_INPUTS],
        more_inputs=max(0, len(inputs) - MOST_INPUTS),
        history=tuple(decision_view(study, row, row is history[0]) for row in history),
        seen=history[0].pk if history else 0,
        values=tuple(
            (str(value), value_sign(study.scale, value)) for value in VALUES[Study.Scale(study.scale)]
        ),
        causes=tuple(Cause.choices),
        sent=sent or Sent(),
        split=any(one.study_pair == study_pair.pk and one.condition == condition.pk for one in splits(study)),
    )


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
        readings=tuple(dict.fromkeys(program.reading for program in programs if program.reading)),
        programs=tuple(
            ProgramView(
                one.pk, one.code, one.reading, one.helpers, one.undeclared, one.redefines, voter.pseudonym
            )
            for one in programs
        ),
        outcomes=tuple(outcome_of(executions.get(program.pk)) for program in voter.programs),
        calls=tuple(call_line(call) for call in voter.calls),
        at=rating.created_at,
    )


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


def precedents_page(user: User, params: QueryDict) -> PrecedentsPage:
    """What is searched for, a page at a time."""
    text, guidelines = params.get("q", ""), params.get("guidelines", "")
    page = window(precedents(user, text, guidelines), ("-id",), params, PAGE_SIZE)
    return PrecedentsPage(
        rows=tuple(precedent_view(row) for row in page.rows),
        text=text,
        guidelines=guidelines,
        all_guidelines=tuple(names_of(precedents(user))),
        previous=page.previous,
        next=page.next,
    )


def names_of(rows: QuerySet[Precedent]) -> Iterable[str]:
    return rows.order_by("guideline_name").values_list("guideline_name", flat=True).distinct()[:PAGE_SIZE]


def precedent_view(row: Precedent) -> PrecedentView:
    decision = row.adjudication
    scale = decision.condition.study.scale if decision else Study.Scale.BINARY
    return PrecedentView(
        pk=row.pk,
        guidelines=row.guideline_name,
        query=row.query,
        code=candidate_code(row.code, prefix=f"p{row.pk}"),
        sign=value_sign(scale, row.value, UNDECIDED),
        why=row.why,
        tags=tuple(str(tag) for tag in row.tags),
        who=row.created_by.get_username(),
        at=row.created_at,
    )
