"""What the drive asks of the database under test, and tells it, while that may be down."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def patiently(ask: Callable[[], T]) -> T:
    """What `ask` gives, as soon as the database answers."""
    from django.db import InterfaceError, OperationalError, connection

    for _ in range(200):
        try:
            return ask()
        except (OperationalError, InterfaceError):
            connection.close()
            time.sleep(0.2)
    raise TimeoutError("the database does not answer")


def flying_now() -> set[int]:
    """The calls that have no reply yet, and those of the dead."""
    from annotation.models import LLMCall

    reserved = LLMCall.objects.filter(status=LLMCall.Status.RESERVED)
    return patiently(lambda: set(reserved.values_list("pk", flat=True)))


def resume() -> int:
    """Resume the builds that wait for a person: a wrong model, an answer that was none."""
    from annotation.builds.control import pause_resume
    from annotation.models import Build

    waiting = list(Build.objects.filter(state=Build.State.WAITING, next_probe_at__isnull=True))
    for build in waiting:
        pause_resume.control_build(build, pause_resume.Action.RESUME)
    return len(waiting)


def allow_more(cases: int) -> int:
    """Raise the cap that all builds share, where some have stopped at it; says whether it was."""
    from decimal import Decimal

    from annotation.builds.control import spending_caps
    from annotation.models import ProjectTally
    from annotation.models.builds.build import NANO
    from tests.faults import builds

    if not spending_caps.stopped_at_project_cap().exists():
        return 0
    cap = (ProjectTally.objects.now().cap or 0) + builds.allowance(cases)
    spending_caps.change_project_cap(Decimal(cap) / NANO, None, "there is work left")
    spending_caps.resume_stopped(None)
    return 1


def is_over() -> bool:
    from annotation.builds.control import spending_caps
    from annotation.models import Batch, Build, Case, LLMCall

    return not (
        spending_caps.stopped_at_project_cap().exists()
        or Batch.objects.filter(next_poll_at__isnull=False).exists()
        or Build.objects.filter(state__in=[Build.State.RUNNING, Build.State.WAITING]).exists()
        or Case.objects.filter(lease__isnull=False).exists()
        or LLMCall.objects.filter(status=LLMCall.Status.RESERVED).exists()
    )
