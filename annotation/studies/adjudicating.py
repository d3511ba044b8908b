"""Where a pair's planned quorum has no strict majority somebody decides, beside the ratings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from annotation.access import blind_beside, blind_in
from annotation.models import (
    Adjudication,
    CallRequest,
    Cause,
    Condition,
    ExecutionRequest,
    Precedent,
    Quota,
    Rating,
    Study,
    StudyPair,
    TestProgram,
)
from annotation.review import crossing
from annotation.studies.auditing import Verb, record
from annotation.studies.latest import rounds_of
from annotation.studies.quorum import agreement, settled
from annotation.studies.unfilled import stuck
from retrieval.hostile import clean
from retrieval.models import Pair

MOST_NOTE: Final = 10_000
MOST_SHOWN: Final = 20
VALUES: Final = {
    Study.Scale.BINARY: (1, 0),
    Study.Scale.STEPS: (2, 1, 0),
    Study.Scale.GRADED: (3, 2, 1, 0),
    Study.Scale.PREFERENCE: (1, 0, -1),
}


class BadAdjudication(ValueError):
    """What was sent can't be a decision; the message says what to change."""


class MayNotAdjudicate(Exception):
    """The person has a part in the pair or in the study; the message says which."""


class AdjudicatedMeanwhile(Exception):
    """Somebody else has decided since the page was served; nothing was stored. `stored` is what stands."""

    def __init__(self, stored: Adjudication | None) -> None:
        super().__init__(
            "Somebody decided on this pair after this page was opened. Look at that decision first."
        )
        self.stored = stored


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
class Decision:
    """What somebody decides. `value` is on the study's scale, None where it can't be decided."""

    value: int | None
    cause: str
    note: str
    precedent: bool = False


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


def refuse(user: User, study: Study, pair: Pair | None = None) -> None:
    """Raises MayNotAdjudicate."""
    why = may_adjudicate(user, study, pair)
    if why:
        raise MayNotAdjudicate(why)


def blind_ratings(study: Study) -> QuerySet[Rating]:
    """The standing first ratings of the study's sampled pairs that count, without those of planted ones."""
    return (
        Rating.objects.current()
        .counted()
        .filter(
            phase=Rating.Phase.BLIND, assignment__study_pair__study=study, assignment__study_pair__planted=""
        )
    )


def splits(study: Study) -> list[Split]:
    """The pairs that wait for a decision and those that have one, the lowest agreement first.

    Of a pair whose raters are through, or of which no more ratings can come; where the plan asks one more
    rater of it, after that one, too.
    """
    quorums = dict(study.conditions.values_list("pk", "raters"))
    found = []
    decided, asked, given_by = decisions_of(study), one_more_asked(study), given_of(study)
    full = {(pair, cond) for (pair, _, cond), given in given_by.items() if len(given) >= quorums[cond]}
    ended = full | ended_early(
        study, [(pair, cond) for pair, _, cond in given_by if (pair, cond) not in full]
    )
    for (pair, number, condition), given in given_by.items():
        votes = tuple(given)
        said = decided.get((pair, condition))
        through = (pair, condition) in ended and (said or (pair, condition) not in asked)
        if through and votes and settled(votes, study.scale, quorums[condition]) is None:
            found.append(Split(pair, number, condition, votes, agreement(votes), said))
    return sorted(found, key=lambda one: (one.agreement, one.number, one.condition))


def ended_early(study: Study, places: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """Of these (study pair, condition), with too few ratings, those that get no more: the study is closed,
    missing ratings were given up, or nobody is left who could give one.
    """
    if not study.is_live or not places:
        return set(places)
    rows = Quota.objects.filter(study_pair__study=study, study_pair__planted="", done__gte=F("wanted"))
    over = set(rows.values_list("study_pair_id", "condition_id"))
    return (over | stuck(study)) & set(places)


def is_split(study_pair: StudyPair, condition: Condition) -> bool:
    """Whether the pair is among the study's splits."""
    found = splits(study_pair.study)
    return any(one.study_pair == study_pair.pk and one.condition == condition.pk for one in found)


def one_more_asked(study: Study) -> set[tuple[int, int]]:
    """The (study pair, condition) for which one more rating is still to come; none after the study's end."""
    if not study.is_live:
        return set()
    rows = Quota.objects.filter(condition__study=study, wanted__gt=F("condition__raters"))
    open_ones = rows.filter(done__lt=F("wanted"), study_pair__planted="")
    return set(open_ones.values_list("study_pair_id", "condition_id"))


def given_of(study: Study) -> dict[tuple[int, int, int], list[int | None]]:
    """By (study pair, its number, condition): what each rater gave in the last round. Two queries."""
    place = "assignment__study_pair", "assignment__study_pair__number", "assignment__condition"
    who = "assignment__round", "value"
    rows = blind_ratings(study).order_by("assignment__enrolment__pseudonym")
    rounds = rounds_of(study)
    found: dict[tuple[int, int, int], list[int | None]] = defaultdict(list)
    for pair, number, condition, round_, value in rows.values_list(*place, *who):
        if rounds.counts(pair, condition, round_):
            found[pair, number, condition].append(value)
    return dict(found)


def standing(rows: QuerySet[Adjudication]) -> QuerySet[Adjudication]:
    """Decisions that no later one took the place of."""
    return rows.filter(~Exists(Adjudication.objects.filter(supersedes=OuterRef("pk"))))


def decisions_of(study: Study) -> dict[tuple[int, int], Adjudication]:
    """By (study pair, condition): the decision that stands; none that was on an earlier round."""
    rows = standing(Adjudication.objects.filter(study_pair__study=study)).select_related("by")
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


def last_tests(voters: Iterable[Voter]) -> list[tuple[Voter, crossing.Test]]:
    """The last test of each rater that wrote one, with what its last run had installed."""
    found = []
    for voter in voters:
        if voter.programs:
            program = voter.programs[-1]
            runs = [run for run in voter.runs if run.program_id == program.pk]
            needed = tuple(str(name) for name in runs[-1].dependencies) if runs else ()
            found.append((voter, crossing.Test(program, needed)))
    return found


def table(study_pair: StudyPair, voters: Iterable[Voter]) -> crossing.Grid:
    """The raters' tests beside the pair's candidate."""
    beside = crossing.Candidate(study_pair.pair.snippet, accepted=False)
    return crossing.grid([test for _, test in last_tests(voters)], [beside])


def decide(
    user: User, study_pair: StudyPair, condition: Condition, said: Decision, seen: int
) -> Adjudication:
    """Store a decision, over the one with the id `seen` (0: none), which stays readable.

    Raises MayNotAdjudicate, BadAdjudication and AdjudicatedMeanwhile; then nothing is stored.
    """
    refuse(user, study_pair.study, study_pair.pair)
    note = checked(study_pair, condition, said)
    with transaction.atomic():
        last = standing(Adjudication.objects.filter(study_pair=study_pair, condition=condition)).first()
        if (last.pk if last else 0) != seen:
            raise AdjudicatedMeanwhile(last)
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
                )
        except IntegrityError as race:
            raise AdjudicatedMeanwhile(history_of(study_pair, condition)[0]) from race
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
    what = f"pair {study_pair.number} of {study_pair.study.name}"
    record(user, Verb.SPLIT_DECIDED, what, study_pair.study, detail)


def checked(study_pair: StudyPair, condition: Condition, said: Decision) -> str:
    """The note, cleaned. Raises BadAdjudication."""
    study, note = study_pair.study, clean(said.note).replace("\r\n", "\n").strip()
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
        why=made.note,
        tags=sorted({str(tag) for voter in voters for tag in voter.rating.tags}),
        adjudication=made,
        created_by=user,
    )


def code_of(study_pair: StudyPair) -> str:
    """The snippet; both of a comparison, as what was decided names them the first and the second."""
    first, other = study_pair.pair.snippet.text, study_pair.other
    if other is None:
        return first
    return f"# The first snippet:\n{first}\n\n\n# The second snippet:\n{other.snippet.text}"
