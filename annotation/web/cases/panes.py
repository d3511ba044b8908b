"""The panes of a page on which somebody judges a pair: each shows what its object holds, and nothing else.

Only `AgentPane` is made from a case. The four others are made from a query's text, a candidate's text, a test
program and an execution, and carry the addresses that their forms send to: so a page on which nothing of the
agents may be seen includes their templates and gives them its own programs, runs and addresses. What exists
only because an agent judged the pair (readings, the agents' test, its execution) is in them if the page puts
it there, and not otherwise; an empty address leaves the button out.

The templates are in `annotation/panes/`, `_pane_query.html` and so on for code, agent and execution, each
included as `{% include … with pane=page.panes.code only %}`; a page with them
loads `css/evidence.css`, `review-panels.css`, `calls.css`, `trials.css`, `review.css`, `stepping.css` and
`js/review.js` and, for their room, `panes.css` and `js/arranged.js`. The review page shows the same objects
in templates of its own: two columns, a card and tabs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.urls import reverse

from annotation.review.layout import Pane
from annotation.web.cases.code import Code, truncate_code_text
from annotation.web.cases.evidence import LONGEST_TEXT, Evidence, ExecutionView, ProgramView, Verdict
from annotation.web.cases.names import NamesView
from annotation.web.cases.reports import AssertionLine
from annotation.web.cases.test_strength import StrengthView
from annotation.web.review.calls import CallBox
from annotation.web.review.keys import NO_KEY, KeyView

Keys = Mapping[str, KeyView]


@dataclass(frozen=True, slots=True)
class QueryPane:
    """What is asked for. `readings` are senses of it that tests rest on: the agents' ones are agent data."""

    text: str
    cut: int = 0
    readings: tuple[str, ...] = ()
    closed: bool = False


@dataclass(frozen=True, slots=True)
class CodePane:
    """The candidate, with the names that it lacks and the box to call it, where there are such.

    `docstrings` can be unfolded, `note` says what is not shown. A second one has another `name`, and its ids
    end with `suffix`.
    """

    code: Code
    box: CallBox | None = None
    closed: bool = False
    names: NamesView | None = None
    note: str = ""
    docstrings: tuple[str, ...] = ()
    suffix: str = ""
    name: Pane = Pane.CODE

    @property
    def word(self) -> str:
        """What its button opens: `the candidate`, `the left snippet`."""
        return f"the {self.code.title.lower()}"


@dataclass(frozen=True, slots=True)
class AgentPane:
    """What the agents decided, stage by stage, with model and cost. Never on a blind page."""

    evidence: Evidence
    closed: bool = False

    @property
    def latest(self) -> tuple[Verdict, ...]:
        """The step that decided, or the last one so far: what the person judges."""
        return self.evidence.verdicts[-1:]

    @property
    def earlier(self) -> tuple[Verdict, ...]:
        return self.evidence.verdicts[:-1]


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
    note: str = ""
    next_key: KeyView = NO_KEY
    previous_key: KeyView = NO_KEY
    failing_key: KeyView = NO_KEY
    follow_key: KeyView = NO_KEY
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Panes:
    """The four of the plain review page; what the agents said is in its card."""

    query: QueryPane
    code: CodePane
    test: TestPane
    execution: ExecutionPane


def query_pane(text: str, readings: Collection[str] = (), closed: bool = False) -> QueryPane:
    """The pane of a query's text; readings are shown once each."""
    kept, cut = truncate_code_text(text, LONGEST_TEXT)
    return QueryPane(kept, cut, tuple(dict.fromkeys(reading for reading in readings if reading)), closed)


def execution_pane(
    execution: ExecutionView | None,
    program: ProgramView | None,
    keys: Keys,
    note: str = "",
    closed: bool = False,
) -> ExecutionPane:
    """The pane of an execution of `program`; `keys` are a person's, by action."""
    return ExecutionPane(
        execution=execution,
        not_reached=program.not_reached if program and execution else (),
        note=note,
        next_key=keys["step_next"],
        previous_key=keys["step_previous"],
        failing_key=keys["step_failing"],
        follow_key=keys["step_follow"],
        closed=closed,
    )


def panes_of(evidence: Evidence, box: CallBox, keys: Keys, drafted: bool, show: str) -> Panes:
    """All four for a case; `drafted`: the person has begun a test."""
    programs = [*evidence.earlier_programs, *([evidence.program] if evidence.program else [])]
    readings = [program.reading for program in programs]
    program, execution = evidence.program, evidence.execution
    return Panes(
        query=QueryPane(evidence.query, evidence.query_cut, query_pane("", readings).readings),
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
