"""Is everything there? A word for load balancers, and `manage.py check --tag health` for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core import checks
from django.core.checks.registry import registry
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.builds.launch.launcher import lacks_key
from annotation.builds.launch.provider_key import name_key_variables
from annotation.builds.limits import full_disk
from annotation.jobs import clock_skew
from annotation.jobs.providers import open_configured
from annotation.models import Build
from cosqa_site.service.startup import WrongRelease, describe_fault, refuse_other_release
from retrieval.mining import known_encoders
from retrieval.models import Mining
from sandbox.runner import Check, SandboxUnavailable

TAG: Final = "health"
FULL_DISK: Final = "not ok: the disk is full"
UNFINISHED = (Build.State.RUNNING, Build.State.PAUSED, Build.State.WAITING, Build.State.CANARY)
Found = Iterator[checks.CheckMessage]


@login_not_required
@never_cache
@require_safe
def report_health(request: HttpRequest) -> JsonResponse:
    """For load balancers: 200 where the database answers and the disk has room, else 503.

    It tells nothing but that and the version.
    """
    wrong = find_fault()
    told = {"status": wrong or "ok", "version": installed_version()}
    return JsonResponse(told, status=503 if wrong else 200)


def find_fault() -> str:
    """Why the server is not well; empty where it is."""
    try:
        ping_database()
        no_room = not full_disk.has_room() or full_disk.is_any_build_waiting()
    except DatabaseError as error:
        no_room = full_disk.note_full_disk(error)
        return FULL_DISK if no_room else "the database does not answer"
    return FULL_DISK if no_room else ""


def ping_database() -> None:
    """Raises DatabaseError."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def installed_version() -> str:
    """The version installed; a source tree that was never installed has none."""
    try:
        return version("cosqa-workbench")
    except PackageNotFoundError:
        return "unknown"


@contextmanager
def register_health_checks() -> Iterator[None]:
    """The health checks among Django's, for a while: they start a sandbox, so nobody runs them unasked."""
    checks.register(installation_is_healthy, TAG)
    try:
        yield
    finally:
        registry.registered_checks.discard(installation_is_healthy)


def installation_is_healthy(**kwargs: Any) -> list[checks.CheckMessage]:
    """What is missing of what builds need; without the database nothing else can be asked."""
    found = list(check_database())
    if not found:
        found = [message for look in CHECKS for message in look()]
    return found


def check_database() -> Found:
    try:
        ping_database()
    except DatabaseError as error:
        yield checks.Error(
            f"The database does not answer: {error}",
            hint=describe_fault(error) or "Start it, or correct DATABASE_URL.",
            id="cosqa.E101",
        )
        return
    try:
        refuse_other_release()
    except WrongRelease as why:
        yield checks.Error(str(why), id="cosqa.E102")
        return
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        yield checks.Error(
            "The database lacks migrations.", hint="Run 'cosqa admin migrate'.", id="cosqa.E102"
        )


def check_disk() -> Found:
    """Whether there is room where the data folder lies."""
    if why := full_disk.find_low_space():
        yield checks.Error(why, id="cosqa.E109")


def check_sandbox() -> Found:
    """Whether a sandbox opens here, and which of its protections hold."""
    if settings.SANDBOX_BACKEND == "none":
        return
    try:
        opened = open_configured()
    except SandboxUnavailable as why:
        yield checks.Error(f"Nothing can be executed: {why}", id="cosqa.E103")
        return
    try:
        yield from (describe_protection(check) for check in opened.check() if not check.ok)
    finally:
        opened.close()


def describe_protection(check: Check) -> checks.CheckMessage:
    kind = checks.Error if check.required else checks.Warning
    return kind(f"Sandbox, {check.name}: {check.found}", id="cosqa.E104" if check.required else "cosqa.W104")


def check_clock() -> Found:
    """Whether this machine's clock agrees with the database server's."""
    found = clock_skew.measure_clock_skew()
    if abs(found) > clock_skew.MOST:
        yield checks.Error(
            clock_skew.describe_clock_skew(found),
            hint="Set it, best by NTP: its workers take no work until then.",
            id="cosqa.E108",
        )


def check_live_key() -> Found:
    """Whether live builds have a key to ask with."""
    live = Build.objects.filter(provider=Build.Provider.LIVE, state__in=UNFINISHED)
    names = ", ".join(live.values_list("name", flat=True)[:5])
    if names and lacks_key():
        yield checks.Error(
            f"There is no key for the language model that these builds ask: {names}.",
            hint=f"Set {name_key_variables()}, or cancel them and use the file exchange.",
            id="cosqa.E105",
        )


def check_encoder_weights() -> Found:
    """Whether the encoders of minings that are not done yet can be loaded."""
    waiting = Mining.objects.filter(state__in=[Mining.State.WAITING, Mining.State.RUNNING])
    wanted = {name for names in waiting.values_list("encoders", flat=True) for name in names}
    for name in sorted(wanted):
        missing = known_encoders.why_missing(name)
        if missing:
            yield checks.Error(f"A mining waits for the encoder {name}: {missing}", id="cosqa.E106")


def check_broker() -> Found:
    """Whether the broker of the workers answers."""
    if not settings.CELERY_BROKER_URL:
        return
    from kombu.exceptions import OperationalError  # a server without a broker needs none of these

    from cosqa_site.celery import app

    try:
        with app.connection_for_write() as link:
            link.ensure_connection(max_retries=1, timeout=3)
    except OperationalError as error:
        yield checks.Error(
            f"The broker does not answer: {error}",
            hint="Start it, or correct CELERY_BROKER_URL.",
            id="cosqa.E107",
        )


CHECKS: tuple[Callable[[], Found], ...] = (
    check_broker,
    check_clock,
    check_disk,
    check_live_key,
    check_encoder_weights,
    check_sandbox,
)
