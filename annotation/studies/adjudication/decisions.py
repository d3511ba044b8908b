"""Where a pair's planned quorum has no strict majority somebody decides, beside the ratings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotation.accounts.roles import blind_beside, blind_in
from annotation.draft_rules import StoredMeanwhile
from annotation.models import (
    Adjudication,
    CallRequest,
    Cause,
    Condition,
    ExecutionRequest,
    Precedent,
    Rating,
    Study,
    StudyPair,
    TestProgram,
)
from annotation.review.marked_lines import BadLines, MarkedLines, read_marked_lines
from annotation.review.own_runs import cross_tests
from annotation.studies.adjudication.latest_round import rounds_of
from annotation.studies.adjudication.quorum import VALUES, vote_agreement
from annotation.studies.adjudication.unsettled_pairs import (
    Place,
    blind_ratings,
    count_unsettled_ratings,
    ended_early,
    one_more_asked,
)
from annotation.studies.audit_log import Verb, append_audit_event
from annotation.studies.plan.form_checks import NOT_OF_TWO
from retrieval.models import Pair
from retrieval.texts.hostile import mark_hostile_characters

MOST_NOTE: Final = 10_000
MOST_SHOWN: Final = 20
CHUNK: Final = 5_000
"""Pairs a query."""


class BadAdjudication(ValueError):
    """What was sent can't be a decision; the message says what to change."""


class MayNotAdjudicate(PermissionDenied):
    """The person has a part in the pair or in the study; the message says which."""


class AdjudicatedMeanwhile(StoredMeanwhile[Adjudication, None]):
    """Somebody else has decided since the page was served; nothing was stored."""

    words = "Somebody decided on this pair after this page was opened. Look at that decision first."


@dataclass(frozen=True, slots=True)
class Split:
    """A pair without a value by strict majority. `agreement`: the share of pairs of raters that agree."""

    study_pair: int
    number: int
    condition: int
    votes: tuple[int | None, ...]
    agreement: float
    decision: Adjudication | None = None


@dataclass(frozen=True, slots=True)
class Voter:
    """One rater's evidence of the pair's last round, under the pseudonym."""

    pseudonym: str
    rating: Rating
    programs: tuple[TestProgram, ...]
    calls: tuple[CallRequest, ...]
    runs: tuple[ExecutionRequest, ...]


@dataclass(frozen=True, slots=True)
class AdjudicationDecision:
    """What somebody decides. `value` is on the study's scale, None where it can't be decided.

    `lines`: those of the function that are the reason, such as `4-7`; empty for none.
    """

    value: int | None
    cause: str
    note: str
    precedent: bool = False
    lines: str = ""


def may_adjudicate(user: User, study: Study, pair: Pair | None = None) -> str:
    """Why the person may not decide in the study, or on the pair; empty where they may."""
    if study.pk in blind_in(user):
        return (
            f"You still rate in “{study}”: what others said of its pairs is closed to you until you are done."
        )
    other = blind_beside(user, study) if blind_in(user) else None
    if other is not None:
        return f"You still rate pairs of this study in “{other}”: it opens to you when you are done there."
    rated = Rating.objects.filter(assignment__rater=user, assignment__study_pair__pair=pair)
    if pair is not None and rated.exists():
        return "You rated this pair yourself, so somebody else decides on it."
    return ""


def refuse_adjudication(user: User, study: Study, pair: Pair | None = None) -> None:
    """Raises MayNotAdjudicate."""
    why = may_adjudicate(user, study, pair)
    if why:
        raise MayNotAdjudicate(why)


def load_split_pairs(study: Study, study_pair: StudyPair | None = None) -> list[Split]:
    """The pairs that wait for a decision and those that have one, the lowest agreement first; of one pair, if
    it is given.
    """
    found = find_split_places(study, study_pair)
    given_by = given_of(study, sorted({pair for pair, _ in found}))
    made = [
        Split(pair, number, condition, tuple(votes), vote_agreement(votes), found[pair, condition])
        for (pair, number, condition), votes in given_by.items()
        if (pair, condition) in found
    ]
    return sorted(made, key=lambda split: (split.agreement, split.number, split.condition))


def find_split_places(study: Study, study_pair: StudyPair | None = None) -> dict[Place, Adjudication | None]:
    """Where there is something to decide, and the decision that stands. Votes are counted, not read.

    Of a pair whose raters are through, or of which no more ratings can come; where the plan asks one more
    rater of it, after that one, too.
    """
    rated = count_unsettled_ratings(study, study_pair)
    if not rated:
        return {}
    quorums = dict(study.conditions.values_list("pk", "raters"))
    full = {place for place, ratings in rated.items() if ratings >= quorums[place[1]]}
    ended = full | ended_early(study, [place for place in rated if place not in full])
    decided, asked = decisions_of(study), one_more_asked(study)
    return {place: decided.get(place) for place in ended if place in decided or place not in asked}


def is_split(study_pair: StudyPair, condition: Condition) -> bool:
    """Whether the pair is among the study's splits."""
    return (study_pair.pk, condition.pk) in find_split_places(study_pair.study, study_pair)


def given_of(
    study: Study, pairs: Sequence[int] | None = None
) -> dict[tuple[int, int, int], list[int | None]]:
    """By (study pair, its number, condition): what each rater gave in the last round; of these study pairs
    (ids), or of all.
    """
    place = "assignment__study_pair", "assignment__study_pair__number", "assignment__condition"
    who = "assignment__round", "value"
    rounds = rounds_of(study)
    found: dict[tuple[int, int, int], list[int | None]] = defaultdict(list)
    for rows in batch_rating_rows(blind_ratings(study), pairs):
        ordered = rows.order_by("assignment__enrolment__pseudonym")
        for pair, number, condition, round_, value in ordered.values_list(*place, *who):
            if rounds.counts(pair, condition, round_):
                found[pair, number, condition].append(value)
    return dict(found)


def batch_rating_rows(rows: QuerySet[Rating], pairs: Sequence[int] | None) -> Iterator[QuerySet[Rating]]:
    """The rows of these study pairs, some at a time: databases take only so many parameters."""
    if pairs is None:
        yield rows
    for start in range(0, len(pairs or ()), CHUNK):
        yield rows.filter(assignment__study_pair__in=(pairs or ())[start : start + CHUNK])


def filter_standing_decisions(rows: QuerySet[Adjudication]) -> QuerySet[Adjudication]:
    """Decisions that no later one took the place of."""
    return rows.filter(~Exists(Adjudication.objects.filter(supersedes=OuterRef("pk"))))


def decisions_of(study: Study) -> dict[tuple[int, int], Adjudication]:
    """By (study pair, condition): the decision that stands; none that was on an earlier round."""
    rows = filter_standing_decisions(Adjudication.objects.filter(study_pair__study=study)).select_related(
        "by"
    )
    rounds = rounds_of(study)
    return {
        (row.study_pair_id, row.condition_id): row
        for row in rows
        if not rounds.is_outdated(row.study_pair_id, row.condition_id, row.at)
    }


def history_of(study_pair: StudyPair, condition: Condition) -> list[Adjudication]:
    """Every decision on the pair, the newest first."""
    rows = Adjudication.objects.filter(study_pair=study_pair, condition=condition)
    return list(rows.select_related("by", "precedent").order_by("-id"))


def voters_of(study_pair: StudyPair, condition: Condition) -> list[Voter]:
    """What each rater said, called and tested in the last round, in the order of their pseudonyms.

    Raters whom an amendment excludes are left out.
    """
    rows = blind_ratings(study_pair.study).filter(
        assignment__study_pair=study_pair, assignment__condition=condition
    )
    rounds, place = rounds_of(study_pair.study), (study_pair.pk, condition.pk)
    found = [
        row
        for row in rows.select_related("assignment__enrolment")
        if rounds.counts(*place, row.assignment.round)
    ]
    programs = made_for(TestProgram.objects.select_related("source", "pair__snippet__body", "author"), found)
    calls = made_for(CallRequest.objects.select_related("answer"), found)
    runs = made_for(ExecutionRequest.objects.select_related("execution", "program"), found)
    voters = [
        Voter(
            row.assignment.enrolment.pseudonym,
            row,
            tuple(programs[row.assignment_id]),
            tuple(calls[row.assignment_id]),
            tuple(runs[row.assignment_id]),
        )
        for row in found
    ]
    return sorted(voters, key=lambda voter: voter.pseudonym)


def made_for(rows: QuerySet, ratings: Iterable[Rating]) -> dict[int, list]:  # type: ignore[type-arg]
    """By assignment: what was made for it, the oldest first, the last MOST_SHOWN of each."""
    by_assignment: dict[int, list] = defaultdict(list)  # type: ignore[type-arg]
    for row in rows.filter(assignment__in=[rating.assignment_id for rating in ratings]).order_by("id"):
        by_assignment[row.assignment_id].append(row)
    return defaultdict(list, {pk: found[-MOST_SHOWN:] for pk, found in by_assignment.items()})


def last_tests(voters: Iterable[Voter]) -> list[tuple[Voter, cross_tests.Test]]:
    """The last test of each rater that wrote one, with what its last run had installed."""
    found = []
    for voter in voters:
        if voter.programs:
            program = voter.programs[-1]
            runs = [run for run in voter.runs if run.program_id == program.pk]
            needed = tuple(str(name) for name in runs[-1].dependencies) if runs else ()
            found.append((voter, cross_tests.Test(program, needed)))
    return found


def build_adjudication_grid(study_pair: StudyPair, voters: Iterable[Voter]) -> cross_tests.Grid:
    """The raters' tests beside the pair's candidate."""
    beside = cross_tests.Candidate(study_pair.pair.snippet, accepted=False)
    return cross_tests.build_crossing_grid([test for _, test in last_tests(voters)], [beside])


def store_decision(
    user: User, study_pair: StudyPair, condition: Condition, said: AdjudicationDecision, seen: int
) -> Adjudication:
    """Store a decision, over the one with the id `seen` (0: none), which stays readable.

    Raises MayNotAdjudicate, BadAdjudication and AdjudicatedMeanwhile; then nothing is stored.
    """
    refuse_adjudication(user, study_pair.study, study_pair.pair)
    note = clean_decision_note(study_pair, condition, said)
    marked = find_decision_lines(study_pair, said.lines)
    with transaction.atomic():
        last = filter_standing_decisions(
            Adjudication.objects.filter(study_pair=study_pair, condition=condition)
        ).first()
        if (last.pk if last else 0) != seen:
            raise AdjudicatedMeanwhile(last, None)
        try:
            with transaction.atomic():
                made = Adjudication.objects.create(
                    study_pair=study_pair,
                    condition=condition,
                    value=said.value,
                    cause=said.cause,
                    note=note,
                    supersedes=last,
                    by=user,
                    **(marked.columns if marked else {}),
                )
        except IntegrityError as race:
            raise AdjudicatedMeanwhile(history_of(study_pair, condition)[0], None) from race
        if said.precedent:
            keep_precedent(user, made)
        note_decision(user, made, last)
    return made


def note_decision(user: User, made: Adjudication, before: Adjudication | None) -> None:
    """Into the audit log, with what stood before."""
    study_pair = made.study_pair
    detail: dict[str, object] = {"pair": study_pair.number, "condition": made.condition.get_kind_display()}
    for name, row in (("before", before), ("after", made)):
        if row is not None:
            detail |= {f"value_{name}": row.value, f"cause_{name}": row.cause, f"note_{name}": row.note}
            detail |= {f"lines_{name}": row.marked_lines} if row.marked_lines else {}
    what = f"pair {study_pair.number} of {study_pair.study.name}"
    append_audit_event(user, Verb.SPLIT_DECIDED, what, study_pair.study, detail)


def clean_decision_note(study_pair: StudyPair, condition: Condition, said: AdjudicationDecision) -> str:
    """The note, cleaned. Raises BadAdjudication."""
    study, note = study_pair.study, mark_hostile_characters(said.note).replace("\r\n", "\n").strip()
    if condition.study_id != study.pk or study.kind == Study.Kind.IMPORTED:
        raise BadAdjudication("This pair is not rated under that condition.")
    if said.value is not None and said.value not in VALUES[Study.Scale(study.scale)]:
        raise BadAdjudication(f"Choose a value of the study's scale, or none, not {said.value!r}.")
    if said.cause not in Cause.values:
        raise BadAdjudication(f"Choose why raters split: {', '.join(Cause.values)}.")
    if not note:
        raise BadAdjudication("Say in a note why this is so: others will hold their labels against it.")
    if len(note) > MOST_NOTE:
        raise BadAdjudication(f"A note has at most {MOST_NOTE:,} characters; this one has {len(note):,}.")
    if said.precedent and study.guideline is None:
        raise BadAdjudication("The study has no guidelines that a precedent could belong to.")
    if not is_split(study_pair, condition):
        raise BadAdjudication(
            "The raters of this pair have a strict majority, or are not all through with it."
        )
    return note


def find_decision_lines(study_pair: StudyPair, written: str) -> MarkedLines | None:
    """The lines of the function that are the reason. Raises BadAdjudication."""
    if written.strip() and study_pair.other_id is not None:
        raise BadAdjudication(NOT_OF_TWO)
    try:
        return read_marked_lines(written, study_pair.pair.snippet)
    except BadLines as why:
        raise BadAdjudication(str(why)) from why


def keep_precedent(user: User, made: Adjudication) -> Precedent:
    """The decision as one that later cases can be held against."""
    pair, guideline = made.study_pair.pair, made.study_pair.study.guideline
    assert guideline is not None, "it was checked"
    voters = voters_of(made.study_pair, made.condition)
    return Precedent.objects.create(
        guideline_name=guideline.name,
        query=pair.query.text,
        code=code_of(made.study_pair),
        value=made.value,
        reason=made.note,
        tags=sorted({str(tag) for voter in voters for tag in voter.rating.tags}),
        adjudication=made,
        created_by=user,
    )


def code_of(study_pair: StudyPair) -> str:
    """The function; both of a comparison, as what was decided names them the first and the second."""
    first, other = study_pair.pair.snippet.text, study_pair.other
    if other is None:
        return first
    return f"# The first function:\n{first}\n\n\n# The second function:\n{other.snippet.text}"
