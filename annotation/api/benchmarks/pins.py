"""Pinned figures: take a pin, list them, read one, have one computed again."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router, Status

from annotation.accounts.roles import Role, builds_visible_to, has_role
from annotation.api.project.jobs import job_out
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.api.shared.names import NoSuchName, find_benchmark, find_build
from annotation.builds.control.pause_resume import ControlRefused
from annotation.models import Build, Study
from annotation.pins import (
    Errors,
    pin_build,
    pin_comparison,
    pin_leaderboard,
    pin_mining,
    pin_study,
    pin_two_builds,
)
from annotation.pins.reproduce_order import ReproduceOrder, Start
from annotation.schemas.benchmarks.pins import PinDetail, PinIn, PinOut, PinPage, ReproduceIn
from annotation.schemas.project.jobs import JobOut
from annotation.studies.report.figures import refuse_to_raters
from annotation.web.benchmarks.leaderboard_notes import chosen_errors, error_choices
from annotation.web.benchmarks.page import matches_of
from annotation.web.corpus.pins import pin_corpus
from annotation.web.pins.page import filter_visible_pins
from annotation.web.pins.reproduction import list_reproduction_starts, order_reproduction
from annotation.web.pins.views import note_pin_seen
from retrieval.jobs import find_open_job
from retrieval.models import Benchmark, Collection, Job, Pin
from retrieval.schemas import LARGEST_ID, Id, Page

router = Router(tags=["pins"])
PINS_A_READ = 200
FOR_ADMINS = ("build", "mining")


@router.get("", response=Page[PinOut])
def list_pins(request: HttpRequest, wanted: Query[PinPage]) -> Page[Pin]:
    """Pins that the caller may see, the newest first."""
    found, before = list[Pin](), wanted.after or LARGEST_ID
    rows = Pin.objects.defer("value").order_by("-pk")
    while len(found) <= wanted.limit and (read := list(rows.filter(pk__lt=before)[:PINS_A_READ])):
        found += filter_visible_pins(request.user, read)
        before = read[-1].pk
    return wanted.page(found)


@router.post("", response={201: PinDetail}, auth=signed_in(Role.EXPERT))
def take_pin(request: HttpRequest, wanted: PinIn) -> Status[PinDetail]:
    """Pin figures as they are now; the same figures have one pin. For experts, some for admins."""
    if wanted.kind in FOR_ADMINS or (wanted.kind, wanted.of) == ("corpus", "collection"):
        refuse_without_admin(request)
    pin = TAKE[wanted.kind](request, wanted, visible.caller(request))
    note_pin_seen(request, pin)
    return Status(201, pin_detail(pin))


@router.get("/{int:pk}", response=PinDetail)
def get_pin(request: HttpRequest, pk: Path[Id]) -> PinDetail:
    """One pin whole: what was computed of what, what came out, and what it rests on."""
    pin = visible_pin(request, pk)
    note_pin_seen(request, pin)
    return pin_detail(pin)


@router.post("/{int:pk}/reproductions", response={201: JobOut}, auth=signed_in(Role.EXPERT))
def reproduce_figures(request: HttpRequest, pk: Path[Id], wanted: ReproduceIn) -> Status[JobOut]:
    """Have a worker compute the pin again; the job's `result` says what differs. For experts."""
    pin, order = visible_pin(request, pk), ReproduceOrder(start=Start(wanted.start))
    same = find_open_job(order, pin.pk)
    if same is None and (why := order_reproduction(pin, wanted.start, visible.caller(request))):
        raise ControlRefused(why)
    job = same or Job.objects.about(Job.Kind.REPRODUCE, pin.pk).select_related("created_by")[0]
    return Status(201, job_out(job))


def visible_pin(request: HttpRequest, pk: int) -> Pin:
    """Raises Http404, also where what is pinned is closed to the caller."""
    found = filter_visible_pins(request.user, Pin.objects.filter(pk=pk))
    if not found:
        raise Http404
    return found[0]


def pin_detail(pin: Pin) -> PinDetail:
    return PinDetail.of(pin, starts=[start for start, _ in list_reproduction_starts(pin)])


def refuse_without_admin(request: HttpRequest) -> None:
    if not has_role(request.user, Role.ADMIN):
        raise PermissionDenied(f"This is for the role {Role.ADMIN}; ask an admin for it.")


def take_leaderboard(request: HttpRequest, wanted: PinIn, by: User) -> Pin:
    benchmark = find_benchmark(request.user, wanted.subject)
    _, _, fewest, most = matches_of(wanted.matches)
    chosen = chosen_errors(error_choices(benchmark, request.user, wanted.errors), wanted.errors)
    errors = Errors(chosen.rates, chosen.study)
    return pin_leaderboard(benchmark, wanted.pool or "", wanted.metric, fewest, most, by, errors)


def take_comparison(request: HttpRequest, wanted: PinIn, by: User) -> Pin:
    second, first = (find_benchmark(request.user, name) for name in (wanted.subject, wanted.against or ""))
    return pin_comparison(first, second, wanted.metric, by, wait=False)


def take_study(request: HttpRequest, wanted: PinIn, by: User) -> Pin:
    rows = Study.objects.all()
    by_id = isinstance(wanted.subject, int)
    found = rows.filter(pk=wanted.subject) if by_id else rows.filter(name=wanted.subject)
    study = found.first()
    if study is None:
        raise NoSuchName(f"There is no study called {wanted.subject!r}; GET /api/studies lists them.")
    refuse_to_raters(request.user, study)
    return pin_study(study, by)


def build_of(request: HttpRequest, name: int | str) -> Build:
    """With all that a pin reads. Raises NoSuchName."""
    related = "tally", "annotator", "mining__queries", "mining__snippets"
    found = find_build(request.user, name)
    return builds_visible_to(request.user).select_related(*related).get(pk=found.pk)


def take_build(request: HttpRequest, wanted: PinIn, by: User) -> Pin:
    return pin_build(build_of(request, wanted.subject), by)


def take_mining(request: HttpRequest, wanted: PinIn, by: User) -> Pin:
    build = build_of(request, wanted.subject)
    if build.mining is None:
        raise NoSuchName(f"The build {build.name!r} judges given pairs: it has no mining.")
    return pin_mining(build.own_mining, by)


def take_two_builds(request: HttpRequest, wanted: PinIn, by: User) -> Pin:
    return pin_two_builds(build_of(request, wanted.subject), build_of(request, wanted.against or ""), by)


def take_corpus(request: HttpRequest, wanted: PinIn, by: User) -> Pin:
    what: Build | Benchmark | Collection
    if wanted.of == "build":
        what = build_of(request, wanted.subject)
    elif wanted.of == "benchmark":
        what = find_benchmark(request.user, wanted.subject)
    elif isinstance(wanted.subject, int):
        what = get_object_or_404(Collection, pk=wanted.subject)
    else:
        raise NoSuchName("Two collections may share a name: name this one by its id.")
    return pin_corpus(wanted.of, what, by)


TAKE: dict[str, Callable[[HttpRequest, PinIn, User], Pin]] = {
    "leaderboard": take_leaderboard,
    "comparison": take_comparison,
    "study": take_study,
    "build": take_build,
    "mining": take_mining,
    "builds": take_two_builds,
    "corpus": take_corpus,
}
