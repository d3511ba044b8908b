"""What one rater sees of one pair: the texts of the study, and of the agents only what the condition shows.

A blind page is made from the pair's texts and the study's tables. `StudyPair.case` is followed in one
function, `case_shown`, and only where the condition, and the state of the rater's own work, say so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import attrgetter

from django.contrib.auth.models import User
from django.db.models import QuerySet

from annotation.models import Assignment, Case, Condition, Rating, Study
from annotation.studies.rating.docstrings import Split, keep_docstrings, split_docstrings
from retrieval.collections.origins import find_origin_link
from retrieval.models import Pair
from retrieval.models.prepared_query import PreparedQuery

RELATED = (
    "enrolment__study__guideline",
    "condition",
    "study_pair__pair__query__body",
    "study_pair__pair__snippet__body",
    "study_pair__other__snippet__body",
)
"""What a page of an assignment reads: nothing of a case."""
REVEALED = frozenset({Assignment.State.LOCKED, Assignment.State.DONE, Assignment.State.LEFT_OUT})


@dataclass(frozen=True, slots=True)
class SnippetSide:
    """One snippet as the rater reads it. `name` is empty, or left or right; `value` says that it is better.

    `hidden` counts the docstrings that are not shown, `docstrings` are those that can be unfolded.
    `origin` is a link to where the snippet comes from; empty where the plan shows none.
    """

    name: str
    pair: Pair
    value: int
    text: Split
    docstrings: tuple[str, ...] = ()
    hidden: int = 0
    origin: str = ""


def assignments_of(user: User | int, study: int) -> QuerySet[Assignment]:
    """What was handed to a person (or an id) in a study (its id), ready to be shown."""
    own = Assignment.objects.filter(rater=user, enrolment__study=study)
    return own.exclude(enrolment__study__state=Study.State.DRAFT).select_related(*RELATED)


HANDED: PreparedQuery[Assignment] = PreparedQuery(
    lambda user, study, number: (
        assignments_of(user, study).filter(study_pair__number=number).select_related("rater").order_by()
    ),
    *(int, int, int),
)


def assignment_of(user: User, study: int, number: int) -> Assignment | None:
    """What was handed to the person for the pair of this number; of a pair asked again the last round."""
    return max(HANDED.load(user.pk, study, number), key=attrgetter("round"), default=None)


def sides_of(assignment: Assignment) -> tuple[SnippetSide, ...]:
    """The snippet, or two of them, in the order of this rater."""
    study, found = assignment.enrolment.study, assignment.study_pair
    if found.other is None:
        return (with_origin(side_of(found.pair, study.docstring, "", 1), study),)
    pairs = [(found.pair, 1), (found.other, -1)]
    ordered = reversed(pairs) if assignment.swapped else pairs
    names = ("left", "right")
    return tuple(
        with_origin(side_of(pair, study.docstring, name, value), study)
        for name, (pair, value) in zip(names, ordered, strict=True)
    )


def with_origin(side: SnippetSide, study: Study) -> SnippetSide:
    """The side with its link, where the plan shows links."""
    return replace(side, origin=find_origin_link(side.pair.snippet)) if study.shows_origin else side


def side_of(pair: Pair, docstring: str, name: str, value: int) -> SnippetSide:
    """A snippet with its docstrings shown, folded or hidden."""
    whole = pair.snippet.text
    if docstring == Study.Docstring.SHOWN:
        return SnippetSide(name, pair, value, keep_docstrings(whole))
    text = split_docstrings(whole)
    if docstring == Study.Docstring.FOLDED:
        return SnippetSide(name, pair, value, text, docstrings=text.docstrings)
    return SnippetSide(name, pair, value, Split(text.code, text.numbers, ()), hidden=len(text.docstrings))


def beside_a_fault(side: SnippetSide, docstring: str, text: str) -> SnippetSide:
    """The side with a fault put into its snippet; docstrings that are not shown of that stay out of sight."""
    if docstring == Study.Docstring.SHOWN:
        return replace(side, text=keep_docstrings(text))
    made = split_docstrings(text)
    return replace(side, text=Split(made.code, made.numbers, ()))


def side_called(assignment: Assignment, name: str) -> SnippetSide:
    """The side that a form names, else the first."""
    sides = sides_of(assignment)
    return next((side for side in sides if side.name == name), sides[0])


def shows_test(assignment: Assignment) -> bool:
    """Whether the agents' test and its run are on the page."""
    return assignment.condition.kind == Condition.Kind.AGENTS_TESTS


def shows_everything(assignment: Assignment) -> bool:
    """Whether the blind label is locked and all that the agents did is on the page."""
    return assignment.condition.kind == Condition.Kind.REVEAL and assignment.state in REVEALED


def case_shown(assignment: Assignment) -> Case | None:
    """The case of which the page shows something; None on every blind page, without looking."""
    if not (shows_test(assignment) or shows_everything(assignment)):
        return None
    cases = Case.objects.select_related(
        "pair__query__body",
        "pair__snippet__body",
        "build__rerun",
        "build__tally",
        "annotator",
        "program__source",
        "execution__report",
    )
    return cases.filter(study_pairs=assignment.study_pair_id).first()


def phase_of(assignment: Assignment) -> Rating.Phase:
    """The phase that a label given now belongs to."""
    if not assignment.condition.has_second_phase or assignment.state not in REVEALED:
        return Rating.Phase.BLIND
    revealed = assignment.condition.kind == Condition.Kind.REVEAL
    return Rating.Phase.REVISED if revealed else Rating.Phase.SECOND_LOOK


def evidence_hash(assignment: Assignment, agents: Iterable[object] = ()) -> str:
    """sha256 (hex) of what is on screen; `agents` stands for what the page shows of theirs."""
    study, sides = assignment.enrolment.study, sides_of(assignment)
    rests_on = {
        "query": assignment.study_pair.pair.query.text,
        "sides": [[side.text.code, side.docstrings] for side in sides],
        **({"origins": [side.origin for side in sides]} if study.shows_origin else {}),
        "docstring": study.docstring,
        "condition": assignment.condition.kind,
        "phase": phase_of(assignment),
        "guideline": study.guideline_id,
        "agents": list(agents),
    }
    return hashlib.sha256(json.dumps(rests_on, sort_keys=True).encode()).hexdigest()
