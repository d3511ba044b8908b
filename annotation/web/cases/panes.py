"""What a page shows on which somebody judges a pair: the query, the code, a test and an execution.

They need no case: a page on which nothing of the agents may be seen gives them its own
programs, runs and addresses. What exists only because an agent judged the pair (readings, the agents' test,
its execution) is in them if the page puts it there, and not otherwise. An empty address leaves the button
out. The review page and the pages of raters show them in templates of their own: two columns, a card, tabs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.urls import reverse

from annotation.web.cases.code import Code, truncate_code_text
from annotation.web.cases.evidence import LONGEST_TEXT, Evidence, ExecutionView, ProgramView
from annotation.web.cases.names import NamesView
from annotation.web.cases.reports import AssertionLine
from annotation.web.cases.test_strength import StrengthView
from annotation.web.review.calls import CallBox
from annotation.web.review.keys import NO_KEY, KeyView

Keys = Mapping[str, KeyView]


@dataclass(frozen=True, slots=True)
class QueryPane:
    """What is asked for. `readings` are senses of it that tests rest on: the agents' ones are agent data.

    `note` says of the first which of several it is.
    """

    text: str
    cut: int = 0
    readings: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class CodePane:
    """The candidate, with the names that it lacks and the box to call it, where there are such.

    `docstrings` can be unfolded, `note` says what is not shown, `origin` is a link to where it comes from.
    A second one has another `name`, and its ids end with `suffix`.
    """

    code: Code
    box: CallBox | None = None
    names: NamesView | None = None
    note: str = ""
    docstrings: tuple[str, ...] = ()
    origin: str = ""
    suffix: str = ""
    name: str = "code"


@dataclass(frozen=True, slots=True)
class TestPane:
    """One test program, and where to have it run and to open the editor; without `run_url` no such button.

    `edit_word` is what the editor's button says. `show` goes along with a run: the list that is gone through.
    """

    __test__ = False  # a pane, not a test class: keeps pytest from collecting it

    program: ProgramView | None = None
    run_url: str = ""
    edit_url: str = ""
    edit_word: str = "Write a test"
    show: str = ""
    run_key: KeyView = NO_KEY
    edit_key: KeyView = NO_KEY
    strength: StrengthView | None = None


@dataclass(frozen=True, slots=True)
class ExecutionPane:
    """One execution as a story: the outcome, the assertions, what was not reached, and the way through it."""

    execution: ExecutionView | None = None
    not_reached: tuple[AssertionLine, ...] = ()
    next_key: KeyView = NO_KEY
    previous_key: KeyView = NO_KEY
    failing_key: KeyView = NO_KEY
    follow_key: KeyView = NO_KEY


@dataclass(frozen=True, slots=True)
class Panes:
    """The four of the plain review page; what the agents said is in its card."""

    query: QueryPane
    code: CodePane
    test: TestPane
    execution: ExecutionPane


def query_pane(text: str, readings: Collection[str] = ()) -> QueryPane:
    """The pane of a query's text; readings are shown once each."""
    kept, cut = truncate_code_text(text, LONGEST_TEXT)
    return QueryPane(kept, cut, tuple(dict.fromkeys(reading for reading in readings if reading)))


def execution_pane(
    execution: ExecutionView | None,
    program: ProgramView | None,
    keys: Keys,
) -> ExecutionPane:
    """The pane of an execution of `program`; `keys` are a person's, by action."""
    return ExecutionPane(
        execution=execution,
        not_reached=program.not_reached if program and execution else (),
        next_key=keys["step_next"],
        previous_key=keys["step_previous"],
        failing_key=keys["step_failing"],
        follow_key=keys["step_follow"],
    )


def panes_of(evidence: Evidence, box: CallBox, keys: Keys, drafted: bool, show: str) -> Panes:
    """All four for a case; `drafted`: the person has begun a test."""
    programs = [*evidence.earlier_programs, *([evidence.program] if evidence.program else [])]
    readings = [program.reading for program in programs]
    note = ""
    if evidence.decisive and evidence.program:
        meaning, count = evidence.decisive.meaning, len(evidence.program.readings)
        told = [str(reading["sense"]) for reading in evidence.program.readings]
        readings = [meaning.sense, *(reading for reading in readings if reading not in told)]
        name = meaning.name if meaning.is_main else f"{meaning.name} of {count}"
        note = f"{name}, {meaning.likelihood} %"
    program, execution = evidence.program, evidence.execution
    return Panes(
        query=QueryPane(evidence.query, evidence.query_cut, query_pane("", readings).readings, note),
        code=CodePane(evidence.candidate, box),
        test=program_pane(evidence, keys, drafted, show),
        execution=execution_pane(execution, program, keys),
    )


def program_pane(evidence: Evidence, keys: Keys, drafted: bool, show: str) -> TestPane:
    """The agents' program of a case, with the addresses of plain review."""
    program = evidence.program
    return TestPane(
        program=program,
        run_url=reverse("review-run", args=[evidence.case.pk]) if program else "",
        edit_url=reverse("review-test", args=[evidence.case.pk]),
        edit_word="Continue editing" if drafted else "Edit a copy" if program else "Write a test",
        show=show,
        run_key=keys["run"],
        edit_key=keys["edit"],
    )
