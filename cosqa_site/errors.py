"""Every error that the API answers with, in one place: its status and its body.

The body is `application/problem+json` (RFC 9457): `type` names the error for programs, `title` and `detail`
are for people. What is not listed is a fault of ours: it rises, is logged, and is answered with 500.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from http import HTTPStatus
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views import defaults
from ninja import NinjaAPI, Schema
from ninja.errors import HttpError, ValidationError

from annotation import draft_rules
from annotation.accounts import account_changes
from annotation.accounts.roles import KeptBlind, refuse_while_blind
from annotation.api.derived.missing_functions import decision_out
from annotation.api.rating.rating import rating_out
from annotation.api.shared.form_refusals import InvalidValues
from annotation.api.shared.names import NoSuchName
from annotation.builds.control.connection_test import TestRefused
from annotation.builds.control.pause_resume import ControlRefused
from annotation.builds.control.spending_caps import CapRefused
from annotation.builds.launch.order import LaunchRefused
from annotation.builds.limits import full_disk
from annotation.builds.results.publication import PublishRefused
from annotation.derived.missing_functions.function_decisions import BadDecision, DecidedMeanwhile
from annotation.models import LostRace
from annotation.pins import NothingToPin
from annotation.review import BadReview, Conflict, NothingToUndo, OverrideNeedsReason
from annotation.review.comments import AlreadyAnswered, BadComment
from annotation.review.earlier_revisions import NoReviewToRestore
from annotation.review.evidence_hash import EvidenceChanged
from annotation.review.own_runs.own_tests import BadTest, TooFast, TooManyWaiting
from annotation.review.own_runs.strength import NothingToChange
from annotation.review.worklists import list_changes
from annotation.schemas.review.reviews import ReviewOut
from annotation.schemas.studies.adjudication import DecisionOut
from annotation.stages import IllegalMove
from annotation.studies.adjudication.decisions import AdjudicatedMeanwhile, BadAdjudication, MayNotAdjudicate
from annotation.studies.enrolment.queue import BadSkip, Lapsed, QueueClosed
from annotation.studies.enrolment.rater_studies import BadProfile, GuidelineChanged
from annotation.studies.plan.form_checks import BadRating
from annotation.studies.plan.guidelines import BadGuideline
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.rating import earlier_revisions, ratings, undo
from annotation.studies.rating.runs import NotNow
from annotation.studies.report.agreement_report import NoReport
from annotation.studies.report.figures import NoFigures
from annotation.studies.sampling.sample_order import SampleRefused
from annotation.web.benchmarks.score_jobs import NotOrdered
from annotation.web.webhooks.control import WebhookRefused
from retrieval.evaluation.holes import NoHoles
from retrieval.evaluation.robustness.version_comparison import NotOneVersion
from sandbox.expression_call import BadExpression

CONTENT_TYPE: Final = "application/problem+json"
NO_ROOM: Final = (
    "The disk of the server is full, so this could not be stored. Ask your admin to make room, "
    "then send it again."
)
RETRY_SECONDS: Final = 60

STATUSES: Final[Mapping[type[Exception], HTTPStatus]] = {
    AdjudicatedMeanwhile: HTTPStatus.CONFLICT,
    AlreadyAnswered: HTTPStatus.CONFLICT,
    BadAdjudication: HTTPStatus.UNPROCESSABLE_ENTITY,
    account_changes.AccountChangeRefused: HTTPStatus.CONFLICT,
    BadComment: HTTPStatus.UNPROCESSABLE_ENTITY,
    BadDecision: HTTPStatus.UNPROCESSABLE_ENTITY,
    BadExpression: HTTPStatus.UNPROCESSABLE_ENTITY,
    BadGuideline: HTTPStatus.UNPROCESSABLE_ENTITY,
    BadProfile: HTTPStatus.UNPROCESSABLE_ENTITY,
    BadReview: HTTPStatus.UNPROCESSABLE_ENTITY,
    BadSkip: HTTPStatus.UNPROCESSABLE_ENTITY,
    BadTest: HTTPStatus.UNPROCESSABLE_ENTITY,
    CapRefused: HTTPStatus.CONFLICT,
    Conflict: HTTPStatus.CONFLICT,
    ControlRefused: HTTPStatus.CONFLICT,
    DecidedMeanwhile: HTTPStatus.CONFLICT,
    draft_rules.DraftChanged: HTTPStatus.CONFLICT,
    draft_rules.DraftRefused: HTTPStatus.UNPROCESSABLE_ENTITY,
    earlier_revisions.NothingToRestore: HTTPStatus.CONFLICT,
    EvidenceChanged: HTTPStatus.CONFLICT,
    GuidelineChanged: HTTPStatus.CONFLICT,
    IllegalMove: HTTPStatus.CONFLICT,
    KeptBlind: HTTPStatus.FORBIDDEN,
    Lapsed: HTTPStatus.CONFLICT,
    LaunchRefused: HTTPStatus.UNPROCESSABLE_ENTITY,
    list_changes.ListChangeRefused: HTTPStatus.CONFLICT,
    LostRace: HTTPStatus.CONFLICT,
    MayNotAdjudicate: HTTPStatus.FORBIDDEN,
    NoFigures: HTTPStatus.CONFLICT,
    NoHoles: HTTPStatus.CONFLICT,
    NoReport: HTTPStatus.CONFLICT,
    NoSuchName: HTTPStatus.UNPROCESSABLE_ENTITY,
    NotOneVersion: HTTPStatus.UNPROCESSABLE_ENTITY,
    NothingToChange: HTTPStatus.CONFLICT,
    NothingToPin: HTTPStatus.CONFLICT,
    NoReviewToRestore: HTTPStatus.CONFLICT,
    NotNow: HTTPStatus.CONFLICT,
    NotOrdered: HTTPStatus.CONFLICT,
    NothingToUndo: HTTPStatus.CONFLICT,
    OverrideNeedsReason: HTTPStatus.UNPROCESSABLE_ENTITY,
    PermissionDenied: HTTPStatus.FORBIDDEN,
    PublishRefused: HTTPStatus.CONFLICT,
    QueueClosed: HTTPStatus.CONFLICT,
    BadRating: HTTPStatus.UNPROCESSABLE_ENTITY,
    ratings.RatedMeanwhile: HTTPStatus.CONFLICT,
    undo.NothingToTakeBack: HTTPStatus.CONFLICT,
    SampleRefused: HTTPStatus.UNPROCESSABLE_ENTITY,
    StudyRefused: HTTPStatus.CONFLICT,
    TestRefused: HTTPStatus.CONFLICT,
    TooManyWaiting: HTTPStatus.TOO_MANY_REQUESTS,
    WebhookRefused: HTTPStatus.CONFLICT,
    Http404: HTTPStatus.NOT_FOUND,
}


def register_error_handlers(api: NinjaAPI) -> None:
    """Make `api` answer with problems."""
    for error in STATUSES:
        api.add_exception_handler(error, domain_problem)
    api.add_exception_handler(HttpError, http_problem)
    api.add_exception_handler(InvalidValues, invalid_values)
    api.add_exception_handler(ValidationError, validation_problem)


def make_problem_response(status: HTTPStatus, kind: str, detail: str, **more: Any) -> HttpResponse:
    """One problem as a response; `more` are further members of the body."""
    body = {"type": f"urn:cosqa:{kind}", "title": status.phrase, "status": status.value, "detail": detail}
    response = HttpResponse(json.dumps(body | more), status=status.value, content_type=CONTENT_TYPE)
    if status is HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = "Bearer"
    return response


def domain_problem(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
    """A refusal by the domain or by Django, in its own words."""
    if isinstance(error, Http404) and (blind := kept_blind(request)):
        error = blind
    listed = next(kind for kind in type(error).__mro__ if kind in STATUSES)
    detail = "There is nothing here that you may see." if listed is Http404 else str(error)
    response = make_problem_response(STATUSES[listed], error_slug(listed), detail, **stored_of(error))
    if isinstance(error, TooFast):
        response["Retry-After"] = str(error.retry_after)
    return response


def kept_blind(request: HttpRequest) -> KeptBlind | None:
    """Who rates in a study is told so instead of "not found", whether or not there is anything."""
    try:
        refuse_while_blind(getattr(request, "user", None) or AnonymousUser())
    except KeptBlind as blind:
        return blind
    return None


def stored_of(error: object) -> dict[str, Any]:
    """What stands now, where somebody was faster: so that the caller can show both."""
    if isinstance(error, DecidedMeanwhile):
        return {"stored": serialize_stored(decision_out, error.stored), "yours": asdict(error.mine)}
    if isinstance(error, ratings.RatedMeanwhile):
        return {"stored": serialize_stored(rating_out, error.stored)}
    if isinstance(error, draft_rules.DraftChanged):
        return {"stored": {"text": error.stored.text, "revision": error.stored.revision}}
    if isinstance(error, AdjudicatedMeanwhile):
        return {"stored": serialize_stored(DecisionOut.of, error.stored)}
    if isinstance(error, Conflict):
        return {"stored": serialize_stored(ReviewOut.of, error.stored)}
    return {}


def serialize_stored(shown: Callable[[Any], Schema], row: object | None) -> dict[str, Any] | None:
    return None if row is None else shown(row).model_dump(mode="json")


def http_problem(request: HttpRequest, error: HttpError | type[HttpError]) -> HttpResponse:
    """What the framework refuses: no or a wrong login, a body that is no JSON."""
    assert isinstance(error, HttpError), "the framework hands over the raised error"
    status = HTTPStatus(error.status_code)
    detail = "Log in, or send a bearer token." if error.message == status.phrase else error.message
    return make_problem_response(status, error_slug(status), detail)


def validation_problem(request: HttpRequest, error: ValidationError | type[ValidationError]) -> HttpResponse:
    """Each wrong or missing value with its place and what was expected."""
    assert isinstance(error, ValidationError), "the framework hands over the raised error"
    wrong = [
        {"where": name_of_value(one["loc"]), "what": plain_reason(one["msg"]), "kind": one["type"]}
        for one in error.errors
    ]
    detail = "; ".join(f"{one['where']}: {one['what']}".removeprefix(": ") for one in wrong[:3])
    return make_problem_response(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid-request", detail, errors=wrong)


def name_of_value(place: Sequence[object]) -> str:
    """A value as the caller wrote it: without our names for the body and its parts."""
    ours = 2 if place[:1] == ("body",) else 1
    return ".".join(map(str, place[ours:]))


def plain_reason(message: str) -> str:
    return message.removeprefix("Value error, ")


def invalid_values(request: HttpRequest, error: InvalidValues | type[InvalidValues]) -> HttpResponse:
    """What a form refuses, in the same shape."""
    assert isinstance(error, InvalidValues), "the framework hands over the raised error"
    wrong = [{"where": name, "what": what, "kind": "refused"} for name, what in error.errors]
    return make_problem_response(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid-request", str(error), errors=wrong)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What Django refuses before a view sees it, such as a body that is too large."""
    if not is_for_api(request):
        return defaults.bad_request(request, exception)
    if isinstance(exception, RequestDataTooBig):
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE // 2**20
        return make_problem_response(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-large", f"Send at most {most} MB in one request."
        )
    return make_problem_response(HTTPStatus.BAD_REQUEST, "bad-request", "The request can't be understood.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """An address that nothing stands at, as a problem where programs look for it."""
    if not is_for_api(request):
        return defaults.page_not_found(request, exception)
    detail = "There is no such address; /api/docs lists those that there are."
    return make_problem_response(HTTPStatus.NOT_FOUND, "not-found", detail)


def server_error(request: HttpRequest) -> HttpResponse:
    """A fault, told in a sentence; a full disk is none of the page's, and says what to do."""
    fault = sys.exception()
    if fault is None or not full_disk.note_full_disk(fault):
        return defaults.server_error(request)
    if is_for_api(request):
        response = make_problem_response(HTTPStatus.INSUFFICIENT_STORAGE, "full-disk", NO_ROOM)
    else:
        page = render_to_string("507.html", {"sentence": NO_ROOM})
        response = HttpResponse(page, status=HTTPStatus.INSUFFICIENT_STORAGE)
    response["Retry-After"] = str(RETRY_SECONDS)
    return response


def is_for_api(request: HttpRequest) -> bool:
    return request.path_info.startswith("/api/")


def error_slug(error: type[Exception] | HTTPStatus) -> str:
    """`LaunchRefused` as `launch-refused`, `HTTPStatus.NOT_FOUND` as `not-found`."""
    if isinstance(error, HTTPStatus):
        return error.name.lower().replace("_", "-")
    if error is Http404:
        return "not-found"
    return re.sub("(?<=[a-z])(?=[A-Z])", "-", error.__name__).lower()
