"""The box in which a person calls the candidate, with the answers so far."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from annotation.models import CallRequest, Case, Draft, RatingDraft
from annotation.review import drafts
from annotation.review.own_runs.calls import candidate_calls_of_user
from annotation.web.cases.code import Code
from annotation.web.cases.evidence import candidate_code
from annotation.web.cases.reports import exception_of, frame_views, outputs_of
from annotation.web.review.keys import NO_KEY, KeyView, key_views
from annotation.web.review.runs import NOBODY_CAME, STATES
from annotation.web.shared.words import OUTCOMES, Sign, format_duration
from retrieval.models import Pair
from sandbox.candidate.syntax import parse_python_source
from sandbox.expression_call import Answer, CallOutcome
from sandbox.program import candidate_names
from sandbox.reports.report import Outcome

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LONGEST_EXAMPLE = 80
OF_CALLS: Final[Mapping[CallOutcome, Sign]] = MappingProxyType(
    {CallOutcome.RETURNED: Sign("→", "returned", "good"), CallOutcome.RAISED: Sign("!", "raised", "bad")}
)


@dataclass(frozen=True, slots=True)
class CallLine:
    """One call of the person: waiting, running, answered (`called`), or not to be had (`message`)."""

    pk: int
    expression: str
    sign: Sign
    open: bool
    nobody_came: bool
    message: str
    called: dict[str, Any] | None
    at: datetime
    href: str = ""
    assert_url: str = ""

    @property
    def said(self) -> str:
        """The answer in a sentence, for those who listen."""
        if self.called is None:
            return f"{self.expression}: {self.sign.word}"
        if self.called["value"] is not None:
            return f"{self.expression} gives {self.called['value']}"
        return f"{self.expression}: {self.called['exception'] or self.sign.word}"


@dataclass(frozen=True, slots=True)
class CallBox:
    """The field, with what was typed or the draft of it, and the person's calls, the newest first.

    The forms go to `ask_url` and `draft_url`; without a `draft_url` what is typed is not kept. `draft_key`
    names the draft's copy in the browser. `side` names one of two snippets, each with a box of its own.
    """

    ask_url: str
    draft_url: str
    draft_key: str
    query: str
    example: str
    text: str
    draft_at: str
    key: KeyView
    assert_key: KeyView
    lines: tuple[CallLine, ...]
    problem: str = ""
    side: str = ""

    @property
    def suffix(self) -> str:
        """What the ids of the second box of a page end with."""
        return "-right" if self.side == "right" else ""

    @property
    def open(self) -> str:
        """Where the newest call is whose answer is still to come; empty where there is none."""
        return next((line.href for line in self.lines if line.open), "")


@dataclass(frozen=True, slots=True)
class CallPage:
    """The box on a page of its own, beside the candidate. `place` and `back_word` say whose page it is."""

    box: CallBox
    candidate: Code
    place: str
    back_url: str
    back_word: str


@dataclass(frozen=True, slots=True)
class CallPlaces:
    """Where a box sends to: calls, drafts, and by a call's id its answer and the assertion made of it.

    `lines` is the prefix of the candidate's lines on the page. Where nothing else is said the draft's copy
    in the browser is that of the person and the pair.
    """

    ask: str
    draft: str
    answer: Callable[[int], str]
    assertion: Callable[[int], str]
    draft_key: str = ""
    side: str = ""
    lines: str = "c"


def places_of(case: Case) -> CallPlaces:
    """Those of plain review."""
    return CallPlaces(
        ask=reverse("review-call", args=[case.pk]),
        draft=reverse("review-draft", args=[case.pk]),
        answer=lambda pk: f"{reverse('review-answer', args=[pk])}?case={case.pk}",
        assertion=lambda pk: f"{reverse('review-assertion', args=[pk])}?case={case.pk}",
    )


def call_box(
    user: User,
    case: Case,
    text: str = "",
    problem: str = "",
    keys: Mapping[str, KeyView] | None = None,
    kept: Mapping[str, Draft] | None = None,
) -> CallBox:
    """The box of a case; `text` goes before the draft. At most three queries; what is known costs none."""
    asked = candidate_calls_of_user(user, case.pair_id)
    return box_of(user, case.pair, places_of(case), asked, text, problem, keys, kept)


def box_of(
    user: User,
    pair: Pair,
    places: CallPlaces,
    asked: Iterable[CallRequest],
    text: str = "",
    problem: str = "",
    keys: Mapping[str, KeyView] | None = None,
    kept: Mapping[str, Draft] | Mapping[str, RatingDraft] | None = None,
) -> CallBox:
    """The box for a pair on any page that answers at `places`; `asked` are the calls to list, with answers.

    A page that keeps its drafts elsewhere gives them as `kept`. Of two boxes the first has draft and keys.
    """
    draft = (
        None
        if places.side == "right"
        else (drafts.load_drafts(user, pair.pk) if kept is None else kept).get(Draft.Field.CALL)
    )
    keys = {} if places.side == "right" else keys or key_views(user)
    return CallBox(
        ask_url=places.ask,
        draft_url=places.draft,
        draft_key=places.draft_key or f"{user.pk}:{pair.pk}:call",
        query=pair.query.head,
        example=example_of(pair.snippet.text),
        text=text or (draft.text if draft else ""),
        draft_at=draft.revision if draft else "",
        key=keys.get("call", NO_KEY),
        assert_key=keys.get("assert", NO_KEY),
        lines=tuple(call_line(request, places) for request in asked),
        problem=problem,
        side=places.side,
    )


def call_page(user: User, case: Case, text: str = "", problem: str = "") -> CallPage:
    """The page of one box."""
    return CallPage(
        box=call_box(user, case, text, problem),
        candidate=candidate_code(case.pair.snippet.text),
        place="Review",
        back_url=reverse("review-case", args=[case.pk]),
        back_word="Back to the pair",
    )


def call_line(asked: CallRequest, places: CallPlaces | None = None, now: datetime | None = None) -> CallLine:
    """One request, read with its answer; without places it leads nowhere."""
    answer = asked.answer.whole() if asked.answer else None
    late = (now or timezone.now()) - asked.created_at > NOBODY_CAME
    return CallLine(
        pk=asked.pk,
        expression=asked.expression,
        sign=answer_sign(answer) if answer else STATES[asked.state],
        open=asked.is_open,
        nobody_came=late and asked.state == CallRequest.State.WAITING,
        message=asked.message,
        called=link_call_answer(answer, places.lines if places else "c") if answer else None,
        at=asked.created_at,
        href=places.answer(asked.pk) if places else "",
        assert_url=places.assertion(asked.pk) if places and answer and answer.outcome in OF_CALLS else "",
    )


def answer_sign(answer: Answer) -> Sign:
    return OF_CALLS.get(answer.outcome) or OUTCOMES[Outcome(answer.outcome.value)]


def link_call_answer(answer: Answer, lines: str = "c") -> dict[str, Any]:
    """An answer with links to the candidate's lines, which have this prefix; no value is None."""
    missing = (f"The module {answer.missing_module} is missing.",) if answer.missing_module else ()
    frames = frame_views(answer, {"candidate": lines})
    return {
        "value": answer.value,
        "type": answer.type,
        "exception": exception_of(answer),
        "frames": [frame for frame in frames if frame.place == "candidate"],
        "outputs": list(outputs_of(answer)),
        "warnings": (*missing, *(f"Suspicious: {sign}" for sign in answer.suspicious)),
        "detail": answer.detail,
        "took": format_duration(answer.seconds),
    }


def example_of(candidate: str) -> str:
    """How to call what the candidate defines first: `f(items)`; some expression where that is not known."""
    names = candidate_names(candidate)
    if not names:
        return "1 + 1"
    functions = (node for node in parse_python_source(candidate).body if isinstance(node, FUNCTIONS))
    first = next(functions, None)
    return f"{first.name}({parameters_of(first)})"[:LONGEST_EXAMPLE] if first else names[0]


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The parameters without their types."""
    for node in ast.walk(function.args):
        if isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(function.args)
