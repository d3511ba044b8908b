"""A rater's own part of a study: get the next pair, say what it is, take it back. Nobody else's is here."""

from __future__ import annotations

from typing import Annotated

from django.http import Http404, HttpRequest, HttpResponse
from ninja import Path, Query, Router, Status

from annotation import draft_rules
from annotation.accounts.roles import Role
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.models import Assignment, Enrolment, Rating
from annotation.schemas.rating.rating import (
    AssignmentOut,
    DraftIn,
    HeldOut,
    HoldIn,
    JoinIn,
    NextOut,
    PartOut,
    RatingIn,
    RatingOut,
    SideOut,
    SkipIn,
)
from annotation.studies.enrolment import queue, rater_studies
from annotation.studies.enrolment.rater_studies import Profile
from annotation.studies.plan import form_checks
from annotation.studies.plan.form_checks import RaterStatement
from annotation.studies.rating import drafts, ratings, shown_pair, undo
from annotation.studies.rating.runs import ids_of
from retrieval.schemas import LARGEST_ID, Id, Page, Paging

router = Router(tags=["rating"], auth=signed_in(Role.EXPERT))


@router.get("", response=Page[PartOut])
def list_parts(request: HttpRequest, wanted: Query[Paging]) -> Page[PartOut]:
    """The studies in which you rate or have rated, the newest first, with what each still wants of you."""
    rows = rater_studies.enrolments_of(visible.caller(request))
    page = wanted.page(rows.filter(study__lt=wanted.after or LARGEST_ID), lambda row: row.study_id)
    return Page(items=[part_out(enrolment) for enrolment in page.items], next=page.next)


@router.get("/{int:study}", response=PartOut)
def get_part(request: HttpRequest, study: Path[Id]) -> PartOut:
    """Your part in a study: its information and guidelines, and how far you are. For its raters."""
    return part_out(enrolment_of(request, study))


@router.post("/{int:study}/join", response=PartOut)
def join_study(request: HttpRequest, study: Path[Id], said: JoinIn) -> PartOut:
    """Say that you have read the information and the guidelines, and take part. For its raters.

    Sending it again changes the profile. A study without either needs no joining.
    """
    enrolment = enrolment_of(request, study)
    chosen = None if said.code_languages is None else tuple(said.code_languages)
    profile = Profile(said.years, said.occupation, said.languages, chosen)
    rater_studies.join_study(enrolment, profile, said.guideline)
    return part_out(enrolment)


@router.post("/{int:study}/next", response=NextOut)
def next_pair(request: HttpRequest, study: Path[Id]) -> NextOut:
    """The pair that is open for you, else another one, reserved for half an hour. For its raters."""
    enrolment = enrolment_of(request, study)
    rater_studies.join_without_information(enrolment)
    found = queue.next_assignment(enrolment)
    if found is None:
        enrolment.refresh_from_db(fields=["finished_at"])
        return NextOut(assignment=None, finished=enrolment.finished_at is not None)
    return NextOut(assignment=detail(request, study, found.study_pair.number), finished=False)


@router.get("/{int:study}/pairs/{int:number}", response=AssignmentOut)
def get_pair(request: HttpRequest, study: Path[Id], number: Path[Id]) -> AssignmentOut:
    """A pair that was handed to you, with its texts and your drafts. For its raters."""
    return detail(request, study, number)


@router.post("/{int:study}/pairs/{int:number}/ratings", response={201: RatingOut})
def post_rating(request: HttpRequest, study: Path[Id], number: Path[Id], said: RatingIn) -> Status[RatingOut]:
    """Say what the pair is; sending the same again stores nothing twice. For its raters.

    409 where it was changed elsewhere, where the place is taken, or where the page shows more than this.
    """
    found = assignment_of(request, study, number)
    refuse_unseen(found)
    given = ratings.submit_rating(found, said.token, said_of(found, said), said.seen_revision)
    return Status(201, rating_out(given))


@router.post("/{int:study}/pairs/{int:number}/skip", response=AssignmentOut)
def skip_pair(request: HttpRequest, study: Path[Id], number: Path[Id], said: SkipIn) -> AssignmentOut:
    """Give the pair back, with a reason; you won't get it again. For its raters."""
    queue.skip_assignment(assignment_of(request, study, number), said.token, said.reason)
    return detail(request, study, number)


@router.post("/{int:study}/pairs/{int:number}/hold", response=HeldOut)
def hold_pair(request: HttpRequest, study: Path[Id], number: Path[Id], said: HoldIn) -> HeldOut:
    """Hold the pair for another half an hour. For its raters."""
    return HeldOut(reserved_until=queue.record_heartbeat(assignment_of(request, study, number), said.token))


@router.post("/{int:study}/pairs/{int:number}/draft", response={204: None})
def keep_draft(
    request: HttpRequest, response: HttpResponse, study: Path[Id], number: Path[Id], said: DraftIn
) -> Status[None]:
    """Keep what is being typed; the header Draft-Revision tells its revision. For its raters."""
    window = None if said.seen is None else draft_rules.Window(revisions={said.field: said.seen})
    found = assignment_of(request, study, number)
    response["Draft-Revision"] = drafts.save_draft(found, said.field, said.text, window)
    return Status(204, None)


@router.post("/{int:study}/undo", response=AssignmentOut)
def undo_rating(
    request: HttpRequest, study: Path[Id], undoes: Annotated[str | None, Query(max_length=60)] = None
) -> AssignmentOut:
    """Take your last decision in the study back, of the last 20, or the one that `undoes` names.

    Names are in the list of your ratings; 409 where that one does not stand any more. For its raters.
    """
    found = undo.undo_decision(enrolment_of(request, study), undoes)
    return detail(request, study, found.study_pair.number)


@router.post("/{int:study}/leave", response=NextOut)
def leave_study(request: HttpRequest, study: Path[Id]) -> NextOut:
    """End your part early: what is open is given back, what you said stays. For its raters."""
    queue.leave_study(enrolment_of(request, study))
    return NextOut(assignment=None, finished=True)


@router.get("/{int:study}/ratings", response=list[RatingOut])
def get_recent_ratings(request: HttpRequest, study: Path[Id]) -> list[RatingOut]:
    """Your last ten ratings as they stand, the newest first. For its raters."""
    return [rating_out(row) for row in ratings.find_recent_ratings(enrolment_of(request, study))]


def enrolment_of(request: HttpRequest, study: int) -> Enrolment:
    """The caller's. Raises Http404 where the caller is none of the study's raters."""
    if found := rater_studies.find_enrolment(visible.caller(request), study):
        return found
    raise Http404


def part_out(enrolment: Enrolment) -> PartOut:
    study, work = enrolment.study, rater_studies.work_of(enrolment)
    guideline = study.guideline
    return PartOut.of(
        study,
        study=study.pk,
        guideline=study.guideline_id,
        guideline_text=guideline.text if guideline else "",
        code_languages=list(rater_studies.list_code_languages(study)),
        chosen_code_languages=enrolment.code_languages,
        wanted=[wanted.value for wanted in rater_studies.find_pending_requirements(enrolment)],
        done=work.done,
        left=work.left,
        finished=enrolment.finished_at is not None,
    )


def assignment_of(request: HttpRequest, study: int, number: int) -> Assignment:
    """Raises Http404."""
    try:
        return queue.open_assignment(visible.caller(request), study, number)
    except Assignment.DoesNotExist as missing:
        raise Http404 from missing


def refuse_unseen(found: Assignment) -> None:
    """A label that rests on what the agents did is given on the page, which shows it. Raises QueueClosed."""
    if shown_pair.shows_test(found) or shown_pair.shows_everything(found):
        raise queue.QueueClosed("This label rests on what the agents did: give it on the pair's page.")


def said_of(found: Assignment, said: RatingIn) -> RaterStatement:
    calls, runs = ids_of(found)
    value, same = (
        form_checks.value_of(found, said.choice),
        {"reason", "notes", "reading", "no_test", "seconds", "evidence"},
    )
    return RaterStatement(
        value,
        tags=tuple(said.tags),
        calls=calls,
        runs=runs,
        marked_lines=said.lines,
        **said.dict(include=same),
    )


def detail(request: HttpRequest, study: int, number: int) -> AssignmentOut:
    found = shown_pair.assignment_of(visible.caller(request), study, number)
    if found is None:
        raise Http404
    phase, kept = shown_pair.phase_of(found), drafts.by_field(found)
    return AssignmentOut.of(
        found,
        phase=phase.value,
        seen_revision=ratings.revision_seen(ratings.last_of(found, phase)),
        evidence=shown_pair.evidence_hash(found),
        choices=list(form_checks.words_of(found.enrolment.study)),
        sides=[
            SideOut(
                name=side.name,
                code=side.text.code,
                docstrings=list(side.docstrings),
                numbers=list(side.text.numbers),
                origin=side.origin,
            )
            for side in shown_pair.sides_of(found)
        ],
        drafts={field: draft.text for field, draft in kept.items()},
        draft_revisions={field: draft.revision for field, draft in kept.items()},
    )


def rating_out(row: Rating) -> RatingOut:
    key = undo.format_decision_key(row.assignment_id, row.phase, row.revision)
    return RatingOut.of(row, choice=form_checks.word_of(row.assignment, row.value), undoes=key)
